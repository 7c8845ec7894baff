/* A signalfd reads what was pending before it was made, or before its mask was widened; for the
 * process and for the thread. */
#include "guest.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static void show(int fd)
{
	struct signalfd_siginfo si;
	struct pollfd f = { .fd = fd, .events = POLLIN };

	printf("poll %d\n", poll(&f, 1, 0));
	while (read(fd, &si, sizeof(si)) == (ssize_t)sizeof(si))
		printf("signal %u code %d from me %d value %d\n", si.ssi_signo, si.ssi_code, si.ssi_pid == (uint32_t)getpid(),
		       si.ssi_code == SI_QUEUE ? si.ssi_int : 0);
}

int main(void)
{
	sigset_t set, pend, usr;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGUSR2);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGRTMIN + 2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	kill(getpid(), SIGUSR1);
	for (int i = 0; i < 3; i++)
		sigqueue(getpid(), SIGRTMIN + 2, (union sigval){ .sival_int = 10 + i });
	syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGUSR2);
	if (fork() == 0)
		_exit(3);
	usleep(50000);
	fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	CHECK(fd >= 0);
	show(fd);
	sigpending(&pend);
	SHOW(sigismember(&pend, SIGUSR1));
	SHOW(wait(NULL) > 0);

	/* Widening. */
	sigemptyset(&usr);
	sigaddset(&usr, SIGUSR1);
	CHECK(signalfd(fd, &usr, 0) == fd);
	kill(getpid(), SIGUSR2);
	show(fd);
	CHECK(signalfd(fd, &set, 0) == fd);
	show(fd);
	/* After it, as ever. */
	kill(getpid(), SIGUSR1);
	show(fd);
	return 0;
}
