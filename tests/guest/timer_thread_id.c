/*
 * SIGEV_THREAD_ID sends to that thread; SIGEV_THREAD (libc) calls a function; SIGEV_NONE only
 * counts down.
 */
#include "guest.h"
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

static volatile pid_t by, worker;
static volatile int stop;
static sem_t called;
static int value;

static void handler(int sig)
{
	(void)sig;
	by = gettid();
}

static void *work(void *arg)
{
	worker = gettid();
	while (!stop)
		usleep(1000);
	return arg;
}

static void notify(union sigval v)
{
	value = v.sival_int;
	sem_post(&called);
}

int main(void)
{
	struct itimerspec its = { .it_value.tv_nsec = 20000000 },
			  long_ = { .it_value.tv_sec = 100 };
	struct sigevent ev = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1 };
	timer_t id;
	pthread_t t;

	sigprocmask(SIG_SETMASK, &(sigset_t){ 0 }, NULL);
	signal(SIGUSR1, handler);
	pthread_create(&t, NULL, work, NULL);
	while (!worker)
		usleep(1000);
	ev._sigev_un._tid = worker;
	SHOW(timer_create(CLOCK_MONOTONIC, &ev, &id));
	timer_settime(id, 0, &its, NULL);
	while (!by)
		usleep(1000);
	printf("handled by the thread %d\n", by == worker);
	timer_delete(id);
	stop = 1;
	pthread_join(t, NULL);
	ev._sigev_un._tid = 0x3fffffff;
	SHOW(timer_create(CLOCK_MONOTONIC, &ev, &id));
	sem_init(&called, 0, 0);
	ev = (struct sigevent){ .sigev_notify = SIGEV_THREAD,
				.sigev_notify_function = notify,
				.sigev_value.sival_int = 55 };
	SHOW(timer_create(CLOCK_MONOTONIC, &ev, &id));
	timer_settime(id, 0, &its, NULL);
	while (sem_wait(&called))
		;
	printf("function called with %d\n", value);
	timer_delete(id);
	ev = (struct sigevent){ .sigev_notify = SIGEV_NONE };
	SHOW(timer_create(CLOCK_MONOTONIC, &ev, &id));
	timer_settime(id, 0, &long_, NULL);
	timer_gettime(id, &its);
	printf("counting down %d\n", its.it_value.tv_sec >= 50 && its.it_value.tv_sec <= 100);
	timer_delete(id);
	return 0;
}
