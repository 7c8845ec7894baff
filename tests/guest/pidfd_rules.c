/* pidfds: O_NONBLOCK waiting, epoll, fdinfo, siginfo of the sender, a number that is gone,
 * errors. */
#include "guest.h"
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/syscall.h>

#ifndef PIDFD_NONBLOCK
#define PIDFD_NONBLOCK O_NONBLOCK
#endif

static int pidfd_open_(pid_t pid, unsigned flags)
{
	return syscall(SYS_pidfd_open, pid, flags);
}

static int pidfd_kill(int fd, int sig, siginfo_t *si, unsigned flags)
{
	return syscall(SYS_pidfd_send_signal, fd, sig, si, flags);
}

static void fdinfo(int fd, pid_t pid)
{
	char path[64], line[128];
	int n;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	FILE *f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Pid: %d", &n) == 1)
			printf("Pid: %s\n", n == pid ? "its own" : n == -1 ? "-1" : "?");
	if (f)
		fclose(f);
}

static volatile sig_atomic_t code, value;

static void on_signal(int sig, siginfo_t *si, void *uc)
{
	(void)sig, (void)uc;
	code = si->si_code;
	value = si->si_value.sival_int;
}

static void *closer(void *arg)
{
	usleep(20000);
	close(*(int *)arg);
	return NULL;
}

int main(void)
{
	struct epoll_event ev = { .events = EPOLLIN };
	siginfo_t si;
	char link[64] = "";
	int gate[2];

	pipe(gate);
	pid_t pid = xfork();
	if (pid == 0) {
		char c;
		close(gate[1]);
		read(gate[0], &c, 1);
		_exit(7);
	}
	int fd = pidfd_open_(pid, PIDFD_NONBLOCK), ep = epoll_create1(0);
	CHECK(fd >= 0);
	SHOW(fcntl(fd, F_GETFL) & O_NONBLOCK);
	char path[64];
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	readlink(path, link, sizeof(link) - 1);
	printf("%s\n", link);
	fdinfo(fd, pid);
	SHOW(epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev));
	SHOW(epoll_wait(ep, &ev, 1, 0));
	SHOW(waitid(P_PIDFD, fd, &si, WEXITED));
	SHOW(waitid(P_PIDFD, fd, &si, WEXITED | WNOHANG));
	SHOW(read(fd, &si, 1));
	SHOW(write(fd, &si, 1));
	close(gate[1]);
	SHOW(epoll_wait(ep, &ev, 1, 10000));
	fdinfo(fd, pid);
	SHOW(waitid(P_PIDFD, fd, &si, WEXITED));
	printf("status %d\n", si.si_status);
	fdinfo(fd, pid);
	SHOW(waitid(P_PIDFD, fd, &si, WEXITED));
	SHOW(pidfd_kill(fd, SIGTERM, NULL, 0));
	close(fd);

	/* To oneself, with a siginfo. */
	struct sigaction sa = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };
	sigaction(SIGUSR1, &sa, NULL);
	int self = pidfd_open_(getpid(), 0);
	SHOW(pidfd_kill(self, SIGUSR1, NULL, 0));
	printf("code %d\n", code);
	memset(&si, 0, sizeof(si));
	si.si_signo = SIGUSR1;
	si.si_code = SI_QUEUE;
	si.si_value.sival_int = 42;
	SHOW(pidfd_kill(self, SIGUSR1, &si, 0));
	printf("code %d value %d\n", code, value);
	SHOW(pidfd_kill(self, SIGUSR2, &si, 0));
	SHOW(pidfd_kill(self, SIGUSR1, (void *)8, 0));
	SHOW(pidfd_kill(self, 65, NULL, 0));
	SHOW(pidfd_kill(self, SIGUSR1, NULL, 0x100));
	SHOW(pidfd_kill(0, SIGUSR1, NULL, 0));
	SHOW(pidfd_kill(99, SIGUSR1, NULL, 0));
	SHOW(waitid(P_PIDFD, self, &si, WEXITED | WNOHANG));
	SHOW(waitid(P_PIDFD, 0, &si, WEXITED | WNOHANG));
	SHOW(waitid(P_PIDFD, -1, &si, WEXITED | WNOHANG));

	/* Closed by a thread while another waits. */
	pipe(gate);
	pid = xfork();
	if (pid == 0) {
		usleep(60000);
		_exit(3);
	}
	fd = pidfd_open_(pid, 0);
	pthread_t th;
	pthread_create(&th, NULL, closer, &fd);
	SHOW(waitid(P_PIDFD, fd, &si, WEXITED));
	printf("status %d\n", si.si_status);
	pthread_join(th, NULL);
	return 0;
}
