/*
 * libc's setuid family applies to all threads (by an internal signal), without ending a blocking
 * call in any.
 */
#include "guest.h"
#include <pthread.h>

static int gate[2];
static pthread_barrier_t bar;

static void *work(void *arg)
{
	char c;

	pthread_barrier_wait(&bar);
	ssize_t n = read(gate[0], &c, 1);
	return n < 0 ? arg : NULL;
}

int main(void)
{
	pthread_t t[6];
	int interrupted = 0;

	(void)!pipe(gate);
	pthread_barrier_init(&bar, NULL, 7);
	for (int i = 0; i < 6; i++)
		pthread_create(&t[i], NULL, work, (void *)1);
	pthread_barrier_wait(&bar);
	for (int i = 0; i < 10; i++) {
		usleep(1000);
		if (setresuid(-1, getuid(), -1) || setresgid(-1, getgid(), -1) || setuid(getuid()))
			printf("failed: %s\n", ename(errno));
	}
	close(gate[1]);
	for (int i = 0; i < 6; i++) {
		void *ret;
		pthread_join(t[i], &ret);
		interrupted += ret != NULL;
	}
	printf("interrupted %d\n", interrupted);
	return 0;
}
