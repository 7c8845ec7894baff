/*
 * 16 threads in vfork at once, each child holding on for a while: only the calling thread waits,
 * stacks stay right.
 */
#include "guest.h"
#include <pthread.h>

static void *work(void *arg)
{
	volatile long id = (long)arg, mark = id * 3, good = 0;

	for (volatile int i = 0; i < 3; i++) {
		volatile int told = -1;
		pid_t pid = vfork();
		if (pid == 0) {
			usleep(60000);
			told = (int)id;
			if (i == 2)
				execl("/bin/true", "true", (char *)NULL);
			_exit((int)id);
		}
		int status = xwait(pid);
		int want = i == 2 ? 0 : (int)id;
		good += WIFEXITED(status) && WEXITSTATUS(status) == want && told == id &&
			mark == id * 3;
	}
	return (void *)good;
}

int main(void)
{
	pthread_t t[16];
	long total = 0;

	signal(SIGCHLD, SIG_DFL);
	for (long i = 0; i < 16; i++)
		pthread_create(&t[i], NULL, work, (void *)(i + 1));
	for (int i = 0; i < 16; i++) {
		void *good;
		pthread_join(t[i], &good);
		total += (long)good;
	}
	printf("good rounds %ld of 48\n", total);
	return 0;
}
