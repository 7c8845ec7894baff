/* setpriority with the number of a thread changes that thread only; getpriority of the process
 * shows the best of its threads for PRIO_PROCESS 0 the caller's own. */
#include "guest.h"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>

static pthread_barrier_t b;
static pid_t tid;
static int base; /* what is printed is relative to what it was at the start */

static int of(pid_t who)
{
	errno = 0;
	return getpriority(PRIO_PROCESS, (id_t)who) - base;
}

/* The nice value in /proc/PID/task/TID/stat. */
static int shown(pid_t t)
{
	char path[64], *p;
	int nice = 99;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", t);
	p = strrchr(get_file(path), ')');
	for (int i = 0; p && i < 17; i++)
		p = strchr(p + 1, ' ');
	if (p)
		nice = atoi(p + 1);
	return nice - base;
}

static void *thread(void *p)
{
	(void)p;
	tid = (pid_t)syscall(SYS_gettid);
	pthread_barrier_wait(&b);
	pthread_barrier_wait(&b);
	printf("in the thread: own %d, main %d\n", of(0), of(getpid()));
	SHOW(setpriority(PRIO_PROCESS, 0, base + 5));
	printf("in the thread: own %d, main %d\n", of(0), of(getpid()));
	pthread_barrier_wait(&b);
	pthread_barrier_wait(&b);
	return NULL;
}

static void child(void)
{
	printf("child of the main thread: %d\n", of(0));
}

int main(void)
{
	pthread_t t;

	base = of(0);
	SHOW(setpriority(PRIO_PROCESS, 0, base + 1));
	pthread_barrier_init(&b, NULL, 2);
	pthread_create(&t, NULL, thread, NULL);
	pthread_barrier_wait(&b);
	printf("new thread %d, shown %d\n", of(tid), shown(tid));
	SHOW(setpriority(PRIO_PROCESS, (id_t)tid, base + 3));
	printf("thread %d %d, main %d %d\n", of(tid), shown(tid), of(getpid()), shown(getpid()));
	pthread_barrier_wait(&b);
	pthread_barrier_wait(&b);
	printf("thread %d %d, main %d %d\n", of(tid), shown(tid), of(getpid()), shown(getpid()));
	SHOW(setpriority(PRIO_PROCESS, (id_t)getpid(), base + 2));
	printf("thread %d, main %d\n", of(tid), of(getpid()));
	in_child(child);
	errno = 0;
	printf("group: %d\n", getpriority(PRIO_PGRP, 0) - base);
	SHOW(setpriority(PRIO_PGRP, 0, base + 7));
	printf("thread %d, main %d\n", of(tid), of(getpid()));
	pthread_barrier_wait(&b);
	pthread_join(t, NULL);
	return 0;
}
