/*
 * Several real-time signals made deliverable at once: handlers run lowest number first, first sent
 * first.
 */
#include "guest.h"

static char log_[256];

static void handler(int sig, siginfo_t *si, void *uc)
{
	char item[32];

	(void)uc;
	snprintf(item, sizeof(item), " %d:%d", sig - SIGRTMIN, si->si_value.sival_int);
	strcat(log_, item);
}

int main(void)
{
	struct sigaction sa = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };
	sigset_t set;

	sigemptyset(&set);
	/*
	 * With all of them in each mask the handlers cannot nest: delivery order is seen plainly.
	 */
	for (int i = 0; i < 6; i++) {
		sigaddset(&set, SIGRTMIN + i);
		sigaddset(&sa.sa_mask, SIGRTMIN + i);
	}
	for (int i = 0; i < 6; i++)
		sigaction(SIGRTMIN + i, &sa, NULL);
	sigprocmask(SIG_BLOCK, &set, NULL);
	for (int i = 0; i < 12; i++)
		sigqueue(getpid(), SIGRTMIN + (i * 5) % 6, (union sigval){ .sival_int = i });
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	printf("order:%s\n", log_);
	return 0;
}
