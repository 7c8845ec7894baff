/*
 * Threads that share one alternate stack, as varnish has them: only one of them will ever crash.
 * Nothing runs on it as long as none does.
 */
/* differs: the stub's handler runs on the alternate stack: threads that share one clash there */
#include "guest.h"
#include <pthread.h>
#include <sys/mman.h>

#define THREADS 8

static stack_t shared;
static pthread_barrier_t all;

static void *thread(void *arg)
{
	sigset_t set;

	sigaltstack(&shared, NULL);
	pthread_barrier_wait(&all);
	for (int i = 0; i < 2000; i++) {
		sigfillset(&set);
		pthread_sigmask(SIG_BLOCK, &set, NULL);
		sigemptyset(&set);
		pthread_sigmask(SIG_SETMASK, &set, NULL);
	}
	return arg;
}

int main(void)
{
	pthread_t t[THREADS];
	int joined = 0;

	shared.ss_size = 1 << 17;
	shared.ss_sp = mmap(NULL, shared.ss_size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(shared.ss_sp != MAP_FAILED);
	pthread_barrier_init(&all, NULL, THREADS);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, thread, NULL);
	for (int i = 0; i < THREADS; i++)
		joined += pthread_join(t[i], NULL) == 0;
	SHOW(joined);
	return 0;
}
