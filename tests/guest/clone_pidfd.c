/*
 * CLONE_PIDFD stores a close-on-exec descriptor for the new process, which becomes readable when it
 * ends.
 */
#include "guest.h"
#include <poll.h>
#include <sched.h>
#include <sys/syscall.h>

int main(void)
{
	int fd = -1, status;
	siginfo_t si;

	signal(SIGUSR2, SIG_DFL);
	sigprocmask(SIG_SETMASK, &(sigset_t){ 0 }, NULL);
	signal(SIGCHLD, SIG_DFL);
	fflush(stdout);
	pid_t pid = syscall(SYS_clone, CLONE_PIDFD | SIGCHLD, NULL, &fd, NULL, NULL);
	if (pid == 0)
		for (;;)
			pause();
	struct pollfd p = { .fd = fd, .events = POLLIN };
	CHECK(pid > 0 && fd >= 0);
	SHOW(fcntl(fd, F_GETFD));
	SHOW(poll(&p, 1, 0));
	SHOW(syscall(SYS_pidfd_send_signal, fd, SIGUSR2, NULL, 0));
	SHOW(poll(&p, 1, -1));
	SHOW(waitid(P_PIDFD, fd, &si, WEXITED | WNOWAIT));
	CHECK(si.si_pid == pid && si.si_status == SIGUSR2);
	CHECK(waitpid(pid, &status, 0) == pid);
	show_status("child", status);
	SHOW(syscall(SYS_clone, CLONE_PIDFD | CLONE_PARENT_SETTID | SIGCHLD, NULL, &fd, NULL,
		     NULL));
	return 0;
}
