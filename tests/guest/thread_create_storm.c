/*
 * 1,000 threads made and joined, in batches of 20: each runs once, gives its value, and has a tid
 * of its own in the batch.
 */
#include "guest.h"
#include <pthread.h>

static void *work(void *arg)
{
	return (void *)((long)arg * 2 + (gettid() == getpid()));
}

int main(void)
{
	long wrong = 0, failed = 0;

	for (long batch = 0; batch < 50; batch++) {
		pthread_t t[20];
		for (long i = 0; i < 20; i++)
			failed += pthread_create(&t[i], NULL, work, (void *)(batch * 20 + i)) != 0;
		for (long i = 0; i < 20; i++) {
			void *ret;
			pthread_join(t[i], &ret);
			wrong += (long)ret != (batch * 20 + i) * 2;
		}
	}
	printf("failed %ld, wrong %ld\n", failed, wrong);
	return 0;
}
