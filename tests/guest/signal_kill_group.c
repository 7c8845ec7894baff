/* kill(0) and kill(-pgid) reach every member of the group and nobody else. */
#include "guest.h"

static volatile int hits;

static void handler(int sig)
{
	(void)sig;
	hits++;
}

static pid_t sleeper(pid_t pgid)
{
	pid_t pid = xfork();
	if (pid == 0) {
		setpgid(0, pgid);
		for (;;)
			pause();
	}
	setpgid(pid, pgid);
	return pid;
}

static void member(void)
{
	setpgid(0, 0);
	signal(SIGUSR1, SIG_DFL);
	pid_t a = sleeper(0), b = sleeper(a), c = sleeper(getpgrp()), d = sleeper(getpgrp());
	signal(SIGUSR1, handler);
	SHOW(kill(-a, SIGTERM));
	show_status("a", xwait(a));
	show_status("b", xwait(b));
	/* All its members are gone, so is the group. */
	SHOW(kill(-a, 0));
	SHOW(waitpid(c, NULL, WNOHANG));
	SHOW(kill(0, SIGUSR1));
	printf("own handler ran %d\n", hits);
	show_status("c", xwait(c));
	show_status("d", xwait(d));
}

int main(void)
{
	signal(SIGTERM, SIG_DFL);
	sigprocmask(SIG_SETMASK, &(sigset_t){ 0 }, NULL);
	signal(SIGCHLD, SIG_DFL);
	signal(SIGUSR1, handler);
	show_status("member", in_child(member));
	printf("outside the group: %d\n", hits);
	return 0;
}
