/* TCP inside the cell: streams between two sockets that know each other.
 *
 * Nothing is ever lost or late here, so there are no segments: a send puts bytes into the other
 * end's queue, which is the window, and what Linux's handshakes would lead to happens at once. The
 * states, and which error comes when, are Linux's:
 *   close with unread bytes, or with SO_LINGER 0, is a reset: the peer gets ECONNRESET after
 *   what it has;
 *   else the peer gets the end of the stream; if it still sends, that is swallowed and the next
 *   send gives EPIPE.
 * A connect is answered when there is room in the accept queue; until then it waits in the
 * listener's list. Keep-alive and all other timers have nothing to do. Left out: a connect that
 * meets another connect (both sides active), fast open, MD5. */
#include <errno.h>
#include <poll.h>
#include <string.h>

#include "kernel/net/inet.h"
#include "kernel/platform/uio.h"

#define WINDOW_HALF 131072u /* each side's part of the window when its buffer was not set */
#define SNDBUF_SHOWN 2626560u
#define CHUNK_MAX 65536u
#define LOST_MAX 524288u /* what can be sent to a peer that is gone when the buffer was not set */
#define CHUNK_SMALL 512u
#define CHUNK_JOIN 16384u

/* ---- the window ---- */

static uint32_t window(const struct sock *from, const struct sock *to)
{
	return (from->sndbuf_set ? from->sndbuf : WINDOW_HALF) +
	       (to->rcvbuf_set ? to->rcvbuf : WINDOW_HALF);
}

static uint32_t window_room(const struct sock *from)
{
	const struct sock *to = from->peer;
	uint32_t size = window(from, to);

	return to->queued < size ? size - to->queued : 0;
}

/* Linux tells writers only when a third is free. */
static bool is_writable(const struct sock *s)
{
	return !s->peer || window_room(s) * 3ull >= window(s, s->peer);
}

/* ---- ends of connections ---- */

/* The other side refuses to go on. */
static void tcp_reset(struct sock *s)
{
	struct inet_sock *i = inet_sk(s);

	s->peer = NULL;
	if (i->state == TCPS_CLOSE)
		return;
	s->err = i->state == TCPS_CLOSE_WAIT ? EPIPE
		 : i->state == TCPS_SYN_SENT ? ECONNREFUSED
					     : ECONNRESET;
	i->state = TCPS_CLOSE;
	s->rcv_shut = s->snd_shut = true;
	waitq_wake(&s->q, SOCK_POLL_ALL);
}

/* The other side has nothing more to send. */
static void tcp_fin(struct sock *s)
{
	struct inet_sock *i = inet_sk(s);

	i->fin = s->rcv_shut = true;
	if (i->state == TCPS_ESTABLISHED) {
		i->state = TCPS_CLOSE_WAIT;
	} else if (i->state == TCPS_FIN_WAIT2) {
		port_time_wait(i);
		i->state = TCPS_CLOSE;
		s->snd_shut = true;
	}
	waitq_wake(&s->q, SOCK_POLL_ALL);
}

/* s has nothing more to send. */
static void tcp_send_fin(struct sock *s)
{
	struct inet_sock *i = inet_sk(s);

	s->snd_shut = true;
	if (i->state == TCPS_ESTABLISHED) {
		i->state = TCPS_FIN_WAIT2;
	} else if (i->state == TCPS_CLOSE_WAIT) {
		i->state = TCPS_CLOSE;
		s->rcv_shut = true;
	} else {
		return;
	}
	if (s->peer)
		tcp_fin(s->peer);
}

/* No longer a listener; who waits to be accepted or to connect is turned away. */
static void tcp_unlisten(struct inet_sock *i)
{
	struct sock *s = &i->s;

	port_unlisten(i);
	s->listening = false;
	i->state = TCPS_CLOSE;
	while (!list_is_empty(&s->acceptq)) {
		struct sock *end = list_first(&s->acceptq, struct sock, accept_link);

		list_remove(&end->accept_link);
		end->linger_on = true; /* a reset */
		end->linger_secs = 0;
		CHECKED(end->ops)->release(end);
	}
	s->acceptq_len = 0;
	while (!list_is_empty(&i->connects)) {
		struct sock *c = list_first(&i->connects, struct sock, accept_link);

		list_remove(&c->accept_link);
		tcp_reset(c);
	}
}

static void tcp_close(struct inet_sock *i)
{
	struct sock *s = &i->s, *peer = s->peer;
	bool unread = s->queued > 0,
	     reset = unread || i->abort || (s->linger_on && !s->linger_secs);

	if (i->state == TCPS_LISTEN)
		tcp_unlisten(i);
	list_remove(&s->accept_link);
	if (peer) {
		bool active = i->state == TCPS_ESTABLISHED || i->state == TCPS_FIN_WAIT2;

		if (reset) {
			tcp_reset(peer);
		} else {
			tcp_send_fin(s);
			if (active)
				port_time_wait(i);
		}
		peer->peer = NULL;
		s->peer = NULL;
		waitq_wake(&peer->q, SOCK_POLL_OUT);
	}
	i->state = TCPS_CLOSE;
}

static void tcp_release(struct sock *s)
{
	struct inet_sock *i = inet_sk(s);

	tcp_close(i);
	inet_free(i);
}

/* A port that nobody named goes back; a name still tells it, as Linux's does. */
static void tcp_give_port(struct inet_sock *i)
{
	if (i->port_kept || !i->lport)
		return;
	i->old_port = i->lport;
	port_unbind(i);
}

/* Back to a fresh socket: connect() to AF_UNSPEC, or a connect that failed. */
static void tcp_disconnect(struct inet_sock *i)
{
	const struct ipaddr *any = i->s.family == AF_INET ? &ip_any4 : &ip_any6;

	outside_drop(i);
	tcp_close(i);
	sock_queue_purge(&i->s);
	tcp_give_port(i);
	if (!i->addr_kept)
		i->laddr = *any;
	i->raddr = *any;
	i->rport = 0;
	i->connecting = i->connected = i->fin = i->urg_set = false;
	i->s.rcv_shut = i->s.snd_shut = false;
	i->s.err = 0;
}

/* ---- beginnings ---- */

void tcp_inherit(struct inet_sock *end, const struct inet_sock *l)
{
	struct sock *s = &end->s;
	const struct sock *from = &l->s;

	s->uid = from->uid;
	s->cred = from->cred;
	s->sndbuf_set = from->sndbuf_set;
	s->rcvbuf_set = from->rcvbuf_set;
	s->sndbuf = from->sndbuf_set ? from->sndbuf : SNDBUF_SHOWN;
	s->rcvbuf = from->rcvbuf;
	s->rcvtimeo = from->rcvtimeo;
	s->sndtimeo = from->sndtimeo;
	s->reuseaddr = from->reuseaddr;
	s->reuseport = from->reuseport;
	s->keepalive = from->keepalive;
	s->oobinline = from->oobinline;
	s->linger_on = from->linger_on;
	s->linger_secs = from->linger_secs;
	s->priority = from->priority;
	s->mark = from->mark;
	s->rcvlowat = from->rcvlowat;
	end->v6only = l->v6only;
	memcpy(end->opts, l->opts, sizeof(end->opts));
	memcpy(end->congestion, l->congestion, sizeof(end->congestion));
}

/* Connects c to a new end in l's accept queue. */
static int tcp_establish(struct inet_sock *l, struct inet_sock *c)
{
	struct inet_sock *end = inet_new(NULL, l->s.family, SOCK_STREAM, IPPROTO_TCP);

	if (!end)
		return -ENOBUFS;
	tcp_inherit(end, l);
	end->laddr = c->raddr;
	end->raddr = c->laddr;
	end->rport = c->lport;
	port_share(end, c->rport);
	end->port_kept = end->addr_kept = true;
	end->state = c->state = TCPS_ESTABLISHED;
	end->connected = true;
	end->s.peer = &c->s;
	c->s.peer = &end->s;
	if (!c->s.sndbuf_set)
		c->s.sndbuf = SNDBUF_SHOWN;
	list_append(&l->s.acceptq, &end->s.accept_link);
	l->s.acceptq_len++;
	waitq_wake(&l->s.q, SOCK_POLL_IN);
	waitq_wake(&c->s.q, SOCK_POLL_OUT);
	return 0;
}

/* There may be room in l's accept queue again. */
static void tcp_admit(struct inet_sock *l)
{
	while (!list_is_empty(&l->connects) && l->s.acceptq_len <= l->s.backlog) {
		struct sock *c = list_first(&l->connects, struct sock, accept_link);

		if (tcp_establish(l, inet_sk(c)) < 0)
			return;
		list_remove(&c->accept_link);
	}
}

/* The result of a connect that was begun earlier. */
static int connect_result(struct inet_sock *i)
{
	int err;

	if (i->state == TCPS_SYN_SENT)
		return -EALREADY;
	if (i->state != TCPS_CLOSE || i->connected) {
		i->connecting = false;
		i->connected = true;
		return 0;
	}
	err = sock_take_err(&i->s);
	tcp_disconnect(i);
	return err ? -err : -ECONNABORTED;
}

static int connect_start(struct inet_sock *i, struct task *t, const struct sockname *n)
{
	struct ipaddr dst, src;
	struct inet_sock *l;
	uint16_t port;
	int r = inet_addr_in(i, n, &dst, &port);

	if (r == 0)
		r = inet_dest(i, t, DEST_CONNECT, &dst, port);
	if (r == 0)
		r = inet_route(i, &dst, &src);
	if (r < 0)
		return r;
	if (!i->lport) {
		r = port_bind(i, 0);
		if (r < 0)
			return -EADDRNOTAVAIL;
	} else if (port_connected(&src, i->lport, &dst, port)) {
		return -EADDRNOTAVAIL;
	}
	i->laddr = src;
	i->raddr = dst;
	i->rport = port;
	i->connecting = true;
	i->s.err = 0;
	if (route_dest(&dst) == DEST_OUTSIDE) {
		r = outside_connect(i, t, &dst, port);
		if (r < 0)
			tcp_disconnect(i);
		return r;
	}
	l = port_listener(&dst, port, i->lport);
	if (!l) {
		i->s.err = ECONNREFUSED;
		i->s.rcv_shut = i->s.snd_shut = true;
		return 0;
	}
	i->state = TCPS_SYN_SENT;
	if (l->s.acceptq_len <= l->s.backlog)
		r = tcp_establish(l, i);
	else
		list_append(&l->connects, &i->s.accept_link);
	if (r < 0)
		tcp_disconnect(i);
	return r;
}

int tcp_connect(struct sock *s, struct task *t, const struct sockname *n, bool nonblock,
		struct waitq **ret_q)
{
	struct inet_sock *i = inet_sk(s);
	int r;

	(void)ret_q;
	if (n->len < sizeof(sa_family_t))
		return -EINVAL;
	if (n->u.sa.sa_family == AF_UNSPEC) {
		bool open = i->state != TCPS_CLOSE && i->state != TCPS_LISTEN;

		i->abort = true;
		tcp_disconnect(i);
		i->abort = false;
		if (open)
			s->err = ECONNRESET;
		waitq_wake(&s->q, SOCK_POLL_ALL);
		return 0;
	}
	if (i->connecting)
		return connect_result(i);
	if (i->connected || i->state != TCPS_CLOSE)
		return -EISCONN;
	r = connect_start(i, t, n);
	if (r < 0)
		return r;
	/* Linux tells a socket that does not wait to ask later, even if all is done. */
	if (nonblock || i->state == TCPS_SYN_SENT)
		return -EINPROGRESS;
	return connect_result(i);
}

static int tcp_listen(struct sock *s, struct task *t, uint32_t backlog)
{
	struct inet_sock *i = inet_sk(s);
	int r = 0;

	(void)t;
	if (i->connecting || i->connected || (i->state != TCPS_CLOSE && i->state != TCPS_LISTEN))
		return -EINVAL;
	s->backlog = backlog;
	if (i->state == TCPS_LISTEN) {
		tcp_admit(i);
		return 0;
	}
	if (!i->lport)
		r = port_bind(i, 0);
	if (r == 0)
		r = port_listen(i);
	if (r < 0)
		return r;
	s->rcv_shut = s->snd_shut = false;
	s->listening = true;
	return 0;
}

static int tcp_accept(struct sock *s, struct sock **ret_)
{
	if (!s->listening)
		return -EINVAL;
	if (list_is_empty(&s->acceptq))
		return -EAGAIN;
	*ret_ = list_first(&s->acceptq, struct sock, accept_link);
	list_remove(&(*ret_)->accept_link);
	s->acceptq_len--;
	tcp_admit(inet_sk(s));
	return 0;
}

/* ---- send ---- */

static int send_check(struct sock *s)
{
	struct inet_sock *i = inet_sk(s);

	if (i->state == TCPS_SYN_SENT)
		return -EAGAIN;
	if (s->err)
		return -sock_take_err(s);
	if (s->snd_shut || !(i->state == TCPS_ESTABLISHED || i->state == TCPS_CLOSE_WAIT))
		return -EPIPE;
	return 0;
}

/* What is sent before the answer comes that nobody is there to take it: a bufferful, as Linux's
 * loopback does. */
static int64_t send_away(const struct sock *s, struct uio *u)
{
	static char away[CHUNK_MAX];
	uint64_t max = s->sndbuf_set ? s->sndbuf : LOST_MAX;
	int64_t n = 0;

	while (u->left && (uint64_t)n < max) {
		int64_t r = uio_take(u, away, MIN(u->left, MIN(max - (uint64_t)n, sizeof(away))));

		if (r <= 0)
			return n ? n : -EFAULT;
		n += r;
	}
	return n;
}

/* Nobody is there to take it: the answer is a reset. */
static int64_t send_lost(struct sock *s, struct uio *u)
{
	int64_t n = send_away(s, u);

	if (n > 0)
		tcp_reset(s);
	return n;
}

/* The next bytes of u into the other end's queue: the count, or -errno. */
static int64_t send_some(struct sock *s, struct uio *u, uint32_t room)
{
	struct sock *to = s->peer;
	uint32_t n = (uint32_t)MIN(u->left, (uint64_t)MIN(room, CHUNK_MAX));
	struct packet *pk =
		list_is_empty(&to->queue) ? NULL : list_last(&to->queue, struct packet, link);
	bool fresh = false;
	int r;

	if (pk && pk->cap > pk->len && (pk->cap - pk->len >= n || n < CHUNK_JOIN)) {
		n = MIN(n, pk->cap - pk->len);
	} else {
		uint32_t least = pk ? CHUNK_JOIN : CHUNK_SMALL;

		pk = packet_new(MAX(n, least));
		if (!pk)
			return -ENOBUFS;
		fresh = true;
	}
	r = packet_fill(pk, u, n);
	if (r < 0) {
		if (fresh)
			packet_free(pk);
		return r;
	}
	if (fresh)
		sock_enqueue(to, pk, NULL);
	else
		to->queued += n;
	inet_sk(s)->bytes_out += n;
	inet_sk(to)->bytes_in += n;
	net_lo_bytes += n;
	net_lo_packets++;
	return n;
}

/* n bytes of the packet at the head were read. */
static void head_consume(struct inet_sock *i, struct packet *pk, uint32_t n)
{
	pk->off += n;
	i->s.queued -= n;
	i->rcv_seq += n;
	if (i->urg_set && i->rcv_seq > i->urg_at)
		i->urg_set = false;
	if (pk->off == pk->len)
		sock_dequeue(&i->s, pk);
}

/* The last byte of u, and only that is left, is the urgent one. It lies in the stream as all others
 * do, and is left out by the read that comes to it. An older one that was not passed yet becomes an
 * ordinary byte, unless the next read would begin with it. */
static int64_t send_urgent(struct sock *s, struct uio *u)
{
	struct inet_sock *to = inet_sk(s->peer);
	uint64_t at = to->rcv_seq + to->s.queued;
	uint8_t byte;
	int64_t r;

	if (uio_take(u, &byte, 1) != 1)
		return -EFAULT;
	uio_back(u, 1);
	r = send_some(s, u, 1);
	if (r < 0)
		return r;
	if (to->urg_set && to->urg_at == to->rcv_seq && !to->s.oobinline && at != to->rcv_seq)
		head_consume(to, list_first(&to->s.queue, struct packet, link), 1);
	to->urg_at = at;
	to->urg_set = true;
	to->urg_read = false;
	to->urg_byte = byte;
	sock_tell_urgent(s->peer);
	return 1;
}

/* The other side reads no more and has said that it is done: more data makes it break off. */
static bool peer_is_done(const struct sock *s)
{
	return s->peer && s->peer->rcv_shut && inet_sk(s->peer)->state == TCPS_FIN_WAIT2;
}

static int64_t send_refused(struct sock *s, struct uio *u)
{
	struct sock *peer = s->peer;
	int64_t n = send_away(s, u);

	if (n <= 0)
		return n;
	tcp_reset(peer);
	tcp_reset(s);
	return n;
}

static int tcp_send_check(struct sock *s, const struct sockmsg *m)
{
	enum tcp_state state = inet_sk(s)->state;

	(void)m;
	if (state == TCPS_ESTABLISHED || state == TCPS_CLOSE_WAIT || state == TCPS_SYN_SENT)
		return 0;
	return s->err ? -sock_take_err(s) : -EPIPE;
}

static int64_t tcp_send(struct sock *s, struct uio *u, struct sockmsg *m)
{
	bool urgent = m->flags & MSG_OOB;
	int64_t moved = 0, r = send_check(s);

	if (r < 0)
		return r;
	if (!s->peer)
		return send_lost(s, u);
	if (peer_is_done(s))
		return send_refused(s, u);
	while (u->left) {
		uint32_t room = window_room(s);

		if (!room) {
			r = -EAGAIN;
			break;
		}
		if (urgent && u->left == 1)
			r = send_urgent(s, u);
		else
			r = send_some(s, u,
				      urgent ? (uint32_t)MIN((uint64_t)room, u->left - 1) : room);
		if (r < 0)
			break;
		moved += r;
	}
	if (moved)
		waitq_wake(&s->peer->q, SOCK_POLL_IN);
	return moved || r >= 0 ? moved : r;
}

/* ---- receive ---- */

static int64_t recv_empty(struct sock *s)
{
	struct inet_sock *i = inet_sk(s);

	if (i->state == TCPS_LISTEN)
		return -ENOTCONN;
	if (i->fin)
		return 0;
	if (s->err)
		return -sock_take_err(s);
	if (s->rcv_shut)
		return 0;
	return i->state == TCPS_CLOSE ? -ENOTCONN : -EAGAIN;
}

static int64_t recv_urgent(struct inet_sock *i, struct uio *u, struct sockmsg *m)
{
	if (i->s.oobinline || !i->urg_set || i->urg_read)
		return -EINVAL;
	if (i->state == TCPS_CLOSE && !i->connected)
		return -ENOTCONN;
	m->out_flags |= MSG_OOB;
	m->whole = 1;
	if (!(m->flags & MSG_PEEK))
		i->urg_read = true;
	if (!u->left) {
		m->out_flags |= MSG_TRUNC;
		return 0;
	}
	if (m->flags & MSG_TRUNC)
		return 1;
	return uio_put(u, &i->urg_byte, 1) == 1 ? 1 : -EFAULT;
}

/* Up to n bytes of a packet towards the caller; MSG_TRUNC throws them away. */
static int64_t put_some(struct uio *u, const char *data, uint32_t n, unsigned flags)
{
	if (!(flags & MSG_TRUNC))
		return uio_put(u, data, n);
	u->left -= n;
	return n;
}

static int64_t tcp_recv(struct sock *s, struct uio *u, struct sockmsg *m)
{
	struct inet_sock *i = inet_sk(s);
	struct packet *pk, *tmp;
	bool was_full = s->peer && !is_writable(s->peer);
	int64_t moved = 0;
	uint64_t seq = i->rcv_seq;
	uint32_t skip = sock_peek_at(s, m->flags);
	bool left_out = false;

	if (m->flags & MSG_ERRQUEUE)
		return inet_recv_error(i, u, m);
	if (i->state == TCPS_LISTEN)
		return -ENOTCONN;
	if (m->flags & MSG_OOB)
		return recv_urgent(i, u, m);
	if (skip >= s->queued)
		return recv_empty(s);
	if (!u->left)
		return 0;
	list_for_each_safe(pk, tmp, &s->queue, link) {
		uint64_t left = pk->len - pk->off, n;
		const char *data = pk->data + pk->off;

		if (skip >= left) {
			skip -= (uint32_t)left;
			seq += left;
			continue;
		}
		data += skip;
		left -= skip;
		seq += skip;
		skip = 0;
		n = MIN(u->left, left);
		/* A read ends before the urgent byte; the next one leaves it out and goes on. */
		if (i->urg_set && i->urg_at > seq)
			n = MIN(n, i->urg_at - seq);
		else if (i->urg_set && i->urg_at == seq && moved)
			break;
		if (i->urg_set && i->urg_at == seq && !s->oobinline) {
			seq++;
			data++;
			n = MIN(u->left, left - 1);
			if (!(m->flags & MSG_PEEK))
				head_consume(i, pk, 1);
			left_out = true;
			if (!n)
				continue;
		}
		int64_t r = put_some(u, data, (uint32_t)n, m->flags);
		if (r <= 0)
			break;
		moved += r;
		seq += (uint64_t)r;
		if (!(m->flags & MSG_PEEK))
			head_consume(i, pk, (uint32_t)r);
		if ((uint64_t)r < n)
			break;
	}
	m->whole = (uint64_t)moved;
	sock_peek_moved(s, m->flags, (uint32_t)moved);
	if (was_full && s->peer && is_writable(s->peer))
		waitq_wake(&s->peer->q, SOCK_POLL_OUT);
	return moved ? moved : left_out ? recv_empty(s) : -EFAULT;
}

/* ---- state ---- */

static int tcp_shutdown(struct sock *s, int how)
{
	struct inet_sock *i = inet_sk(s);

	if (i->state == TCPS_LISTEN) {
		if (how == SHUT_WR)
			return 0;
		tcp_unlisten(i);
		tcp_give_port(i);
		waitq_wake(&s->q, SOCK_POLL_ALL);
		return 0;
	}
	if (i->state == TCPS_SYN_SENT) {
		tcp_disconnect(i);
		waitq_wake(&s->q, SOCK_POLL_ALL);
		return 0;
	}
	bool closed = i->state == TCPS_CLOSE;
	if (how != SHUT_WR)
		s->rcv_shut = true;
	if (how != SHUT_RD) {
		tcp_send_fin(s);
		s->snd_shut = true;
	}
	waitq_wake(&s->q, SOCK_POLL_ALL);
	return closed ? -ENOTCONN : 0;
}

static uint32_t tcp_poll(struct sock *s)
{
	struct inet_sock *i = inet_sk(s);
	uint32_t ready = 0;

	if (i->state == TCPS_LISTEN)
		return list_is_empty(&s->acceptq) ? 0 : SOCK_POLL_IN;
	if ((s->rcv_shut && s->snd_shut) || i->state == TCPS_CLOSE)
		ready |= POLLHUP;
	if (s->rcv_shut)
		ready |= SOCK_POLL_IN | POLLRDHUP;
	if (i->state != TCPS_SYN_SENT) {
		uint32_t low = MIN((uint32_t)(s->rcvlowat > 1 ? s->rcvlowat : 1), WINDOW_HALF);

		if (i->urg_set && i->urg_at == i->rcv_seq && !s->oobinline)
			low++;

		if (s->queued >= low)
			ready |= SOCK_POLL_IN;
		if (s->snd_shut || is_writable(s))
			ready |= POLLOUT | POLLWRNORM;
		if (i->urg_set && !i->urg_read)
			ready |= POLLPRI;
	}
	if (s->err)
		ready |= POLLERR;
	return ready;
}

static int64_t tcp_readable(struct sock *s)
{
	const struct inet_sock *i = inet_sk(s);

	if (s->listening)
		return -EINVAL;
	/* As far as the urgent byte. */
	return i->urg_set && !s->oobinline ? (int64_t)(i->urg_at - i->rcv_seq) : s->queued;
}

static uint32_t tcp_unsent(struct sock *s)
{
	(void)s;
	return 0; /* it is all with the other side */
}

static bool tcp_atmark(struct sock *s)
{
	const struct inet_sock *i = inet_sk(s);

	return i->urg_set && i->urg_at == i->rcv_seq;
}

const struct sock_ops tcp_ops = {
	.bind = inet_bind,
	.connect = tcp_connect,
	.listen = tcp_listen,
	.accept = tcp_accept,
	.name = inet_name,
	.send = tcp_send,
	.send_check = tcp_send_check,
	.atmark = tcp_atmark,
	.recv = tcp_recv,
	.shutdown = tcp_shutdown,
	.poll = tcp_poll,
	.readable = tcp_readable,
	.unsent = tcp_unsent,
	.setopt = inet_setopt,
	.getopt = inet_getopt,
	.release = tcp_release,
};
