/*
 * For programs about calls that wait for long while others are made: in a cell such calls leave
 * their usual place once there are many of them (src/kernel/task/detach.c), and nothing of that is
 * to be seen. With viv run --fast detach every call does so at once; these programs are run both
 * ways.
 */
#ifndef DETACH_H
#define DETACH_H

#include "guest.h"
#include <poll.h>
#include <pthread.h>
#include <sys/syscall.h>

#define CROWD 100

/* Always a system call of its own, wherever the program runs. */
static inline long raw(volatile long nr, long a, long b, long c)
{
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(nr), "D"(a), "S"(b), "d"(c)
			 : "rcx", "r11", "memory");
	return ret;
}

/* So many that whatever waits for longer than this has waited for long. */
static inline void make_calls(void)
{
	for (int i = 0; i < 5000; i++)
		raw(SYS_getppid, 0, 0, 0);
}

struct blocked {
	pthread_t thread;
	volatile pid_t tid; /* set just before the call */
	int i;
	long ret; /* or -errno */
	void (*fn)(struct blocked *b);
	volatile int done;
};

static inline void *blocked_main(void *arg)
{
	struct blocked *b = arg;

	b->fn(b);
	b->done = 1;
	return NULL;
}

static inline void blocked_await(const struct blocked *b)
{
	while (!b->tid)
		usleep(500);
	task_await(getpid(), b->tid);
}

static inline void blocked_start(struct blocked *b, int i, size_t stack,
				 void (*fn)(struct blocked *b))
{
	pthread_attr_t attr;

	memset(b, 0, sizeof(*b));
	b->i = i;
	b->fn = fn;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, stack);
	if (pthread_create(&b->thread, &attr, blocked_main, b) != 0) {
		printf("no thread\n");
		exit(99);
	}
	pthread_attr_destroy(&attr);
}

static int crowd_pipe[2];
static struct blocked crowd[CROWD];

static inline void crowd_wait(struct blocked *b)
{
	char c;

	b->tid = gettid();
	b->ret = read(crowd_pipe[0], &c, 1);
}

/* Threads that wait for ever: enough of them for there to be many. */
static inline void crowd_start(void)
{
	if (pipe(crowd_pipe) < 0)
		exit(99);
	for (int i = 0; i < CROWD; i++)
		blocked_start(&crowd[i], i, 64 << 10, crowd_wait);
	for (int i = 0; i < CROWD; i++)
		blocked_await(&crowd[i]);
}

static inline void crowd_end(void)
{
	int ends = 0;

	close(crowd_pipe[1]);
	for (int i = 0; i < CROWD; i++) {
		pthread_join(crowd[i].thread, NULL);
		ends += crowd[i].ret == 0;
	}
	close(crowd_pipe[0]);
	printf("of the crowd, %d ended with an end of file\n", ends);
}

#endif
