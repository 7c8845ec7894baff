/* A signal that was not read from a signalfd reaches its handler when it is unblocked, or ends the
 * process. */
#include "guest.h"
#include <pthread.h>
#include <sys/signalfd.h>

static volatile sig_atomic_t got;
static sigset_t m;
static int fd;

static void on_signal(int sig)
{
	got = sig;
}

static void *reader(void *arg)
{
	struct signalfd_siginfo si;

	(void)arg;
	ssize_t n = read(fd, &si, sizeof(si));
	printf("thread read %zd signal %u\n", n, si.ssi_signo);
	return NULL;
}

static void dies(void)
{
	kill(getpid(), SIGUSR2);
	sigprocmask(SIG_UNBLOCK, &m, NULL);
	getppid();
	usleep(1000);
	getppid();
	printf("still here\n");
}

static void dies_after_close(void)
{
	kill(getpid(), SIGUSR2);
	close(fd);
	sigprocmask(SIG_UNBLOCK, &m, NULL);
	printf("still here\n");
}

int main(void)
{
	struct signalfd_siginfo si;
	pthread_t th;

	signal(SIGUSR1, on_signal);
	signal(SIGUSR2, SIG_DFL);
	sigemptyset(&m);
	sigaddset(&m, SIGUSR1);
	sigaddset(&m, SIGUSR2);
	sigprocmask(SIG_BLOCK, &m, NULL);
	fd = signalfd(-1, &m, SFD_CLOEXEC);
	kill(getpid(), SIGUSR1);
	printf("handler ran: %d\n", got != 0);
	SHOW(read(fd, &si, sizeof(si)));
	printf("handler ran: %d\n", got != 0);
	kill(getpid(), SIGUSR1);
	sigprocmask(SIG_UNBLOCK, &m, NULL);
	getppid();
	printf("handler ran: %d\n", got == SIGUSR1);
	sigprocmask(SIG_BLOCK, &m, NULL);
	show_status("unblocks", in_child(dies));
	show_status("closes", in_child(dies_after_close));

	pthread_create(&th, NULL, reader, NULL);
	usleep(20000);
	kill(getpid(), SIGUSR2);
	pthread_join(th, NULL);

	/* An unblocked signal is not for the descriptor. */
	got = 0;
	sigprocmask(SIG_UNBLOCK, &m, NULL);
	kill(getpid(), SIGUSR1);
	printf("handler ran: %d\n", got == SIGUSR1);
	fcntl(fd, F_SETFL, O_NONBLOCK);
	SHOW(read(fd, &si, sizeof(si)));
	return 0;
}
