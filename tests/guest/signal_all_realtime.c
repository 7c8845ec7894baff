/*
 * Every real-time signal from SIGRTMIN to SIGRTMAX can be caught, queued with a value, blocked and
 * waited for.
 */
/* differs: signal 64 is reserved for the stub */
#include "guest.h"

static volatile int sum, hits;

static void handler(int sig, siginfo_t *si, void *uc)
{
	(void)uc;
	hits++;
	sum += sig * si->si_value.sival_int;
}

int main(void)
{
	struct sigaction sa = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };
	int want = 0, good = 0;
	sigset_t set;

	sigprocmask(SIG_SETMASK, &(sigset_t){ 0 }, NULL);
	printf("first %d, last %d\n", SIGRTMIN, SIGRTMAX);
	sigemptyset(&set);
	for (int sig = SIGRTMIN; sig <= SIGRTMAX; sig++) {
		sigaddset(&set, sig);
		good += sigaction(sig, &sa, NULL) == 0;
		good += sigqueue(getpid(), sig, (union sigval){ .sival_int = sig - 10 }) == 0;
		want += sig * (sig - 10);
	}
	printf("good %d, hits %d, sum right %d\n", good, hits, sum == want);
	sigprocmask(SIG_BLOCK, &set, NULL);
	good = 0;
	for (int sig = SIGRTMIN; sig <= SIGRTMAX; sig++) {
		siginfo_t si = { 0 };
		sigqueue(getpid(), sig, (union sigval){ .sival_int = sig });
		sigemptyset(&set);
		sigaddset(&set, sig);
		good += sigwaitinfo(&set, &si) == sig && si.si_value.sival_int == sig;
	}
	printf("waited for %d, hits %d\n", good, hits);
	return 0;
}
