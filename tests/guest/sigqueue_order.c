/* Pending real-time signals come lowest number first, first sent first, each with its own value. */
#include "guest.h"

int main(void)
{
	static const int order[] = { 5, 2, 9, 2, 5, 2, 9 };
	sigset_t set;
	siginfo_t si;

	sigemptyset(&set);
	for (int i = 0; i < 10; i++)
		sigaddset(&set, SIGRTMIN + i);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	for (unsigned i = 0; i < sizeof(order) / sizeof(*order); i++)
		sigqueue(getpid(), SIGRTMIN + order[i], (union sigval){ .sival_int = (int)i });
	kill(getpid(), SIGUSR1);
	sigqueue(getpid(), SIGUSR1, (union sigval){ .sival_int = 99 });
	for (;;) {
		int sig = sigtimedwait(&set, &si, &(struct timespec){ 0 });
		if (sig < 0) {
			printf("end: %s\n", ename(errno));
			return 0;
		}
		if (sig == SIGUSR1)
			printf("USR1 code user %d\n", si.si_code == SI_USER);
		else
			printf("RTMIN+%d value %d\n", sig - SIGRTMIN, si.si_value.sival_int);
	}
}
