/* The two descriptors that the kernel sleeps on. */
#include <poll.h>

#include "host/epoll.h"
#include "host/host.h"
#include "host/notify.h"
#include "kernel/platform/loop.h"

#define BATCH 16

static int epoll_fd = -1;
/* What fired and was not yet told: a watch that is told may end another one, and free what holds
 * it. */
static void *batch[BATCH];
static int batch_len;
/* No thread is left under the filter: what remains is to reap them. The listener would say so in
 * every poll. */
static bool notify_hung;

int loop_init(void)
{
	epoll_fd = host_epoll_new();
	return epoll_fd < 0 ? epoll_fd : 0;
}

void hostwatch_init_with(struct hostwatch *w, int fd,
			 void (*const *fn)(struct hostwatch *, uint32_t))
{
	*w = (struct hostwatch){ .fd = fd, .fn = fn };
}

int hostwatch_arm(struct hostwatch *w, uint32_t events)
{
	int ret;

	if (w->armed && (w->events & events) == events)
		return 0;
	if (w->armed)
		events |= w->events;
	ret = host_epoll_arm(epoll_fd, w->fd, events, w, w->added);
	if (ret < 0)
		return ret;
	w->added = true;
	w->armed = true;
	w->events = events;
	return 0;
}

int hostwatch_last(struct hostwatch *w, uint32_t events)
{
	int ret = host_epoll_edge(epoll_fd, w->fd, events, w);

	if (ret == 0)
		w->added = w->armed = w->lasting = true;
	return ret;
}

void hostwatch_fini(struct hostwatch *w)
{
	if (w->added)
		host_epoll_del(epoll_fd, w->fd);
	w->added = w->armed = false;
	for (int i = 0; i < batch_len; i++)
		if (batch[i] == w)
			batch[i] = NULL;
}

static struct {
	bool on;
	int64_t start, longest;
} turns;

void loop_measure(bool on)
{
	turns.on = on;
	turns.start = on ? host_clock(CLOCK_THREAD_CPUTIME_ID) : 0;
	turns.longest = 0;
}

bool loop_is_measured(void)
{
	return turns.on;
}

int64_t loop_longest_turn(void)
{
	return turns.longest;
}

bool loop_wait(int64_t now, int64_t deadline)
{
	struct pollfd p[2] = { { .fd = notify_hung ? -1 : notify_fd(), .events = POLLIN },
			       { .fd = epoll_fd, .events = POLLIN } };
	int64_t timeout = deadline == INT64_MAX ? -1 : MAX(deadline - now, 0);

	if (turns.on)
		turns.longest =
			MAX(turns.longest, host_clock(CLOCK_THREAD_CPUTIME_ID) - turns.start);
	int ready = host_poll(p, 2, timeout);
	if (turns.on)
		turns.start = host_clock(CLOCK_THREAD_CPUTIME_ID);
	if (ready <= 0)
		return false;
	notify_hung |= (p[0].revents & (POLLHUP | POLLIN)) == POLLHUP;
	if (p[1].revents) {
		uint32_t events[BATCH];

		batch_len = host_epoll_take(epoll_fd, batch, events, BATCH);
		for (int i = 0; i < batch_len; i++) {
			struct hostwatch *w = batch[i];

			if (!w || !w->armed)
				continue;
			w->armed = w->lasting;
			(*CHECKED(w->fn))(w, events[i]);
		}
		batch_len = 0;
	}
	return (p[0].revents & POLLIN) != 0;
}
