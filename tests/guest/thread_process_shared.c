/*
 * A mutex, condition, barrier and semaphore in MAP_SHARED memory work between processes after fork.
 */
#include "guest.h"
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>

struct shared {
	pthread_mutex_t lock;
	pthread_cond_t cond;
	pthread_barrier_t bar;
	sem_t sem;
	long count;
	int turn;
};

int main(void)
{
	enum { N = 6 };
	struct shared *s =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_t ma;
	pthread_condattr_t ca;
	pthread_barrierattr_t ba;
	pid_t pids[N];

	signal(SIGCHLD, SIG_DFL);
	pthread_mutexattr_init(&ma);
	pthread_mutexattr_setpshared(&ma, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&s->lock, &ma);
	pthread_condattr_init(&ca);
	pthread_condattr_setpshared(&ca, PTHREAD_PROCESS_SHARED);
	pthread_cond_init(&s->cond, &ca);
	pthread_barrierattr_init(&ba);
	pthread_barrierattr_setpshared(&ba, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&s->bar, &ba, N);
	sem_init(&s->sem, 1, 0);
	for (int id = 0; id < N; id++) {
		pids[id] = xfork();
		if (pids[id])
			continue;
		pthread_barrier_wait(&s->bar);
		for (int i = 0; i < 2000; i++) {
			pthread_mutex_lock(&s->lock);
			s->count++;
			pthread_mutex_unlock(&s->lock);
		}
		for (int i = 0; i < 10; i++) {
			pthread_mutex_lock(&s->lock);
			while (s->turn % N != id)
				pthread_cond_wait(&s->cond, &s->lock);
			s->turn++;
			pthread_cond_broadcast(&s->cond);
			pthread_mutex_unlock(&s->lock);
		}
		sem_post(&s->sem);
		_exit(id);
	}
	for (int i = 0; i < N; i++)
		while (sem_wait(&s->sem))
			;
	for (int i = 0; i < N; i++)
		show_status("child", xwait(pids[i]));
	printf("count %ld, turns %d\n", s->count, s->turn);
	return 0;
}
