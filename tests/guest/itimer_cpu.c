/* ITIMER_VIRTUAL sends SIGVTALRM and ITIMER_PROF SIGPROF after CPU time, not while sleeping. */
#include "guest.h"
#include <sys/time.h>

static volatile int vt, prof;

static void handler(int sig)
{
	if (sig == SIGVTALRM)
		vt++;
	else
		prof++;
}

int main(void)
{
	struct itimerval it = { .it_value.tv_usec = 50000, .it_interval.tv_usec = 50000 },
			 off = { 0 };

	sigprocmask(SIG_SETMASK, &(sigset_t){ 0 }, NULL);
	signal(SIGVTALRM, handler);
	signal(SIGPROF, handler);
	SHOW(setitimer(ITIMER_VIRTUAL, &it, NULL));
	usleep(200000);
	printf("asleep: %d\n", vt);
	while (vt < 3)
		;
	SHOW(setitimer(ITIMER_VIRTUAL, &off, NULL));
	SHOW(setitimer(ITIMER_PROF, &it, NULL));
	while (prof < 3)
		getppid();
	SHOW(setitimer(ITIMER_PROF, &off, NULL));
	printf("both came\n");
	return 0;
}
