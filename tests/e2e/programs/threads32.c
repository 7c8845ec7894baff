/* 32 threads that hand a token around by futexes, then fight for one mutex and one condition. */
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#define N 32
#define ROUNDS 50

static atomic_uint turn;
static unsigned long order, counter;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int arrived;

static void *body(void *arg)
{
	unsigned me = (unsigned)(unsigned long)arg;

	for (unsigned r = 0; r < ROUNDS; r++) {
		unsigned want = r * N + me, now;

		while ((now = atomic_load(&turn)) != want)
			syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, now, NULL, NULL, 0);
		order = order * 31 + me;
		atomic_store(&turn, want + 1);
		syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, N, NULL, NULL, 0);
	}
	pthread_mutex_lock(&mutex);
	if (++arrived == N)
		pthread_cond_broadcast(&cond);
	while (arrived < N)
		pthread_cond_wait(&cond, &mutex);
	pthread_mutex_unlock(&mutex);
	for (int i = 0; i < 2000; i++) {
		pthread_mutex_lock(&mutex);
		counter++;
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

int main(void)
{
	pthread_t t[N];

	for (unsigned long i = 0; i < N; i++)
		if (pthread_create(&t[i], NULL, body, (void *)i))
			return 1;
	for (int i = 0; i < N; i++)
		pthread_join(t[i], NULL);
	printf("%lx %lu %u\n", order, counter, atomic_load(&turn));
	return 0;
}
