/* Streams of Unix sockets.
 *
 * A read goes across packets, but never past one that carries files, nor, with SO_PASSCRED, on to
 * another sender. An urgent byte is a packet of its own in the stream; taken by MSG_OOB it stays
 * there, empty, as the mark where reads end. */
#include <errno.h>
#include <poll.h>

#include "kernel/net/unix.h"
#include "kernel/platform/uio.h"

#define CHUNK_MAX 65536u /* a longer write to a stream becomes several packets */

int64_t unix_stream_send(struct sock *s, struct uio *u, struct sockmsg *m)
{
	struct unix_sock *us = unix_sk(s);
	int64_t moved = 0;
	int r = 0;

	bool urgent = m->flags & MSG_OOB;

	if (urgent && !u->left)
		return -EOPNOTSUPP;
	if (m->to)
		return us->connected ? -EISCONN : -EOPNOTSUPP;
	if (!us->connected)
		return -ENOTCONN;
	if (s->snd_shut)
		return -EPIPE;
	if (!s->peer || s->peer->rcv_shut)
		return -EPIPE;
	if (s->err)
		return -sock_take_err(s);
	while (u->left) {
		struct packet *pk;

		if (s->sent_true >= s->sndbuf) {
			r = -EAGAIN;
			break;
		}
		bool last = urgent && u->left == 1;
		uint64_t n = urgent && !last ? u->left - 1 : u->left;

		r = unix_packet_make(us, u, (uint32_t)MIN(n, (uint64_t)CHUNK_MAX), m, &pk);
		if (r < 0)
			break;
		moved += pk->len;
		sock_enqueue(s->peer, pk, s);
		if (last) {
			unix_sk(s->peer)->oob = pk;
			sock_tell_urgent(s->peer);
		}
	}
	if (moved)
		waitq_wake(&s->peer->q, SOCK_POLL_IN);
	return moved || r == 0 ? moved : r;
}

static bool cred_same(const struct linux_ucred *a, const struct linux_ucred *b)
{
	return a->pid == b->pid && a->uid == b->uid && a->gid == b->gid;
}

/* pk leaves the queue of a stream. */
static void stream_drop(struct unix_sock *u, struct packet *pk)
{
	if (u->oob == pk)
		u->oob = NULL;
	sock_dequeue(&u->s, pk);
}

static struct packet *stream_next(struct sock *s, struct packet *pk)
{
	return pk->link.next == &s->queue ? NULL : container_of(pk->link.next, struct packet, link);
}

static uint32_t packet_left(const struct packet *pk)
{
	return pk->len - pk->off;
}

/* The packet to read instead of pk, which may be the urgent byte or the mark that one left: NULL:
 * none now. A read ends before an urgent byte; one that begins there throws it away, unless it
 * belongs to the stream (SO_OOBINLINE). */
static struct packet *stream_skip_oob(struct unix_sock *u, struct packet *pk, bool peek, bool moved)
{
	struct sock *s = &u->s;

	if (packet_left(pk) && pk != u->oob)
		return pk;
	if (!packet_left(pk)) {
		struct packet *mark = pk;

		if (moved && (!u->oob || pk == u->oob))
			return NULL;
		pk = stream_next(s, pk);
		if (!peek)
			stream_drop(u, mark);
		if (!pk)
			return NULL;
	}
	if (pk != u->oob)
		return pk;
	if (moved)
		return NULL;
	if (peek)
		return s->oobinline ? pk : stream_next(s, pk);
	u->oob = NULL;
	if (s->oobinline)
		return pk;
	stream_drop(u, pk);
	return list_is_empty(&s->queue) ? NULL : list_first(&s->queue, struct packet, link);
}

static int64_t stream_empty(struct sock *s)
{
	if (s->err)
		return -sock_take_err(s);
	return s->rcv_shut || !s->peer ? 0 : -EAGAIN;
}

/* Nothing asked for still takes the files of the first packet, and waits for it. */
static int64_t stream_read(struct sock *s, struct uio *u, struct sockmsg *m)
{
	struct unix_sock *us = unix_sk(s);
	bool peek = m->flags & MSG_PEEK, first = true, urgent = us->oob != NULL;
	uint32_t skip = sock_peek_at(s, m->flags);
	struct linux_ucred cred = { 0 };
	struct packet *pk =
		list_is_empty(&s->queue) ? NULL : list_first(&s->queue, struct packet, link);
	int64_t moved = 0, err = 0;

	while (pk) {
		if (us->oob || !packet_left(pk)) {
			pk = stream_skip_oob(us, pk, peek, moved > 0);
			m->end |= !pk && moved;
			if (!pk)
				break;
		}
		if (skip >= packet_left(pk)) {
			skip -= packet_left(pk);
			pk = stream_next(s, pk);
			continue;
		}
		if (!first && s->passcred && !cred_same(&cred, &pk->cred))
			break;
		uint32_t n = (uint32_t)MIN(u->left, (uint64_t)(packet_left(pk) - skip));
		int64_t r = n ? uio_put(u, pk->data + pk->off + skip, n) : 0;
		if (r < 0 || (n && !r)) {
			err = -EFAULT;
			break;
		}
		bool files = pk->nfiles;
		m->end |= files;
		cred = pk->cred;
		if (first || files)
			unix_packet_take(pk, m);
		if (first)
			unix_from_put(m, pk->from_unix);
		first = false;
		moved += r;
		skip = 0;
		sock_peek_moved(s, m->flags, (uint32_t)r);
		struct packet *next = stream_next(s, pk);
		if (!peek) {
			pk->off += (uint32_t)r;
			s->queued -= (uint32_t)r;
			if (packet_left(pk))
				break;
			stream_drop(us, pk);
		}
		if ((uint32_t)r < n || files || !u->left)
			break;
		pk = next;
	}
	if (urgent && !us->oob)
		waitq_wake(&s->q, POLLPRI);
	if (moved || !first)
		return moved;
	return err ? err : stream_empty(s);
}

static int64_t stream_recv_oob(struct sock *s, struct uio *u, struct sockmsg *m)
{
	struct unix_sock *us = unix_sk(s);
	struct packet *pk = us->oob;

	if (s->oobinline || !pk)
		return -EINVAL;
	m->out_flags |= MSG_OOB;
	m->whole = 1;
	unix_packet_take(pk, m);
	if (!(m->flags & MSG_PEEK)) {
		us->oob = NULL;
		/* Of two marks in a row the older one goes. */
		if (pk->link.prev != &s->queue) {
			struct packet *before = container_of(pk->link.prev, struct packet, link);

			if (!packet_left(before))
				stream_drop(us, before);
		}
	}
	if (u->left && uio_put(u, pk->data + pk->off, 1) != 1)
		return -EFAULT;
	if (!(m->flags & MSG_PEEK)) {
		pk->off++;
		s->queued--;
	}
	return 1;
}

int64_t unix_stream_recv(struct sock *s, struct uio *u, struct sockmsg *m)
{
	int64_t r;

	if (!unix_sk(s)->connected)
		return -EINVAL;
	if (m->flags & MSG_OOB)
		return stream_recv_oob(s, u, m);
	r = stream_read(s, u, m);
	m->whole = r > 0 ? (uint64_t)r : 0;
	return r;
}

bool unix_atmark(struct sock *s)
{
	struct unix_sock *us = unix_sk(s);
	struct packet *pk, *next;

	if (list_is_empty(&s->queue))
		return false;
	pk = list_first(&s->queue, struct packet, link);
	next = stream_next(s, pk);
	return pk == us->oob || (!packet_left(pk) && (!us->oob || next == us->oob));
}
