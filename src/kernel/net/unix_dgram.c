/* Datagrams and sequenced packets of Unix sockets: a message is one packet. The two differ in whom
 * they reach: a packet goes to the other end of its connection, a datagram to a name or to the peer
 * that connect() has set. */
#include <errno.h>

#include "kernel/net/unix.h"
#include "kernel/platform/uio.h"

#define DGRAM_QUEUE 512u /* max_dgram_qlen */

/* What is wrong before the message is made: an address that is none, or nobody to send to. */
static int dgram_check(struct unix_sock *u, struct sockmsg *m)
{
	if (u->s.type == SOCK_SEQPACKET) {
		if (u->s.err)
			return -sock_take_err(&u->s);
		return u->connected ? 0 : -ENOTCONN;
	}
	if (m->to)
		return unix_name_check(m->to);
	return u->s.peer || u->peer_dead ? 0 : -ENOTCONN;
}

/* Where a message of s without an address goes; borrows. */
static int dgram_peer(struct unix_sock *u, struct unix_sock **ret_)
{
	if (!u->s.peer && u->s.type == SOCK_DGRAM) {
		u->peer_dead = false;
		return -ECONNREFUSED;
	}
	if (!u->s.peer)
		return -EPIPE;
	*ret_ = unix_sk(u->s.peer);
	return 0;
}

bool unix_dgram_is_full(const struct unix_sock *from, const struct unix_sock *to)
{
	return to != from && to->s.peer != &from->s && to->s.npackets > DGRAM_QUEUE;
}

static int64_t dgram_send_to(struct unix_sock *u, struct unix_sock *to, struct uio *uio,
			     struct sockmsg *m)
{
	struct sock *s = &u->s;
	uint64_t len = uio->left;
	struct packet *pk;
	int r;

	if (s->type == SOCK_DGRAM && to->s.peer && to->s.peer != s)
		return -EPERM;
	if (to->s.rcv_shut)
		return -EPIPE;
	if (unix_dgram_is_full(u, to)) {
		m->wait_q = &to->s.space_q;
		return -EAGAIN;
	}
	r = unix_packet_make(u, uio, (uint32_t)len, m, &pk);
	if (r < 0)
		return r;
	sock_enqueue(&to->s, pk, s);
	waitq_wake(&to->s.q, SOCK_POLL_IN);
	return (int64_t)len;
}

int64_t unix_dgram_send(struct sock *s, struct uio *uio, struct sockmsg *m)
{
	struct unix_sock *u = unix_sk(s), *to;
	bool named = m->to && s->type == SOCK_DGRAM;
	int64_t ret;
	int r;

	if (m->flags & MSG_OOB)
		return -EOPNOTSUPP;
	r = dgram_check(u, m);
	if (r == 0 && s->passcred)
		r = unix_autobind(u);
	if (r < 0)
		return r;
	if (uio->left > s->sndbuf - 32u)
		return -EMSGSIZE;
	if (s->err)
		return -sock_take_err(s);
	if (s->snd_shut)
		return -EPIPE;
	if (s->sent_true >= s->sndbuf)
		return -EAGAIN;
	if (named && !m->t)
		return -EINVAL;
	r = named ? unix_find(s, m->t, DEST_SEND, m->to, &to) : dgram_peer(u, &to);
	if (r < 0)
		return r;
	ret = dgram_send_to(u, to, uio, m);
	if (named)
		unix_sock_put(to);
	return ret;
}

/* Its queue has room again: those who wait to send to it learn it. */
static void dgram_tell_space(struct unix_sock *u)
{
	struct unix_sock *c;

	if (u->s.npackets != DGRAM_QUEUE)
		return;
	waitq_wake(&u->s.space_q, SOCK_POLL_OUT);
	list_for_each(c, &u->clients, client_link)
		waitq_wake(&c->s.q, SOCK_POLL_OUT);
}

int64_t unix_dgram_recv(struct sock *s, struct uio *u, struct sockmsg *m)
{
	struct unix_sock *us = unix_sk(s);
	struct packet *pk;
	int64_t r;

	if (m->flags & MSG_OOB)
		return -EOPNOTSUPP;
	if (s->type == SOCK_SEQPACKET && !us->connected)
		return -ENOTCONN;
	pk = sock_next_packet(s, m);
	if (!pk) {
		if (s->err)
			return -sock_take_err(s);
		/* The end of datagrams is told only to who waits (sockmsg.c). */
		return s->rcv_shut && s->type == SOCK_SEQPACKET ? 0 : -EAGAIN;
	}
	unix_from_put(m, pk->from_unix);
	/* Before the packet goes; a failing copy keeps it, files and all, so they are looked at
	 * afterwards only. */
	uint32_t len = pk->len - MIN(m->skip, pk->len);
	uint32_t n = (uint32_t)MIN(u->left, (uint64_t)len);
	m->whole = len;
	if (n < len)
		m->out_flags |= MSG_TRUNC;
	if (n && uio_put(u, pk->data + m->skip, n) != n)
		return -EFAULT;
	unix_packet_take(pk, m);
	if (m->x) {
		m->x->has_stamp = true;
		m->x->stamp = pk->stamp;
	}
	r = n;
	sock_peek_moved(s, m->flags, m->flags & MSG_PEEK ? n : pk->len);
	pk->peeked |= (m->flags & MSG_PEEK) != 0;
	if (!(m->flags & MSG_PEEK)) {
		sock_dequeue(s, pk);
		dgram_tell_space(us);
	}
	return r;
}

void unix_dgram_disconnect(struct unix_sock *u)
{
	u->s.peer = NULL;
	u->peer_dead = false;
	list_remove(&u->client_link);
	unix_name_put(u->peer_name);
	u->peer_name = NULL;
}

int unix_dgram_connect(struct sock *s, struct task *t, const struct sockname *n, bool nonblock,
		       struct waitq **ret_q)
{
	struct unix_sock *u = unix_sk(s), *to;
	int r;

	(void)nonblock, (void)ret_q;
	if (n->len < sizeof(sa_family_t))
		return -EINVAL;
	if (n->u.sa.sa_family == AF_UNSPEC) {
		unix_dgram_disconnect(u);
		return 0;
	}
	r = unix_name_check(n);
	if (r == 0 && s->passcred)
		r = unix_autobind(u);
	if (r == 0)
		r = unix_find(s, t, DEST_CONNECT, n, &to);
	if (r)
		return r;
	if (to->s.peer && to->s.peer != s) {
		r = -EPERM;
	} else {
		unix_dgram_disconnect(u);
		s->peer = &to->s;
		u->peer_name = unix_name_get(to->name);
		list_append(&to->clients, &u->client_link);
		waitq_wake(&s->q, SOCK_POLL_OUT);
	}
	unix_sock_put(to);
	return r;
}
