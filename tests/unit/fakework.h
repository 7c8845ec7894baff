/* The other thread (kernel/platform/hostwork.h) for tests: what it is given is done when the test
 * says so, a step at a time, so that anything can come between two steps, always in the same order.
 * While it is off it has no room, and everything is done at once. */
#ifndef VIV_TESTS_UNIT_FAKEWORK_H
#define VIV_TESTS_UNIT_FAKEWORK_H

#include <errno.h>
#include <stdlib.h>

#include "host/host.h"
#include "kernel/platform/hostwork.h"
#include "kernel/task/call.h"
#include "kernel/task/task.h"

static bool fakework_on;
static struct {
	struct hostwork *h;
	uint32_t tag;
	struct work w;
} fakeworks[WORK_RING];
static uint32_t fakework_put, fakework_done;
static bool fakework_failed; /* the chain */

struct task *task_current;

bool hostwork_has_room(uint32_t n)
{
	return fakework_on && n <= WORK_RING - (fakework_put - fakework_done);
}

void hostwork_put(struct hostwork *h, uint32_t tag, const struct work *w)
{
	if (fakework_put - fakework_done == WORK_RING)
		abort();
	fakeworks[fakework_put % WORK_RING].h = h;
	fakeworks[fakework_put % WORK_RING].tag = tag;
	fakeworks[fakework_put++ % WORK_RING].w = *w;
}

void hostwork_start(void)
{
}

static int fakework_copy(const struct work *w)
{
	static char buf[1000];
	int64_t at = w->off, end = w->off + w->len;

	while (at < end) {
		int64_t n = host_pread(w->fd, buf, MIN(sizeof(buf), (size_t)(end - at)), at);

		if (n > 0)
			n = host_pwrite(w->to, buf, (size_t)n, at);
		if (n <= 0)
			return n < 0 ? (int)n : -EIO;
		at += n;
	}
	return 0;
}

/* The oldest. */
bool hostwork_wait(void)
{
	uint32_t at = fakework_done % WORK_RING;
	struct work w = fakeworks[at].w;
	int r = 0;

	if (fakework_put == fakework_done)
		return false;
	fakework_done++;
	if (w.flags & WORK_FIRST)
		fakework_failed = false;
	if (fakework_failed)
		r = -ECANCELED;
	else if (w.op == WORK_SYNCFS)
		r = host_syncfs(w.fd);
	else if (w.op == WORK_FSYNC || w.op == WORK_FDATASYNC)
		r = host_fsync(w.fd, w.op == WORK_FDATASYNC);
	else if (w.op == WORK_CUT)
		r = host_ftruncate(w.fd, w.len);
	else if (w.op == WORK_COPY)
		r = fakework_copy(&w);
	fakework_failed |= r < 0 && w.flags & WORK_MUST;
	if (w.flags & WORK_CLOSE)
		host_close(w.fd);
	if (w.op == WORK_COPY)
		host_close(w.to);
	w.result = r;
	(*fakeworks[at].h->done)(fakeworks[at].h, fakeworks[at].tag, &w);
	return true;
}

void hostwork_close(int fd, bool forget)
{
	(void)forget;
	host_close(fd);
}

bool hostwork_is_closing(void)
{
	return false;
}

int call_wait_outside(struct task *t, struct waitq *q)
{
	(void)q;
	t->call.parked = true;
	return WAITING;
}

int call_wait_turn(struct task *t)
{
	return call_wait_outside(t, NULL);
}

void waitq_init(struct waitq *q)
{
	(void)q;
}

void waitq_wake(struct waitq *q, uint32_t events)
{
	(void)q, (void)events;
}

#endif
