/*
 * SIGKILL and SIGSTOP cannot be blocked or caught: asking for it in a mask is no error and has no
 * effect.
 */
/* differs: SIGSYS and signal 64 carry the stub and are never blocked */
#include "guest.h"
#include <sys/syscall.h>

int main(void)
{
	sigset_t set;
	struct sigaction sa = { .sa_handler = SIG_IGN };
	uint64_t mask = ~0ull, got = 0;

	signal(SIGCHLD, SIG_DFL);
	SHOW(syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, 8));
	SHOW(syscall(SYS_rt_sigprocmask, SIG_SETMASK, NULL, &got, 8));
	printf("mask read back %#lx\n", (long)got);
	/* All calls go on working with everything blocked, SIGSYS too. */
	CHECK(getppid() > 0);
	CHECK(access("/", F_OK) == 0);
	pid_t pid = xfork();
	if (pid == 0) {
		syscall(SYS_rt_sigprocmask, SIG_SETMASK, NULL, &got, 8);
		kill(getpid(), got == mask - (1ull << (SIGKILL - 1)) - (1ull << (SIGSTOP - 1))
				       ? SIGKILL
				       : SIGTERM);
		_exit(1);
	}
	show_status("child with the same mask", xwait(pid));
	SHOW(sigaction(SIGKILL, &sa, NULL));
	SHOW(sigaction(SIGSTOP, &sa, NULL));
	SHOW(sigaction(SIGKILL, NULL, &sa));
	SHOW(sigaction(0, NULL, &sa));
	SHOW(sigaction(65, NULL, &sa));
	SHOW(syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, 4));
	SHOW(syscall(SYS_rt_sigprocmask, 77, &mask, NULL, 8));
	SHOW(syscall(SYS_rt_sigprocmask, 77, NULL, &got, 8));
	sigemptyset(&set);
	SHOW(sigprocmask(SIG_SETMASK, &set, NULL));
	return 0;
}
