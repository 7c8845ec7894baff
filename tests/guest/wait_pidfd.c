/*
 * A pidfd becomes readable when the process ends; waitid(P_PIDFD) reaps by it, pidfd_send_signal
 * signals by it.
 */
#include "guest.h"
#include <poll.h>
#include <sys/syscall.h>

int main(void)
{
	siginfo_t si;

	signal(SIGTERM, SIG_DFL);
	sigprocmask(SIG_SETMASK, &(sigset_t){ 0 }, NULL);
	signal(SIGCHLD, SIG_DFL);
	pid_t pid = xfork();
	if (pid == 0)
		for (;;)
			pause();
	int fd = syscall(SYS_pidfd_open, pid, 0);
	struct pollfd p = { .fd = fd, .events = POLLIN };
	CHECK(fd >= 0);
	SHOW(fcntl(fd, F_GETFD));
	SHOW(poll(&p, 1, 0));
	SHOW(syscall(SYS_pidfd_send_signal, fd, 0, NULL, 0));
	SHOW(syscall(SYS_pidfd_send_signal, fd, SIGTERM, NULL, 0));
	SHOW(poll(&p, 1, -1));
	CHECK(p.revents & POLLIN);
	SHOW(waitid(P_PIDFD, fd, &si, WEXITED | WNOWAIT));
	SHOW(waitid(P_PIDFD, fd, &si, WEXITED));
	printf("pid %d, killed by TERM %d\n", si.si_pid == pid,
	       si.si_code == CLD_KILLED && si.si_status == SIGTERM);
	SHOW(waitid(P_PIDFD, fd, &si, WEXITED));
	SHOW(syscall(SYS_pidfd_send_signal, fd, 0, NULL, 0));
	SHOW(waitid(P_PIDFD, 999, &si, WEXITED));
	SHOW(syscall(SYS_pidfd_open, pid, 0));
	SHOW(syscall(SYS_pidfd_open, -1, 0));
	SHOW(syscall(SYS_pidfd_open, getpid(), 0x40000000));
	close(fd);
	return 0;
}
