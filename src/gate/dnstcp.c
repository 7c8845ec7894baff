/* Connections of the cell to its resolver's port 53: the kernel gets one end of a pair, at the
 * other end are messages with their lengths in front (RFC 7766). Questions may follow each other
 * without waiting, and are answered in the order in which the answers come. A client that has said
 * all it wants to say still gets what it asked for.
 *
 * The streams are in the order of their last use. When there are too many, the one that was unused
 * longest makes room. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gate/record.h"
#include "gate/resolve.h"

#define STREAMS_MAX 128
#define ASKED_MAX 32 /* of one stream; no more is read meanwhile */
#define IDLE_MS 30000

struct stream {
	struct list link; /* in streams */
	struct watch w;
	struct alarm idle;
	struct list questions;
	unsigned asked;
	int32_t pid; /* of the process that made it */
	bool ended; /* nothing more will be said */
	bool taking; /* within stream_take(), whose caller looks whether it is to go */
	bool broken;
	struct buf out;
	size_t n;
	uint8_t in[2 + DNS_QUERY_MAX];
};

static struct list streams = LIST_INIT(streams);
static unsigned count;

static void stream_free(struct stream *s)
{
	questions_forget(&s->questions);
	list_remove(&s->link);
	count--;
	alarm_clear(&s->idle);
	watch_close(&s->w);
	buf_free(&s->out);
	free(s);
}

static void stream_late(struct alarm *a)
{
	stream_free(container_of(a, struct stream, idle));
}

static void stream_used(struct stream *s)
{
	list_remove(&s->link);
	list_append(&streams, &s->link);
	alarm_set(&s->idle, IDLE_MS);
}

static void stream_write(struct stream *s)
{
	size_t sent = 0;

	while (sent < s->out.len) {
		ssize_t n = send(s->w.fd, s->out.p + sent, s->out.len - sent,
				 MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno != EAGAIN && errno != EINTR)
			s->broken = true;
		if (n < 0)
			break;
		sent += (size_t)n;
	}
	s->out.len -= sent;
	if (sent)
		memmove(s->out.p, s->out.p + sent, s->out.len);
}

static void stream_take(struct stream *s);

/* What comes next for it; it may be freed. */
static void stream_go_on(struct stream *s)
{
	bool more;

	if (s->taking)
		return;
	stream_take(s);
	more = !s->ended && s->asked < ASKED_MAX && !s->out.len;
	if (s->broken || (s->ended && !s->asked && !s->out.len))
		stream_free(s);
	else
		watch_set(&s->w, (more ? EPOLLIN : 0u) | (s->out.len ? EPOLLOUT : 0u));
}

void stream_answer(struct stream *s, const uint8_t *p, size_t n)
{
	uint8_t head[2] = { (uint8_t)(n >> 8), (uint8_t)n };

	s->asked--;
	buf_add(&s->out, head, sizeof(head));
	buf_add(&s->out, p, n);
	stream_write(s);
	stream_used(s);
	stream_go_on(s);
}

/* The whole messages at the beginning of what was read. */
static void stream_take(struct stream *s)
{
	size_t at = 0;

	s->taking = true;
	while (!s->broken && s->asked < ASKED_MAX) {
		int len = dns_frame(s->in + at, s->n - at);

		if (len < 0)
			s->broken = true;
		if (len <= 0)
			break;
		s->asked++;
		if (!resolve_ask(s->in + at + 2, (size_t)len - 2, s, &s->questions, 0, s->pid))
			s->broken = true;
		at += (size_t)len;
	}
	memmove(s->in, s->in + at, s->n - at);
	s->n -= at;
	s->taking = false;
}

static void stream_read(struct stream *s)
{
	ssize_t n;

	/* Without room there is a whole message, which waits for its turn. */
	if (s->n == sizeof(s->in))
		return;
	n = recv(s->w.fd, s->in + s->n, sizeof(s->in) - s->n, MSG_DONTWAIT);
	if (n > 0) {
		s->n += (size_t)n;
		stream_used(s);
	} else if (n == 0) {
		s->ended = true;
	} else if (errno != EAGAIN && errno != EINTR) {
		s->broken = true;
	}
}

static void stream_ready(struct watch *w, uint32_t events)
{
	struct stream *s = container_of(w, struct stream, w);

	if (events & EPOLLOUT)
		stream_write(s);
	if (events & (EPOLLIN | EPOLLHUP | EPOLLERR))
		stream_read(s);
	if ((events & EPOLLERR) || ((events & EPOLLHUP) && s->asked))
		s->broken = true; /* nobody reads the answers any more */
	stream_go_on(s);
}

/* #syscalls: socketpair sendto recvfrom */
void stream_begin(const struct gate_msg *m)
{
	struct gate_msg open = { .type = GATE_OPEN, .id = m->id };
	struct stream *s;
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) < 0) {
		channel_fail(m->id, ENOBUFS, "too many connections at once");
		return;
	}
	if (count == STREAMS_MAX)
		stream_free(list_first(&streams, struct stream, link));
	s = xalloc(sizeof(*s));
	memset(s, 0, offsetof(struct stream, in));
	s->w = (struct watch){ .fd = pair[0], .ready = stream_ready };
	s->idle.run = stream_late;
	s->pid = record_pid(m);
	list_init(&s->questions);
	list_init(&s->link);
	count++;
	stream_used(s);
	watch_set(&s->w, EPOLLIN);
	(void)channel_send(&open, pair[1]);
	close(pair[1]);
}
