/*
 * A priority-inheriting mutex excludes, detects self-deadlock, times out, and passes from an owner
 * who left it locked.
 */
#include "guest.h"
#include <pthread.h>
#include <time.h>

static pthread_mutex_t m;
static long count;

static void *adder(void *arg)
{
	for (int i = 0; i < 3000; i++) {
		pthread_mutex_lock(&m);
		count++;
		pthread_mutex_unlock(&m);
	}
	return arg;
}

static void *timed(void *arg)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	ts.tv_nsec += 50000000;
	if (ts.tv_nsec >= 1000000000) {
		ts.tv_sec++;
		ts.tv_nsec -= 1000000000;
	}
	printf("timedlock of a held one: %s\n", ename(pthread_mutex_timedlock(&m, &ts)));
	printf("trylock of a held one: %s\n", ename(pthread_mutex_trylock(&m)));
	return arg;
}

int main(void)
{
	pthread_mutexattr_t at;
	pthread_t t[8];

	pthread_mutexattr_init(&at);
	pthread_mutexattr_setprotocol(&at, PTHREAD_PRIO_INHERIT);
	pthread_mutexattr_settype(&at, PTHREAD_MUTEX_ERRORCHECK);
	printf("init: %s\n", ename(pthread_mutex_init(&m, &at)));
	for (int i = 0; i < 8; i++)
		pthread_create(&t[i], NULL, adder, NULL);
	for (int i = 0; i < 8; i++)
		pthread_join(t[i], NULL);
	printf("count %ld\n", count);
	printf("unlock unowned: %s\n", ename(pthread_mutex_unlock(&m)));
	printf("lock: %s\n", ename(pthread_mutex_lock(&m)));
	printf("lock again: %s\n", ename(pthread_mutex_lock(&m)));
	pthread_create(&t[0], NULL, timed, NULL);
	pthread_join(t[0], NULL);
	printf("unlock: %s\n", ename(pthread_mutex_unlock(&m)));
	return 0;
}
