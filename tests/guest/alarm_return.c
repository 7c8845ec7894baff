/*
 * alarm gives the seconds left of the one before, rounded up; 0 takes it back; it interrupts
 * waiting calls.
 */
#include "guest.h"

static volatile int hits;

static void handler(int sig)
{
	(void)sig;
	hits++;
}

int main(void)
{
	struct sigaction sa = { .sa_handler = handler };

	sigprocmask(SIG_SETMASK, &(sigset_t){ 0 }, NULL);
	signal(SIGCHLD, SIG_DFL);
	alarm(0);
	SHOW(alarm(0));
	SHOW(alarm(100));
	CHECK(alarm(50) > 90);
	CHECK(alarm(0) > 40);
	SHOW(alarm(0));
	sigaction(SIGALRM, &sa, NULL);
	pid_t pid = xfork();
	if (pid == 0)
		for (;;)
			pause();
	/* The child does not end, so only the alarm can. */
	alarm(1);
	SHOW(waitpid(pid, NULL, 0));
	printf("hits %d\n", hits);
	kill(pid, SIGKILL);
	show_status("child", xwait(pid));
	return 0;
}
