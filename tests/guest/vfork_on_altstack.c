/*
 * vfork and posix_spawn while a signal stack is set, and from a handler that runs on it: no frame
 * is overwritten.
 */
#include "guest.h"
#include <spawn.h>

static char stack[1 << 16] __attribute__((aligned(64)));
static volatile int in_handler, after;

static int spawn_false(void)
{
	char *argv[] = { "false", NULL }, *envp[] = { NULL };
	pid_t pid;

	if (posix_spawn(&pid, "/bin/false", NULL, NULL, argv, envp))
		return -1;
	int status = xwait(pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -2;
}

static void handler(int sig, siginfo_t *si, void *uc)
{
	volatile char pad[2048];

	(void)uc;
	memset((char *)pad, 0x5a, sizeof(pad));
	pid_t pid = vfork();
	if (pid == 0) {
		in_handler++;
		_exit(sig);
	}
	int status = xwait(pid);
	in_handler += 10 * (WIFEXITED(status) && WEXITSTATUS(status) == SIGUSR1);
	in_handler += 100 * spawn_false();
	in_handler += 1000 * (si->si_pid == getpid());
	for (size_t i = 0; i < sizeof(pad); i++)
		if (pad[i] != 0x5a)
			in_handler += 100000;
}

int main(void)
{
	stack_t ss = { .ss_sp = stack, .ss_size = sizeof(stack) }, old;
	struct sigaction sa = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_ONSTACK };

	sigprocmask(SIG_SETMASK, &(sigset_t){ 0 }, NULL);
	signal(SIGCHLD, SIG_DFL);
	SHOW(sigaltstack(&ss, NULL));
	sigaction(SIGUSR1, &sa, NULL);
	SHOW(spawn_false());
	for (int i = 0; i < 20; i++) {
		in_handler = 0;
		kill(getpid(), SIGUSR1);
		after += in_handler == 1111;
	}
	printf("right rounds %d of 20, last %d\n", after, in_handler);
	sigaltstack(NULL, &old);
	CHECK(old.ss_sp == stack && old.ss_flags == 0);
	return 0;
}
