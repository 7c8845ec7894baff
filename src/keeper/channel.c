/* See channel.h. A source that is closed while others of the same round are still to be called is
 * forgotten by them too. */
#include "keeper/channel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define ROUND 32
#define READS 16 /* messages of one channel before others have their turn */

static int epoll = -1;
static struct epoll_event ready[ROUND];
static int nready;

struct message {
	struct list link;
	char bytes[CHANNEL_BYTES];
	int fds[CHANNEL_FDS];
	unsigned nfds;
};

static int64_t clock_read(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

int64_t clock_mono(void)
{
	return clock_read(CLOCK_MONOTONIC);
}

int64_t clock_real(void)
{
	return clock_read(CLOCK_REALTIME);
}

/* ---- sources ---- */

int sources_init(void)
{
	epoll = epoll_create1(EPOLL_CLOEXEC);
	return epoll < 0 ? -errno : 0;
}

int source_add(struct source *s, int fd, uint32_t events, void (*fn)(struct source *, uint32_t))
{
	struct epoll_event e = { .events = events, .data.ptr = s };

	*s = (struct source){ .fd = fd, .events = events, .fn = fn };
	return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e) < 0 ? -errno : 0;
}

void source_change(struct source *s, uint32_t events)
{
	struct epoll_event e = { .events = events, .data.ptr = s };

	if (s->fd < 0 || s->events == events)
		return;
	s->events = events;
	epoll_ctl(epoll, EPOLL_CTL_MOD, s->fd, &e);
}

void source_hold(struct source *s, bool held)
{
	struct epoll_event e = { .events = s->events, .data.ptr = s };

	if (s->fd < 0 || s->held == held)
		return;
	s->held = held;
	epoll_ctl(epoll, held ? EPOLL_CTL_DEL : EPOLL_CTL_ADD, s->fd, &e);
}

void source_close(struct source *s)
{
	if (s->fd < 0)
		return;
	epoll_ctl(epoll, EPOLL_CTL_DEL, s->fd, NULL);
	close(s->fd);
	s->fd = -1;
	for (int i = 0; i < nready; i++)
		if (ready[i].data.ptr == s)
			ready[i].data.ptr = NULL;
}

void sources_wait(int64_t deadline)
{
	int timeout = -1;

	if (deadline) {
		int64_t left = MAX(deadline - clock_mono(), 0);

		/* Up, not down: a deadline is over when it has passed. */
		timeout = (int)MIN((left + 999999) / 1000000, 3600000);
	}
	nready = epoll_wait(epoll, ready, ROUND, timeout);
	for (int i = 0; i < nready; i++) {
		struct source *s = ready[i].data.ptr;

		if (s)
			s->fn(s, ready[i].events);
	}
	nready = 0;
}

/* ---- channels ---- */

static void fds_close(const int *fds, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		close(fds[i]);
}

static void message_free(struct channel *c, struct message *m)
{
	fds_close(m->fds, m->nfds);
	list_remove(&m->link);
	c->nout--;
	free(m);
}

static int message_put(int fd, const void *bytes, const int *fds, unsigned nfds)
{
	return fdmsg_send(fd, bytes, CHANNEL_BYTES, fds, nfds, MSG_DONTWAIT);
}

/* Sends what waits. False: the other side is gone. */
static bool channel_flush(struct channel *c)
{
	while (!list_is_empty(&c->out)) {
		struct message *m = list_first(&c->out, struct message, link);
		int err = message_put(c->src.fd, m->bytes, m->fds, m->nfds);

		if (err == -EAGAIN)
			return true;
		if (err)
			return false;
		message_free(c, m);
	}
	source_change(&c->src, EPOLLIN);
	return true;
}

bool channel_send(struct channel *c, const void *msg, const int *fds, unsigned nfds)
{
	struct message *m;

	if (c->src.fd >= 0 && list_is_empty(&c->out) &&
	    message_put(c->src.fd, msg, fds, nfds) == 0) {
		fds_close(fds, nfds);
		return true;
	}
	m = c->src.fd >= 0 && c->nout < c->max && nfds <= CHANNEL_FDS ? malloc(sizeof(*m)) : NULL;
	if (!m) {
		fds_close(fds, nfds);
		return false;
	}
	list_init(&m->link);
	memcpy(m->bytes, msg, CHANNEL_BYTES);
	if (nfds)
		memcpy(m->fds, fds, nfds * sizeof(int));
	m->nfds = nfds;
	list_append(&c->out, &m->link);
	c->nout++;
	source_change(&c->src, EPOLLIN | EPOLLOUT);
	return true;
}

void channel_close(struct channel *c)
{
	while (!list_is_empty(&c->out))
		message_free(c, list_first(&c->out, struct message, link));
	source_close(&c->src);
}

/* One message. 1, 0: there is none, -1: the other side is gone or talks nonsense. */
static int message_get(struct channel *c)
{
	uint64_t bytes[CHANNEL_BYTES / 8];
	int fds[CHANNEL_FDS];
	unsigned nfds;
	int64_t n =
		fdmsg_recv(c->src.fd, bytes, sizeof(bytes), fds, CHANNEL_FDS, &nfds, MSG_DONTWAIT);

	if (n == -EAGAIN)
		return 0;
	if (n != sizeof(bytes)) {
		fds_close(fds, nfds);
		return -1;
	}
	c->in(c, bytes, fds, nfds);
	return 1;
}

static void channel_ready(struct source *s, uint32_t events)
{
	struct channel *c = (struct channel *)s;
	bool deaf = (events & EPOLLOUT) && !channel_flush(c);
	int got = 1;

	if (!deaf && list_is_empty(&c->out) && c->idle)
		c->idle(c);
	for (int i = 0; got > 0 && i < READS && c->src.fd >= 0; i++)
		got = message_get(c);
	/* What it said before it went still counts. */
	if ((got < 0 || (got == 0 && deaf)) && c->src.fd >= 0)
		c->gone(c);
}

int channel_init(struct channel *c, int fd, unsigned max)
{
	list_init(&c->out);
	c->nout = 0;
	c->max = max;
	return source_add(&c->src, fd, EPOLLIN, channel_ready);
}
