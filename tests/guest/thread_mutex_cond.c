/* 32 threads on one mutex and condition: counts add up, turns come in order. */
#include "guest.h"
#include <pthread.h>

enum { N = 32 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn_changed = PTHREAD_COND_INITIALIZER;
static long count, turn;
static int log_[N * 4];

static void *adder(void *arg)
{
	for (int i = 0; i < 2000; i++) {
		pthread_mutex_lock(&lock);
		count++;
		pthread_mutex_unlock(&lock);
	}
	return arg;
}

static void *in_turn(void *arg)
{
	long id = (long)arg;

	for (int i = 0; i < 4; i++) {
		pthread_mutex_lock(&lock);
		while (turn % N != id)
			pthread_cond_wait(&turn_changed, &lock);
		log_[turn++] = (int)id;
		pthread_cond_broadcast(&turn_changed);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

int main(void)
{
	pthread_t t[N];
	int wrong = 0;

	for (long i = 0; i < N; i++)
		pthread_create(&t[i], NULL, adder, (void *)i);
	for (long i = 0; i < N; i++) {
		void *ret;
		pthread_join(t[i], &ret);
		wrong += (long)ret != i;
	}
	printf("count %ld, wrong results %d\n", count, wrong);
	for (long i = 0; i < N; i++)
		pthread_create(&t[i], NULL, in_turn, (void *)i);
	for (int i = 0; i < N; i++)
		pthread_join(t[i], NULL);
	for (int i = 0; i < N * 4; i++)
		wrong += log_[i] != i % N;
	printf("turns %ld, out of order %d\n", turn, wrong);
	return 0;
}
