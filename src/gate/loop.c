/* The loop: descriptors that are ready, and moments that have come. */
#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "gate/gate.h"

#define BATCH 64

static int epoll_fd;
static bool ended;
/* By the moment, the earliest first. A new one goes to its place from the end, which is near, as
 * they all last about as long. */
static struct list alarms = LIST_INIT(alarms);
/* Of a batch: those that were closed since, by another's ready(). */
static struct epoll_event batch[BATCH];
static int batch_n;

/* #syscalls: clock_gettime */
int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void loop_init(void)
{
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (epoll_fd < 0)
		log_die("epoll: %m");
}

void loop_end(void)
{
	ended = true;
}

/* #syscalls: epoll_ctl */
void watch_set(struct watch *w, uint32_t events)
{
	struct epoll_event e = { .events = events, .data.ptr = w };
	int op = !w->events ? EPOLL_CTL_ADD : events ? EPOLL_CTL_MOD : EPOLL_CTL_DEL;

	if (w->fd < 0 || events == w->events)
		return;
	if (epoll_ctl(epoll_fd, op, w->fd, &e) < 0)
		log_die("epoll: %m");
	w->events = events;
}

/* #syscalls: close */
void watch_close(struct watch *w)
{
	if (w->fd < 0)
		return;
	watch_set(w, 0);
	for (int i = 0; i < batch_n; i++)
		if (batch[i].data.ptr == w)
			batch[i].data.ptr = NULL;
	close(w->fd);
	w->fd = -1;
}

void alarm_clear(struct alarm *a)
{
	if (a->at)
		list_remove(&a->link);
	a->at = 0;
}

void alarm_set(struct alarm *a, int64_t ms)
{
	struct list *before;

	alarm_clear(a);
	before = alarms.prev;
	a->at = now_ms() + ms;
	before = alarms.prev;
	while (before != &alarms && container_of(before, struct alarm, link)->at > a->at)
		before = before->prev;
	list_push(before, &a->link);
}

static int wait_for(void)
{
	int64_t left;

	if (list_is_empty(&alarms))
		return -1;
	left = list_first(&alarms, struct alarm, link)->at - now_ms();
	return left < 0 ? 0 : left > 60000 ? 60000 : (int)left;
}

/* #syscalls: epoll_wait epoll_pwait */
void loop_run(void)
{
	while (!ended) {
		int n = epoll_wait(epoll_fd, batch, BATCH, wait_for());

		if (n < 0 && errno != EINTR)
			log_die("epoll: %m");
		batch_n = MAX(n, 0);
		for (int i = 0; i < batch_n; i++) {
			struct watch *w = batch[i].data.ptr;

			if (w && w->events)
				w->ready(w, batch[i].events);
		}
		batch_n = 0;
		while (!list_is_empty(&alarms)) {
			struct alarm *a = list_first(&alarms, struct alarm, link);

			if (a->at > now_ms())
				break;
			alarm_clear(a);
			a->run(a);
		}
	}
}
