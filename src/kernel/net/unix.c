/* AF_UNIX sockets: how they are made, connected, asked and ended. What moves through them is in
 * unix_stream.c and unix_dgram.c.
 *
 * Connected streams and packets know each other by peer, datagrams each its own peer only; a socket
 * that others have as their peer lists them as clients, to tell them when it has room again or goes
 * away. A connection is made at connect(): the other end is a new socket in the listener's accept
 * queue, to which may be written at once. Left out: SO_PEERSEC, SO_PASSPIDFD. */
#include "kernel/net/unix.h"

#include <errno.h>
#include <poll.h>

#include "base/arena.h"
#include "kernel/net/door.h"
#include "kernel/task/proc.h"
#include "kernel/task/task.h"

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

/* ---- connections ---- */

/* The other end, in the accept queue of to. */
static int connect_to(struct unix_sock *u, struct unix_sock *to, struct task *t,
		      struct waitq **ret_q)
{
	struct sock *s = &u->s;
	struct unix_sock *end;

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

static int unix_stream_connect(struct sock *s, struct task *t, const struct sockname *n,
			       bool nonblock, struct waitq **ret_q)
{
	struct unix_sock *u = unix_sk(s), *to;
	int r = unix_name_check(n);

	(void)nonblock;
	if (r == 0 && s->passcred)
		r = unix_autobind(u);
	if (r == 0)
		r = unix_find(s, t, DEST_CONNECT, n, &to);
	if (r == -EREMOTE)
		return door_connect(u, t, ret_q);
	if (r)
		return r;
	r = connect_to(u, to, t, ret_q);
	unix_sock_put(to);
	return r;
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

int unix_name_show(struct sock *s, int peer, struct sockname *out)
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
	    !(s->type == SOCK_DGRAM && s->peer && unix_dgram_is_full(u, unix_sk(s->peer))))
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

void unix_release(struct sock *s)
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
		unix_dgram_disconnect(u);
	} else {
		peer_hangup(s);
	}
	while (!list_is_empty(&s->acceptq)) {
		struct sock *end = list_first(&s->acceptq, struct sock, accept_link);

		list_remove(&end->accept_link);
		CHECKED(end->ops)->release(end);
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
	.name = unix_name_show,
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
	.name = unix_name_show,
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
	.name = unix_name_show,
	.send = unix_dgram_send,
	.recv = unix_dgram_recv,
	.shutdown = unix_shutdown,
	.poll = unix_poll,
	.readable = unix_readable,
	.unsent = unix_unsent,
	.pair = unix_pair,
	.release = unix_release,
};
