/*
 * A signal that a single-threaded process sends to itself is handled before kill, raise, tgkill or
 * sigqueue return.
 */
#include "guest.h"
#include <sys/syscall.h>

static volatile int hits;

static void handler(int sig)
{
	(void)sig;
	hits++;
}

int main(void)
{
	int late = 0, want = 0;

	sigprocmask(SIG_SETMASK, &(sigset_t){ 0 }, NULL);
	signal(SIGUSR1, handler);
	for (int i = 0; i < 400; i++) {
		switch (i % 4) {
		case 0:
			kill(getpid(), SIGUSR1);
			break;
		case 1:
			raise(SIGUSR1);
			break;
		case 2:
			syscall(SYS_tgkill, getpid(), gettid(), SIGUSR1);
			break;
		case 3:
			sigqueue(getpid(), SIGUSR1, (union sigval){ 0 });
			break;
		}
		late += hits != ++want;
	}
	printf("late %d, hits %d\n", late, hits);
	return 0;
}
