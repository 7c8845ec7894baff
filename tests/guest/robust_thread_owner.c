/*
 * A robust mutex whose owner thread ended: EOWNERDEAD, made consistent again or unrecoverable for
 * ever.
 */
#include "guest.h"
#include <pthread.h>
#include <sys/syscall.h>

static pthread_mutex_t m;

static void *die_holding(void *arg)
{
	pthread_mutex_lock(&m);
	if (arg)
		syscall(SYS_exit, 0);
	return NULL;
}

static void *try(void *arg)
{
	(void)arg;
	return (void *)(long)pthread_mutex_lock(&m);
}

int main(void)
{
	pthread_mutexattr_t at;
	pthread_t t;
	void *ret;

	pthread_mutexattr_init(&at);
	pthread_mutexattr_setrobust(&at, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&m, &at);
	pthread_create(&t, NULL, die_holding, NULL);
	pthread_join(t, NULL);
	printf("lock: %s\n", ename(pthread_mutex_lock(&m)));
	printf("consistent: %s\n", ename(pthread_mutex_consistent(&m)));
	printf("unlock: %s\n", ename(pthread_mutex_unlock(&m)));
	printf("lock: %s\n", ename(pthread_mutex_lock(&m)));
	/* A thread that waits when the owner dies is woken. */
	pthread_mutex_unlock(&m);
	pthread_create(&t, NULL, die_holding, NULL);
	pthread_join(t, NULL);
	pthread_create(&t, NULL, try, NULL);
	pthread_join(t, &ret);
	printf("other thread: %s\n", ename((int)(long)ret));
	printf("lock: %s\n", ename(pthread_mutex_lock(&m)));
	printf("unlock without consistent: %s\n", ename(pthread_mutex_unlock(&m)));
	printf("lock: %s\n", ename(pthread_mutex_lock(&m)));
	return 0;
}
