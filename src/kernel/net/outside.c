/* TCP connections to the outside of the cell.
 *
 * The gate makes them (gate.h) and hands over a descriptor of the host, from which bytes go
 * straight to the guest and back; the host's TCP has the buffers, the window and the timers. Until
 * then the sock is in SYN_SENT. A connection may be held: it is made, but the gate wants to see
 * what the client says first, which goes to it in messages.
 *
 * A sock that is connected to the outside has these ops; it gets those of tcp.c back when it is
 * disconnected. Options that a guest sets are remembered and have no effect on the host's socket:
 * the gate sets no delay and keep-alive. Urgent data is refused. */
#include <errno.h>
#include <linux/sockios.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/arena.h"
#include "host/host.h"
#include "kernel/net/gate.h"
#include "kernel/net/inet.h"
#include "kernel/net/route.h"
#include "kernel/platform/loop.h"
#include "kernel/platform/uio.h"

#define CHUNK 65536u

enum outside_state {
	OUT_ASKED, /* the gate was asked */
	OUT_HELD, /* connected, and the gate has to see what is said first */
	OUT_OPEN, /* fd is the connection */
};

struct outside {
	struct gate_call call;
	struct inet_sock *i; /* whose it is */
	enum outside_state state;
	uint32_t first; /* bytes that were said while it was held */
	int fd; /* -1: not yet */
	struct hostwatch watch;
	uint32_t armed; /* poll events */
};
OBJ_TYPE(outside_type, struct outside, 16384);

static char chunk[CHUNK];
static struct gate_msg msg; /* too large for the stack */
static const struct gate_ops outside_gate_ops;

/* ---- the host's descriptor ---- */

static void fired(struct hostwatch *w, uint32_t events)
{
	struct outside *o = container_of(w, struct outside, watch);

	(void)events;
	o->armed = 0;
	waitq_wake(&o->i->s.q, SOCK_POLL_ALL);
}

static void arm(struct outside *o, uint32_t events)
{
	if ((o->armed & events) == events)
		return;
	o->armed |= events;
	if (hostwatch_arm(&o->watch, o->armed) < 0)
		o->armed = 0;
}

static void socket_close(struct outside *o)
{
	if (o->fd < 0)
		return;
	hostwatch_fini(&o->watch);
	host_close(o->fd);
	o->fd = -1;
}

void outside_drop(struct inet_sock *i)
{
	struct outside *o = i->out;

	if (!o)
		return;
	i->out = NULL;
	i->s.ops = &tcp_ops;
	gate_forget(&o->call);
	socket_close(o);
	obj_free(&outside_type, o);
}

/* It has failed, or the other side broke it off. */
static void fail(struct outside *o, int err)
{
	struct sock *s = &o->i->s;

	socket_close(o);
	s->err = err;
	o->i->state = TCPS_CLOSE;
	s->rcv_shut = s->snd_shut = true;
	waitq_wake(&s->q, SOCK_POLL_ALL);
}

/* ---- what the gate says ---- */

static void answered(struct gate_call *c, const struct gate_msg *m, int fd)
{
	struct outside *o = container_of(c, struct outside, call);

	if (m->type == GATE_HELD && o->state == OUT_ASKED) {
		o->state = OUT_HELD;
	} else if (m->type == GATE_OPEN && fd >= 0 && o->state != OUT_OPEN) {
		o->state = OUT_OPEN;
		o->fd = fd;
		hostwatch_init(&o->watch, fd, fired);
		fd = -1;
	} else {
		gate_forget(c);
		fail(o, o->state != OUT_ASKED	      ? ECONNRESET
			: m->type != GATE_FAIL	      ? EPROTO
			: m->err > 0 && m->err < 4096 ? m->err
						      : EACCES);
		goto out;
	}
	o->i->state = TCPS_ESTABLISHED;
	waitq_wake(&o->i->s.q, SOCK_POLL_ALL);
out:
	if (fd >= 0)
		host_close(fd);
}

static void lost(struct gate_call *c)
{
	struct outside *o = container_of(c, struct outside, call);

	fail(o, o->state == OUT_ASKED ? ENETUNREACH : ECONNRESET);
}

static const struct gate_ops outside_gate_ops = { .answer = answered, .lost = lost, .stays = true };

/* ---- connecting ---- */

static const struct sock_ops outside_ops;

int outside_connect(struct inet_sock *i, const struct ipaddr *dst, uint16_t port)
{
	struct outside *o = obj_new(&outside_type);
	int r;

	if (!o)
		return -ENOBUFS;
	o->i = i;
	o->fd = -1;
	o->watch.fd = -1;
	memset(&msg, 0, GATE_HEAD);
	msg.type = GATE_CONNECT;
	memcpy(msg.addr, dst->b, sizeof(msg.addr));
	msg.port = port;
	msg.protocol = IPPROTO_TCP;
	r = gate_ask(&o->call, &outside_gate_ops, &msg);
	if (r < 0) {
		obj_free(&outside_type, o);
		return r;
	}
	i->out = o;
	i->s.ops = &outside_ops;
	i->state = TCPS_SYN_SENT;
	return 0;
}

int outside_adopt(struct inet_sock *i, int fd)
{
	struct outside *o = obj_new(&outside_type);

	if (!o)
		return -ENOBUFS;
	o->i = i;
	o->state = OUT_OPEN;
	o->fd = fd;
	hostwatch_init(&o->watch, fd, fired);
	i->out = o;
	i->s.ops = &outside_ops;
	return 0;
}

/* ---- bytes ---- */

/* To the gate, which looks at them. */
static int64_t first_send(struct outside *o, struct uio *u)
{
	int64_t moved = 0;

	while (u->left && o->first < GATE_FIRST_MAX) {
		int64_t n = uio_take(u, msg.bytes,
				     MIN(u->left, MIN((uint64_t)GATE_BYTES,
						      (uint64_t)(GATE_FIRST_MAX - o->first))));

		if (n <= 0)
			return moved ? moved : -EFAULT;
		memset(&msg, 0, GATE_HEAD);
		msg.type = GATE_FIRST;
		msg.nbytes = (uint32_t)n;
		if (gate_more(&o->call, &msg) < 0) {
			uio_back(u, (size_t)n);
			return moved ? moved : -ENOBUFS;
		}
		o->first += (uint32_t)n;
		moved += n;
	}
	return moved ? moved : -EAGAIN;
}

static int64_t outside_send(struct sock *s, struct uio *u, struct sockmsg *m)
{
	struct inet_sock *i = inet_sk(s);
	struct outside *o = i->out;
	int64_t moved = 0;

	if (i->state == TCPS_SYN_SENT)
		return -EAGAIN;
	if (s->err)
		return -sock_take_err(s);
	if (s->snd_shut)
		return -EPIPE;
	if (m->flags & MSG_OOB)
		return -EOPNOTSUPP;
	if (o->state == OUT_HELD)
		return u->left ? first_send(o, u) : 0;
	while (u->left) {
		const void *at;
		int64_t n = uio_take_at(u, chunk, MIN(u->left, (uint64_t)CHUNK), &at), sent;

		if (n <= 0)
			return moved ? moved : -EFAULT;
		sent = host_send(o->fd, at, (size_t)n, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (sent < n)
			uio_back(u, (size_t)(n - MAX(sent, (int64_t)0)));
		if (sent < 0) {
			if (sent == -EAGAIN)
				arm(o, POLLOUT);
			return moved ? moved : sent;
		}
		moved += sent;
		i->bytes_out += (uint64_t)sent;
	}
	return moved;
}

static int64_t outside_recv(struct sock *s, struct uio *u, struct sockmsg *m)
{
	struct inet_sock *i = inet_sk(s);
	struct outside *o = i->out;
	size_t n = (size_t)MIN(u->left, (uint64_t)CHUNK);
	void *at;
	int64_t got;

	if (m->flags & MSG_OOB)
		return -EINVAL;
	if (m->flags & MSG_ERRQUEUE)
		return -EAGAIN;
	if (o->state != OUT_OPEN || o->fd < 0) {
		if (s->err)
			return -sock_take_err(s);
		return s->rcv_shut ? 0 : i->state == TCPS_CLOSE ? -ENOTCONN : -EAGAIN;
	}
	if (s->rcv_shut)
		return 0;
	if (!n)
		return 0;
	at = m->flags & MSG_TRUNC ? chunk : uio_room(u, chunk, &n);
	got = host_recv(o->fd, at, n, MSG_DONTWAIT | (int)(m->flags & MSG_PEEK));
	if (got == -EAGAIN)
		arm(o, POLLIN);
	if (got == 0)
		i->fin = true;
	if (got <= 0)
		return got;
	m->whole = (uint64_t)got;
	if (!(m->flags & MSG_PEEK))
		i->bytes_in += (uint64_t)got;
	if (m->flags & MSG_TRUNC) {
		u->left -= (uint64_t)got;
		return got;
	}
	return uio_put_at(u, at, chunk, (size_t)got);
}

/* ---- state ---- */

static uint32_t outside_poll(struct sock *s)
{
	struct inet_sock *i = inet_sk(s);
	struct outside *o = i->out;
	uint32_t ready = s->err ? POLLERR : 0;
	struct pollfd p;

	if (i->state == TCPS_CLOSE)
		return ready | POLLHUP | SOCK_POLL_IN | POLLRDHUP | POLLOUT | POLLWRNORM;
	if (o->state == OUT_HELD)
		return ready | (o->first < GATE_FIRST_MAX ? POLLOUT | POLLWRNORM : 0);
	if (o->state != OUT_OPEN)
		return ready;
	p = (struct pollfd){ .fd = o->fd, .events = POLLIN | POLLOUT | POLLRDHUP };
	if (host_poll(&p, 1, 0) < 0)
		return POLLERR;
	if (p.revents & POLLIN)
		ready |= SOCK_POLL_IN;
	if (p.revents & POLLOUT)
		ready |= POLLOUT | POLLWRNORM;
	ready |= (uint32_t)p.revents & (POLLRDHUP | POLLHUP | POLLERR);
	if (s->rcv_shut)
		ready |= SOCK_POLL_IN | POLLRDHUP;
	/* What it is not yet may become of it; who waits for that is woken. */
	arm(o, (ready & POLLIN ? 0 : POLLIN) | (ready & POLLOUT ? 0 : POLLOUT) |
		       (ready & POLLRDHUP ? 0 : POLLRDHUP));
	return ready;
}

static int outside_shutdown(struct sock *s, int how)
{
	struct inet_sock *i = inet_sk(s);
	struct outside *o = i->out;

	if (i->state == TCPS_CLOSE)
		return -ENOTCONN;
	if (i->state == TCPS_SYN_SENT) {
		fail(o, 0);
		return 0;
	}
	if (o->state == OUT_OPEN)
		(void)host_shutdown(o->fd, how);
	else if (how != SHUT_RD)
		fail(o, 0); /* it says nothing, which the gate would wait for */
	if (how != SHUT_WR)
		s->rcv_shut = true;
	if (how != SHUT_RD) {
		s->snd_shut = true;
		i->state = i->fin ? TCPS_LAST_ACK : TCPS_FIN_WAIT2;
	}
	waitq_wake(&s->q, SOCK_POLL_ALL);
	return 0;
}

static int64_t count_of(struct sock *s, unsigned long cmd)
{
	struct outside *o = inet_sk(s)->out;
	int n = 0;

	return o->fd >= 0 && host_ioctl(o->fd, cmd, &n) == 0 && n > 0 ? n : 0;
}

static int64_t outside_readable(struct sock *s)
{
	return count_of(s, FIONREAD);
}

static uint32_t outside_unsent(struct sock *s)
{
	return (uint32_t)count_of(s, SIOCOUTQ);
}

static void outside_release(struct sock *s)
{
	struct inet_sock *i = inet_sk(s);

	outside_drop(i);
	inet_free(i);
}

static int outside_listen(struct sock *s, struct task *t, uint32_t backlog)
{
	(void)s, (void)t, (void)backlog;
	return -EINVAL;
}

static const struct sock_ops outside_ops = {
	.bind = inet_bind,
	.connect = tcp_connect,
	.listen = outside_listen,
	.name = inet_name,
	.send = outside_send,
	.recv = outside_recv,
	.shutdown = outside_shutdown,
	.poll = outside_poll,
	.readable = outside_readable,
	.unsent = outside_unsent,
	.setopt = inet_setopt,
	.getopt = inet_getopt,
	.release = outside_release,
};
