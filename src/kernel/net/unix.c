/* AF_UNIX sockets: streams, datagrams and sequenced packets.
 *
 * Connected streams and packets know each other by peer, datagrams each its own peer only; a socket that others have as
 * their peer lists them as clients, to tell them when it has room again or goes away. A connection is made at connect():
 * the other end is a new socket in the listener's accept queue, to which may be written at once.
 *
 * A stream read goes across packets, but never past one that carries files, nor, with SO_PASSCRED, on to another sender.
 * A message read takes one packet. An urgent byte is a packet of its own in the stream; taken by MSG_OOB it stays there, empty, as the
 * mark where reads end. Left out: SO_PEERSEC, SO_PASSPIDFD. */
#include "kernel/net/unix.h"

#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "kernel/platform/uio.h"

#define CHUNK_MAX 65536u /* a longer write to a stream becomes several packets */
#define DGRAM_QUEUE 512u /* max_dgram_qlen */

OBJ_TYPE(unix_type, struct unix_sock, 16384);

static const struct sock_ops unix_stream_ops, unix_dgram_ops, unix_seqpacket_ops;

struct unix_sock *unix_of(const struct file *f)
{
	struct sock *s = sock_of(f);

	return s && s->family == AF_UNIX ? unix_sk(s) : NULL;
}

static struct unix_sock *unix_new(struct task *t, int type, int protocol)
{
	const struct sock_ops *ops = type == SOCK_STREAM  ? &unix_stream_ops
				     : type == SOCK_DGRAM ? &unix_dgram_ops
							  : &unix_seqpacket_ops;
	struct unix_sock *u = obj_new(&unix_type);

	if (!u) {
		unix_gc(true);
		u = obj_new(&unix_type);
	}
	if (!u)
		return NULL;
	sock_init(&u->s, ops, t, AF_UNIX, type, protocol);
	list_init(&u->hash_link);
	list_init(&u->clients);
	list_init(&u->client_link);
	list_init(&u->inflight_link);
	list_init(&u->gc_link);
	return u;
}

int unix_make(struct task *t, int type, int protocol, struct sock **ret_)
{
	struct unix_sock *u;

	if (protocol && protocol != AF_UNIX)
		return -EPROTONOSUPPORT;
	if (type == SOCK_RAW)
		type = SOCK_DGRAM;
	if (type != SOCK_STREAM && type != SOCK_DGRAM && type != SOCK_SEQPACKET)
		return -ESOCKTNOSUPPORT;
	u = unix_new(t, type, 0);
	if (!u)
		return -ENFILE;
	*ret_ = &u->s;
	return 0;
}

/* Credentials as SO_PEERCRED shows them to whoever connects to s. */
static struct linux_ucred cred_of(const struct task *t)
{
	return (struct linux_ucred){ t->proc->pid, t->cred.euid, t->cred.egid };
}

static void unix_pair(struct sock *a, struct sock *b)
{
	struct unix_sock *x = unix_sk(a), *y = unix_sk(b);

	a->peer = b;
	b->peer = a;
	x->connected = y->connected = true;
	if (a->type == SOCK_DGRAM) {
		list_append(&y->clients, &x->client_link);
		list_append(&x->clients, &y->client_link);
	}
	a->has_peer_cred = b->has_peer_cred = true;
}

/* ---- send ---- */

static struct linux_ucred sender_of(const struct sock *s, const struct sockmsg *m)
{
	if (m->x && m->x->has_cred)
		return m->x->cred;
	if (m->t)
		return (struct linux_ucred){ m->t->proc->pid, m->t->cred.uid, m->t->cred.gid };
	return s->cred;
}

/* Moves the files of the message into the packet. */
static int packet_add_files(struct packet *pk, struct sockmsg *m)
{
	struct sock_extra *x = m->x;
	size_t size;
	int r = 0;

	if (!x || !x->nfiles)
		return 0;
	size = x->nfiles * sizeof(*pk->files);
	pk->files = blob_new(size);
	if (!pk->files)
		return -ENOMEM;
	for (uint32_t i = 0; i < x->nfiles && r == 0; i++) {
		r = unix_file_sent(x->files[i], m->t);
		if (r < 0)
			while (i)
				unix_file_landed(x->files[--i]);
		if (r < 0)
			break;
	}
	if (r < 0) {
		blob_free(pk->files, size);
		pk->files = NULL;
		return r;
	}
	memcpy(pk->files, x->files, size);
	pk->nfiles = x->nfiles;
	x->nfiles = 0;
	return 0;
}

/* A packet of the next n bytes; on failure u is where it was. */
static int packet_make(struct unix_sock *u, struct uio *uio, uint32_t n, struct sockmsg *m,
		       struct packet **ret_)
{
	struct packet *pk = packet_new(n);
	uint64_t before = uio->left;
	int r;

	if (!pk)
		return -ENOBUFS;
	r = packet_fill(pk, uio, n);
	if (r == 0)
		r = packet_add_files(pk, m);
	if (r < 0) {
		uio_back(uio, before - uio->left);
		packet_free(pk);
		return r;
	}
	pk->cred = sender_of(&u->s, m);
	pk->from_unix = unix_name_get(u->name);
	pk->stamp = now_real();
	*ret_ = pk;
	return 0;
}

static int64_t unix_stream_send(struct sock *s, struct uio *u, struct sockmsg *m)
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

		r = packet_make(us, u, (uint32_t)MIN(n, (uint64_t)CHUNK_MAX), m, &pk);
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

/* Where a message of s goes. */
static int dgram_dest(struct unix_sock *u, struct sockmsg *m, struct unix_sock **ret_)
{
	if (m->to && u->s.type == SOCK_DGRAM)
		return m->t ? unix_find(m->t, m->to, SOCK_DGRAM, ret_) : -EINVAL;
	if (!u->s.peer && u->s.type == SOCK_DGRAM) {
		u->peer_dead = false;
		return -ECONNREFUSED;
	}
	if (!u->s.peer)
		return -EPIPE;
	*ret_ = unix_sk(u->s.peer);
	return 0;
}

static bool dgram_is_full(const struct unix_sock *from, const struct unix_sock *to)
{
	return to != from && to->s.peer != &from->s && to->s.npackets > DGRAM_QUEUE;
}

static int64_t unix_dgram_send(struct sock *s, struct uio *uio, struct sockmsg *m)
{
	struct unix_sock *u = unix_sk(s), *to;
	uint64_t len = uio->left;
	struct packet *pk;
	int r;

	if (m->flags & MSG_OOB)
		return -EOPNOTSUPP;
	r = dgram_check(u, m);
	if (r == 0 && s->passcred)
		r = unix_autobind(u);
	if (r < 0)
		return r;
	if (len > s->sndbuf - 32u)
		return -EMSGSIZE;
	if (s->err)
		return -sock_take_err(s);
	if (s->snd_shut)
		return -EPIPE;
	if (s->sent_true >= s->sndbuf)
		return -EAGAIN;
	r = dgram_dest(u, m, &to);
	if (r < 0)
		return r;
	if (s->type == SOCK_DGRAM && to->s.peer && to->s.peer != s)
		return -EPERM;
	if (to->s.rcv_shut)
		return -EPIPE;
	if (dgram_is_full(u, to)) {
		m->wait_q = &to->s.space_q;
		return -EAGAIN;
	}
	r = packet_make(u, uio, (uint32_t)len, m, &pk);
	if (r < 0)
		return r;
	sock_enqueue(&to->s, pk, s);
	waitq_wake(&to->s.q, SOCK_POLL_IN);
	return (int64_t)len;
}

/* ---- receive ---- */

static void from_put(struct sockmsg *m, const struct unix_name *n)
{
	m->from.len = 0;
	if (n)
		m->from = n->n;
}

/* The files and the sender of pk; with a peek the packet keeps its own references. */
static void recv_extra(struct packet *pk, struct sockmsg *m)
{
	struct sock_extra *x = m->x;

	/* Who reads without room for files loses them. */
	if (!x && !(m->flags & MSG_PEEK))
		packet_drop_files(pk);
	if (!x)
		return;
	x->has_cred = true;
	x->cred = pk->cred;
	if (!pk->nfiles)
		return;
	x->nfiles = pk->nfiles;
	memcpy(x->files, pk->files, pk->nfiles * sizeof(*x->files));
	for (uint32_t i = 0; i < pk->nfiles; i++)
		if (m->flags & MSG_PEEK)
			file_get(pk->files[i]);
		else
			unix_file_landed(pk->files[i]);
	if (m->flags & MSG_PEEK)
		return;
	blob_free(pk->files, pk->nfiles * sizeof(*pk->files));
	pk->files = NULL;
	pk->nfiles = 0;
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

/* The packet to read instead of pk, which may be the urgent byte or the mark that one left: NULL: none now. A read ends before an
 * urgent byte; one that begins there throws it away, unless it belongs to the stream (SO_OOBINLINE). */
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
			recv_extra(pk, m);
		if (first)
			from_put(m, pk->from_unix);
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
	recv_extra(pk, m);
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

static int64_t unix_stream_recv(struct sock *s, struct uio *u, struct sockmsg *m)
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

static bool unix_atmark(struct sock *s)
{
	struct unix_sock *us = unix_sk(s);
	struct packet *pk, *next;

	if (list_is_empty(&s->queue))
		return false;
	pk = list_first(&s->queue, struct packet, link);
	next = stream_next(s, pk);
	return pk == us->oob || (!packet_left(pk) && (!us->oob || next == us->oob));
}

/* Its queue has room again: those who wait to send to it learn it. */
static void dgram_tell_space(struct unix_sock *u)
{
	struct unix_sock *c;

	if (u->s.npackets != DGRAM_QUEUE)
		return;
	waitq_wake(&u->s.space_q, SOCK_POLL_OUT);
	list_for_each (c, &u->clients, client_link)
		waitq_wake(&c->s.q, SOCK_POLL_OUT);
}

static int64_t unix_dgram_recv(struct sock *s, struct uio *u, struct sockmsg *m)
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
	from_put(m, pk->from_unix);
	/* Before the packet goes; a failing copy keeps it, files and all, so they are looked at afterwards only. */
	uint32_t len = pk->len - MIN(m->skip, pk->len);
	uint32_t n = (uint32_t)MIN(u->left, (uint64_t)len);
	m->whole = len;
	if (n < len)
		m->out_flags |= MSG_TRUNC;
	if (n && uio_put(u, pk->data + m->skip, n) != n)
		return -EFAULT;
	recv_extra(pk, m);
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

/* ---- connections ---- */

static void dgram_disconnect(struct unix_sock *u)
{
	u->s.peer = NULL;
	u->peer_dead = false;
	list_remove(&u->client_link);
	unix_name_put(u->peer_name);
	u->peer_name = NULL;
}

static int unix_dgram_connect(struct sock *s, struct task *t, const struct sockname *n,
			      bool nonblock, struct waitq **ret_q)
{
	struct unix_sock *u = unix_sk(s), *to;
	int r;

	(void)nonblock, (void)ret_q;
	if (n->len < sizeof(sa_family_t))
		return -EINVAL;
	if (n->u.sa.sa_family == AF_UNSPEC) {
		dgram_disconnect(u);
		return 0;
	}
	r = unix_name_check(n);
	if (r == 0 && s->passcred)
		r = unix_autobind(u);
	if (r == 0)
		r = unix_find(t, n, SOCK_DGRAM, &to);
	if (r < 0)
		return r;
	if (to->s.peer && to->s.peer != s)
		return -EPERM;
	dgram_disconnect(u);
	s->peer = &to->s;
	u->peer_name = unix_name_get(to->name);
	list_append(&to->clients, &u->client_link);
	waitq_wake(&s->q, SOCK_POLL_OUT);
	return 0;
}

static int unix_stream_connect(struct sock *s, struct task *t, const struct sockname *n,
			       bool nonblock, struct waitq **ret_q)
{
	struct unix_sock *u = unix_sk(s), *to, *end;
	int r = unix_name_check(n);

	(void)nonblock;
	if (r == 0 && s->passcred)
		r = unix_autobind(u);
	if (r == 0)
		r = unix_find(t, n, s->type, &to);
	if (r < 0)
		return r;
	if (!to->s.listening || to->s.rcv_shut)
		return -ECONNREFUSED;
	if (to->s.acceptq_len > to->s.backlog) {
		*ret_q = &to->s.space_q;
		return -EAGAIN;
	}
	if (u->connected)
		return -EISCONN;
	if (s->listening)
		return -EINVAL;
	end = unix_new(NULL, s->type, 0);
	if (!end)
		return -ENOMEM;
	end->s.uid = to->s.uid;
	end->s.cred = to->s.cred;
	end->s.passcred = to->s.passcred;
	end->name = unix_name_get(to->name);
	end->peer_name = unix_name_get(u->name);
	u->peer_name = unix_name_get(to->name);
	end->s.peer = s;
	s->peer = &end->s;
	u->connected = end->connected = true;
	end->s.peer_cred = cred_of(t);
	s->peer_cred = to->s.peer_cred;
	s->has_peer_cred = end->s.has_peer_cred = true;
	list_append(&to->s.acceptq, &end->s.accept_link);
	to->s.acceptq_len++;
	waitq_wake(&to->s.q, SOCK_POLL_IN);
	waitq_wake(&s->q, SOCK_POLL_OUT);
	return 0;
}

static int unix_listen(struct sock *s, struct task *t, uint32_t backlog)
{
	struct unix_sock *u = unix_sk(s);

	if (!u->name || u->connected)
		return -EINVAL;
	bool more = backlog > s->backlog;
	s->backlog = backlog;
	s->listening = true;
	s->peer_cred = cred_of(t);
	s->has_peer_cred = true;
	if (more)
		waitq_wake(&s->space_q, SOCK_POLL_OUT);
	return 0;
}

static int unix_accept(struct sock *s, struct sock **ret_)
{
	if (!s->listening)
		return -EINVAL;
	if (list_is_empty(&s->acceptq))
		return -EAGAIN; /* the end is told only to who waits (sys/sock.c) */
	*ret_ = list_first(&s->acceptq, struct sock, accept_link);
	list_remove(&(*ret_)->accept_link);
	s->acceptq_len--;
	waitq_wake(&s->space_q, SOCK_POLL_OUT);
	return 0;
}

static int unix_name(struct sock *s, int peer, struct sockname *out)
{
	struct unix_sock *u = unix_sk(s);
	const struct unix_name *n = peer ? u->peer_name : u->name;

	if (peer && !s->peer && !(u->connected && s->type != SOCK_DGRAM))
		return -ENOTCONN;
	if (peer && s->peer && unix_sk(s->peer)->name)
		n = unix_sk(s->peer)->name;
	if (n) {
		*out = n->n;
		return 0;
	}
	out->len = sizeof(sa_family_t);
	out->u.sa.sa_family = AF_UNIX;
	return 0;
}

/* ---- the ends' states ---- */

static int unix_shutdown(struct sock *s, int how)
{
	bool rd = how != SHUT_WR, wr = how != SHUT_RD;

	s->rcv_shut |= rd;
	s->snd_shut |= wr;
	if (s->peer && s->type != SOCK_DGRAM) {
		s->peer->rcv_shut |= wr;
		s->peer->snd_shut |= rd;
		waitq_wake(&s->peer->q, SOCK_POLL_ALL);
	}
	waitq_wake(&s->q, SOCK_POLL_ALL);
	waitq_wake(&s->space_q, SOCK_POLL_ALL);
	return 0;
}

static uint32_t unix_poll(struct sock *s)
{
	struct unix_sock *u = unix_sk(s);
	uint32_t ready = 0;

	if (s->err)
		ready |= POLLERR;
	if (s->rcv_shut && s->snd_shut)
		ready |= POLLHUP;
	if (s->rcv_shut)
		ready |= POLLRDHUP | POLLIN | POLLRDNORM;
	if (!list_is_empty(&s->queue) || !list_is_empty(&s->acceptq))
		ready |= POLLIN | POLLRDNORM;
	if (u->oob)
		ready |= POLLPRI;
	if (s->listening)
		return ready;
	if (s->type != SOCK_DGRAM && !u->connected)
		ready |= POLLHUP;
	if (s->sent_true * 4ull <= s->sndbuf &&
	    !(s->type == SOCK_DGRAM && s->peer && dgram_is_full(u, unix_sk(s->peer))))
		ready |= SOCK_POLL_OUT;
	return ready;
}

static int64_t unix_readable(struct sock *s)
{
	if (s->listening)
		return -EINVAL;
	if (s->type != SOCK_DGRAM || list_is_empty(&s->queue))
		return s->queued;
	return list_first(&s->queue, struct packet, link)->len;
}

static uint32_t unix_unsent(struct sock *s)
{
	return s->sent_true;
}

/* The connected peer of a stream or packet socket that goes away. */
static void peer_hangup(struct sock *s)
{
	struct sock *peer = s->peer;

	if (!peer)
		return;
	peer->peer = NULL;
	peer->rcv_shut = peer->snd_shut = true;
	if (!list_is_empty(&s->queue) || !s->file)
		peer->err = ECONNRESET;
	s->peer = NULL;
	waitq_wake(&peer->q, SOCK_POLL_ALL);
}

static void unix_release(struct sock *s)
{
	struct unix_sock *u = unix_sk(s);

	if (s->type == SOCK_DGRAM) {
		while (!list_is_empty(&u->clients)) {
			struct unix_sock *c =
				list_first(&u->clients, struct unix_sock, client_link);

			list_remove(&c->client_link);
			c->s.peer = NULL;
			c->peer_dead = true;
			waitq_wake(&c->s.q, SOCK_POLL_ALL);
		}
		dgram_disconnect(u);
	} else {
		peer_hangup(s);
	}
	while (!list_is_empty(&s->acceptq)) {
		struct sock *end = list_first(&s->acceptq, struct sock, accept_link);

		list_remove(&end->accept_link);
		end->ops->release(end);
	}
	unix_unbind(u);
	unix_name_put(u->peer_name);
	u->peer_name = NULL;
	bool accepted = s->file;
	list_remove(&u->gc_link);
	sock_fini(s);
	obj_free(&unix_type, u);
	if (accepted)
		unix_gc(false);
}

static const struct sock_ops unix_stream_ops = {
	.bind = unix_bind,
	.connect = unix_stream_connect,
	.listen = unix_listen,
	.accept = unix_accept,
	.name = unix_name,
	.send = unix_stream_send,
	.recv = unix_stream_recv,
	.atmark = unix_atmark,
	.shutdown = unix_shutdown,
	.poll = unix_poll,
	.readable = unix_readable,
	.unsent = unix_unsent,
	.pair = unix_pair,
	.release = unix_release,
};

static const struct sock_ops unix_dgram_ops = {
	.bind = unix_bind,
	.connect = unix_dgram_connect,
	.name = unix_name,
	.send = unix_dgram_send,
	.recv = unix_dgram_recv,
	.shutdown = unix_shutdown,
	.poll = unix_poll,
	.readable = unix_readable,
	.unsent = unix_unsent,
	.pair = unix_pair,
	.release = unix_release,
};

static const struct sock_ops unix_seqpacket_ops = {
	.bind = unix_bind,
	.connect = unix_stream_connect,
	.listen = unix_listen,
	.accept = unix_accept,
	.name = unix_name,
	.send = unix_dgram_send,
	.recv = unix_dgram_recv,
	.shutdown = unix_shutdown,
	.poll = unix_poll,
	.readable = unix_readable,
	.unsent = unix_unsent,
	.pair = unix_pair,
	.release = unix_release,
};
