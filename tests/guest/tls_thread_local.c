/*
 * Thread-local variables start from their initial value in each thread, keys run destructors, fork
 * keeps the caller's.
 */
#include "guest.h"
#include <pthread.h>

static __thread int initialised = 5;
static __thread char block[5000];
static pthread_key_t key;
static int destroyed;

static void destructor(void *p)
{
	(void)p;
	__atomic_add_fetch(&destroyed, 1, __ATOMIC_SEQ_CST);
}

static void *work(void *arg)
{
	long clean = initialised == 5;

	for (unsigned i = 0; i < sizeof(block); i++)
		clean &= block[i] == 0;
	pthread_setspecific(key, arg);
	initialised = (int)(long)arg;
	memset(block, 1, sizeof(block));
	sched_yield();
	clean &= initialised == (long)arg && pthread_getspecific(key) == arg;
	return (void *)clean;
}

int main(void)
{
	pthread_t t[10];
	long clean = 0;

	signal(SIGCHLD, SIG_DFL);
	pthread_key_create(&key, destructor);
	for (long i = 0; i < 10; i++)
		pthread_create(&t[i], NULL, work, (void *)(i + 100));
	for (int i = 0; i < 10; i++) {
		void *ret;
		pthread_join(t[i], &ret);
		clean += (long)ret;
	}
	printf("clean %ld, destroyed %d, here %d\n", clean, destroyed, initialised);
	initialised = 9;
	pid_t pid = xfork();
	if (pid == 0) {
		errno = ENOTTY;
		_exit(initialised + (errno == ENOTTY));
	}
	show_status("fork", xwait(pid));
	return 0;
}
