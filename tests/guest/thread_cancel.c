/*
 * pthread_cancel: of a thread in read, in a condition, in sleep, computing (asynchronous), and held
 * off while disabled.
 */
#include "guest.h"
#include <pthread.h>

static int gate[2], ready[2];
static volatile int cleaned, survived;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;

static void cleanup(void *arg)
{
	(void)arg;
	cleaned++;
}

static void *work(void *arg)
{
	char c;
	int old;

	pthread_cleanup_push(cleanup, NULL);
	if ((long)arg == 3)
		pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
	if ((long)arg == 4)
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
	(void)!write(ready[1], "x", 1);
	switch ((long)arg) {
	case 0:
		(void)!read(gate[0], &c, 1);
		break;
	case 1:
		pthread_mutex_lock(&lock);
		pthread_cleanup_push((void (*)(void *))(void *)pthread_mutex_unlock, &lock);
		for (;;)
			pthread_cond_wait(&cond, &lock);
		pthread_cleanup_pop(1);
		break;
	case 2:
		sleep(100);
		break;
	case 3:
		for (;;)
			__asm__ volatile("" ::: "memory");
	case 4:
		usleep(50000);
		survived = 1;
		pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &old);
		pthread_testcancel();
		survived = 2;
	}
	pthread_cleanup_pop(0);
	return arg;
}

int main(void)
{
	static const char *const what[] = { "read", "condition", "sleep", "computing", "disabled" };
	char c;

	(void)!pipe(gate);
	(void)!pipe(ready);
	for (long i = 0; i < 5; i++) {
		pthread_t t;
		void *ret;
		cleaned = 0;
		pthread_create(&t, NULL, work, (void *)i);
		(void)!read(ready[0], &c, 1);
		usleep(i == 4 ? 1000 : 10000);
		int rc = pthread_cancel(t);
		pthread_join(t, &ret);
		printf("%s: cancel %s, result canceled %d, cleaned %d\n", what[i], ename(rc),
		       ret == PTHREAD_CANCELED, cleaned);
	}
	printf("survived to %d, mutex free %s\n", survived, ename(pthread_mutex_trylock(&lock)));
	return 0;
}
