/*
 * Barrier: one serial thread a round, nobody ahead of the others. rwlock: readers together, writers
 * alone.
 */
#include "guest.h"
#include <pthread.h>

enum { N = 12, ROUNDS = 30 };
static pthread_barrier_t bar;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static int serial, ahead, arrived[ROUNDS], readers, clash;
static long value;

static void *work(void *arg)
{
	for (int r = 0; r < ROUNDS; r++) {
		__atomic_add_fetch(&arrived[r], 1, __ATOMIC_SEQ_CST);
		if (pthread_barrier_wait(&bar) == PTHREAD_BARRIER_SERIAL_THREAD)
			__atomic_add_fetch(&serial, 1, __ATOMIC_SEQ_CST);
		if (__atomic_load_n(&arrived[r], __ATOMIC_SEQ_CST) != N)
			__atomic_add_fetch(&ahead, 1, __ATOMIC_SEQ_CST);
		if (((long)arg + r) % 3 == 0) {
			pthread_rwlock_wrlock(&rw);
			if (__atomic_load_n(&readers, __ATOMIC_SEQ_CST) != 0)
				clash++;
			value++;
			pthread_rwlock_unlock(&rw);
		} else {
			pthread_rwlock_rdlock(&rw);
			__atomic_add_fetch(&readers, 1, __ATOMIC_SEQ_CST);
			sched_yield();
			__atomic_sub_fetch(&readers, 1, __ATOMIC_SEQ_CST);
			pthread_rwlock_unlock(&rw);
		}
	}
	return NULL;
}

int main(void)
{
	pthread_t t[N];

	pthread_barrier_init(&bar, NULL, N);
	for (long i = 0; i < N; i++)
		pthread_create(&t[i], NULL, work, (void *)i);
	for (int i = 0; i < N; i++)
		pthread_join(t[i], NULL);
	printf("serial %d, ahead %d, writes %ld, clashes %d\n", serial, ahead, value, clash);
	return 0;
}
