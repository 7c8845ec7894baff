/*
 * posix_spawn attributes: process group, session, signal mask and default dispositions of the
 * child.
 */
#include "guest.h"
#include <spawn.h>

static int report(void)
{
	struct sigaction sa;
	sigset_t set;

	sigprocmask(SIG_BLOCK, NULL, &set);
	printf("blocked: USR1 %d USR2 %d\n", sigismember(&set, SIGUSR1),
	       sigismember(&set, SIGUSR2));
	sigaction(SIGINT, NULL, &sa);
	printf("INT default %d\n", sa.sa_handler == SIG_DFL);
	sigaction(SIGQUIT, NULL, &sa);
	printf("QUIT ignored %d\n", sa.sa_handler == SIG_IGN);
	printf("own group %d, own session %d\n", getpgrp() == getpid(), getsid(0) == getpid());
	return 0;
}

int main(int argc, char **argv)
{
	char *args[] = { "self", "report", NULL };
	posix_spawnattr_t at;
	sigset_t set;
	pid_t pid;

	(void)argv;
	if (argc > 1)
		return report();
	signal(SIGCHLD, SIG_DFL);
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	posix_spawnattr_init(&at);
	posix_spawnattr_setflags(&at, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
					      POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setpgroup(&at, 0);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	posix_spawnattr_setsigmask(&at, &set);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	posix_spawnattr_setsigdefault(&at, &set);
	if (posix_spawn(&pid, "/proc/self/exe", NULL, &at, args, environ))
		return 1;
	show_status("group", xwait(pid));
	posix_spawnattr_setflags(&at, POSIX_SPAWN_SETSID);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_SETMASK, &set, NULL);
	if (posix_spawn(&pid, "/proc/self/exe", NULL, &at, args, environ))
		return 1;
	show_status("session", xwait(pid));
	return 0;
}
