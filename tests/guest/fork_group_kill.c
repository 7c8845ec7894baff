/* A signal to a process group leaves nobody behind: a member that is in the middle of fork either
 * has its child already, which then gets the signal too, or ends before it makes one. */
#include "guest.h"
#include <time.h>

#define ROUNDS 100
#define CHILDREN 4 /* of the member at a time */

static void sleep_us(long us)
{
	nanosleep(&(struct timespec){ .tv_nsec = us * 1000 }, NULL);
}

/* Makes children that wait for ever; the oldest goes when there are too many. */
static void member(int ready)
{
	pid_t pids[CHILDREN] = { 0 };

	setpgid(0, 0);
	for (unsigned i = 0;; i++) {
		pid_t *p = &pids[i % CHILDREN];

		if (*p) {
			kill(*p, SIGKILL);
			xwait(*p);
		}
		*p = fork();
		if (*p == 0)
			for (;;)
				pause();
		if (i == 0)
			(void)!write(ready, "", 1);
	}
}

/* Waits for everybody who is left; true if that takes too long. */
static int survivors(void)
{
	pid_t pid;

	for (int i = 0; i < 2000; i++) {
		while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
			;
		if (pid < 0)
			return 0;
		sleep_us(1000);
	}
	return 1;
}

int main(void)
{
	static const int sigs[4] = { SIGTERM, SIGINT, SIGKILL, SIGUSR1 };
	int left = 0, i, pipes[2];
	unsigned seed = 1;
	char c;

	if (pipe(pipes) < 0)
		return 1;

	signal(SIGCHLD, SIG_DFL);
	for (i = 0; i < 4; i++)
		signal(sigs[i], SIG_DFL);
	sigprocmask(SIG_SETMASK, &(sigset_t){ 0 }, NULL);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	for (i = 0; i < ROUNDS && !left; i++) {
		pid_t pid = xfork();

		if (pid == 0)
			member(pipes[1]);
		(void)!read(pipes[0], &c, 1);
		seed = seed * 1103515245 + 12345;
		sleep_us(seed >> 16 & 1023);
		kill(-pid, sigs[i % 4]);
		if (survivors()) {
			left = 1;
			kill(-pid, SIGKILL);
			printf("round %d: somebody survived %s\n", i, signame(sigs[i % 4]));
		}
	}
	printf("%d rounds\n", i);
	return left;
}
