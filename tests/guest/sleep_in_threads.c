/*
 * 20 threads sleep at the same time: each at least its time, all together much less than the sum.
 */
#include "guest.h"
#include <pthread.h>
#include <time.h>

static void *work(void *arg)
{
	struct timespec a, b, t = { .tv_nsec = 200000000 };

	clock_gettime(CLOCK_MONOTONIC, &a);
	if ((long)arg % 2)
		nanosleep(&t, NULL);
	else
		usleep(200000);
	clock_gettime(CLOCK_MONOTONIC, &b);
	return (void *)(long)((b.tv_sec - a.tv_sec) * 1000000000L + b.tv_nsec - a.tv_nsec >=
			      200000000);
}

int main(void)
{
	struct timespec a, b;
	pthread_t t[20];
	long good = 0;

	clock_gettime(CLOCK_MONOTONIC, &a);
	for (long i = 0; i < 20; i++)
		pthread_create(&t[i], NULL, work, (void *)i);
	for (int i = 0; i < 20; i++) {
		void *ret;
		pthread_join(t[i], &ret);
		good += (long)ret;
	}
	clock_gettime(CLOCK_MONOTONIC, &b);
	printf("long enough %ld, together under 3 s %d\n", good, b.tv_sec - a.tv_sec < 3);
	return 0;
}
