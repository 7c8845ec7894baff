/*
 * Each thread has its own mask, taken from its creator; process-directed signals go to one that
 * does not block them.
 */
#include "guest.h"
#include <pthread.h>

static volatile pid_t by;
static int gate[2];
static pid_t other;

static void handler(int sig)
{
	(void)sig;
	by = gettid();
}

static void *taker(void *arg)
{
	sigset_t set;
	char c;

	pthread_sigmask(SIG_BLOCK, NULL, &set);
	printf("inherited: USR1 %d, USR2 %d\n", sigismember(&set, SIGUSR1),
	       sigismember(&set, SIGUSR2));
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	other = gettid();
	(void)!write(*(int *)arg, "r", 1);
	while (read(gate[0], &c, 1) < 0 && errno == EINTR)
		(void)!write(*(int *)arg, "i", 1);
	return NULL;
}

int main(void)
{
	int ready[2];
	sigset_t set;
	pthread_t t;
	char c;
	struct sigaction sa = { .sa_handler = handler };

	sigaction(SIGUSR1, &sa, NULL);
	(void)!pipe(gate);
	(void)!pipe(ready);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	pthread_create(&t, NULL, taker, &ready[1]);
	(void)!read(ready[0], &c, 1);
	/* Only the other thread lets it through, wherever it is. */
	int right = 0;
	for (int i = 0; i < 50; i++) {
		by = 0;
		kill(getpid(), SIGUSR1);
		while (!by)
			usleep(100);
		right += by == other;
	}
	printf("taken by the unblocked thread: %d of 50\n", right);
	sigpending(&set);
	printf("pending here %d\n", sigismember(&set, SIGUSR1));
	pthread_kill(pthread_self(), SIGUSR1);
	sigpending(&set);
	printf("sent to this thread: pending here %d\n", sigismember(&set, SIGUSR1));
	close(gate[1]);
	pthread_join(t, NULL);
	return 0;
}
