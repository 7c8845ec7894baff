/* TCP connections to the outside of the cell.
 *
 * The gate makes them (gate.h) and hands over a descriptor of the host, from which bytes go
 * straight to the guest and back; the host's TCP has the buffers, the window and the timers, and
 * its errors and readiness are told as they are. Until then the sock is in SYN_SENT. A connection
 * may be held: it is made, but the gate wants to see what the client says first, which goes to it
 * in messages, one at a time.
 *
 * A sock that is connected to the outside has these ops; it gets those of tcp.c back when it is
 * disconnected. Options that the host's TCP should know are passed on (outside_opt.c). Left out:
 * urgent data, which is refused; a close that waits for its bytes to be sent (SO_LINGER with a
 * time), since that would block the cell. */
#include "kernel/net/outside.h"

#include <errno.h>
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/arena.h"
#include "host/host.h"
#include "host/sockopt.h"
#include "kernel/net/budget.h"
#include "kernel/net/inet.h"
#include "kernel/net/route.h"
#include "kernel/platform/uio.h"
#include "kernel/task/clock.h"
#include "kernel/task/observe.h"
#include "kernel/task/timer.h"

#define CHUNK 65536u
#define SNDBUF_SHOWN 87040u /* what Linux makes of it at first, if it was not set */

OBJ_TYPE(outside_type, struct outside, 16384);

static char chunk[CHUNK];
static struct gate_msg msg; /* too large for the stack */
static const struct gate_ops outside_gate_ops;

/* ---- the rate ---- */

static struct list slow = LIST_INIT(slow);
static void slow_wake(struct ktimer *timer);
KTIMER(slow_timer, slow_wake);

static void slow_wake(struct ktimer *timer)
{
	struct list now = LIST_INIT(now);

	(void)timer;
	/* Who is woken may wait again. */
	while (!list_is_empty(&slow)) {
		struct outside *o = list_first(&slow, struct outside, slow);

		list_remove(&o->slow);
		list_append(&now, &o->slow);
	}
	while (!list_is_empty(&now)) {
		struct outside *o = list_first(&now, struct outside, slow);

		list_remove(&o->slow);
		waitq_wake(&o->i->s.q, SOCK_POLL_ALL);
	}
}

/* Nothing can be moved now; it is told when it can. */
static void slow_add(struct outside *o, bool out)
{
	int64_t at = now_mono() + budget_wait(out);

	if (list_is_empty(&o->slow))
		list_append(&slow, &o->slow);
	if (!ktimer_is_started(&slow_timer) || slow_timer.expires > at)
		(void)ktimer_start(&slow_timer, at);
}

/* ---- the host's descriptor ---- */

static void fired(struct hostwatch *w, uint32_t events)
{
	struct outside *o = container_of(w, struct outside, watch);
	uint32_t told = events & (POLLRDHUP | POLLHUP | POLLERR);

	if (events & POLLIN)
		told |= SOCK_POLL_IN;
	/* The host tells all that is true when one thing changes. */
	if (events & POLLOUT && o->full) {
		o->full = false;
		told |= POLLOUT | POLLWRNORM;
	}
	if (told)
		waitq_wake(&o->i->s.q, told);
}

static void socket_close(struct outside *o)
{
	if (o->fd < 0)
		return;
	hostwatch_fini(&o->watch);
	host_close(o->fd);
	o->fd = -1;
}

/* Closing it is a reset. */
static void socket_abort(struct outside *o)
{
	static const struct linger now = { .l_onoff = 1 };

	if (o->fd >= 0 && o->tcp)
		(void)host_setsockopt(o->fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
}

void outside_drop(struct inet_sock *i)
{
	struct outside *o = i->out;

	if (!o)
		return;
	i->out = NULL;
	i->s.ops = &tcp_ops;
	if (o->was_open)
		observe(disconnected, true, &i->raddr, i->rport, i->bytes_in, i->bytes_out,
			o->number);
	budget_give();
	gate_forget(&o->call);
	if (i->abort || (i->s.linger_on && !i->s.linger_secs))
		socket_abort(o);
	socket_close(o);
	list_remove(&o->slow);
	obj_free(&outside_type, o);
}

/* It has failed, or the other side broke it off; err 0: it ended. */
static void fail(struct outside *o, int err)
{
	struct sock *s = &o->i->s;

	gate_forget(&o->call);
	socket_close(o);
	o->state = OUT_FAILED;
	s->err = err;
	o->i->state = TCPS_CLOSE;
	s->rcv_shut = s->snd_shut = true;
	waitq_wake(&s->q, SOCK_POLL_ALL);
}

/* What the host's TCP has come to. */
static void state_sync(struct outside *o)
{
	uint8_t state;

	if (o->state == OUT_OPEN && o->tcp &&
	    host_getsockopt(o->fd, IPPROTO_TCP, TCP_INFO, &state, 1) == 1)
		o->i->state = state;
}

/* Takes fd. */
static void opened(struct outside *o, int fd)
{
	struct sock *s = &o->i->s;
	uint8_t state;

	o->state = OUT_OPEN;
	o->was_open = true;
	o->fd = fd;
	o->full = true;
	o->tcp = host_getsockopt(fd, IPPROTO_TCP, TCP_INFO, &state, 1) == 1;
	hostwatch_init(&o->watch, fd, fired);
	if (hostwatch_last(&o->watch, POLLIN | POLLOUT | POLLRDHUP) < 0) {
		fail(o, ENOBUFS);
		return;
	}
	outside_pass_all(o);
	if (s->rcv_shut)
		(void)host_shutdown(fd, SHUT_RD);
	if (!s->sndbuf_set)
		s->sndbuf = SNDBUF_SHOWN;
	o->i->state = TCPS_ESTABLISHED;
	waitq_wake(&s->q, SOCK_POLL_ALL);
}

/* ---- what the gate says ---- */

static void answered(struct gate_call *c, const struct gate_msg *m, int fd)
{
	struct outside *o = container_of(c, struct outside, call);
	bool held = o->state == OUT_HELD;

	if (m->type == GATE_OPEN && fd >= 0 && (held || o->state == OUT_ASKED)) {
		opened(o, fd);
		return;
	}
	if (fd >= 0)
		host_close(fd);
	if (m->type == GATE_HELD && (held ? o->said : o->state == OUT_ASKED)) {
		o->state = OUT_HELD;
		o->said = false;
		o->i->state = TCPS_ESTABLISHED;
		waitq_wake(&o->i->s.q, SOCK_POLL_ALL);
	} else if (o->state == OUT_OPEN) {
		socket_abort(o); /* the policy has changed */
		fail(o, ECONNRESET);
	} else if (m->type != GATE_FAIL) {
		fail(o, EPROTO);
	} else if (held) {
		/* An end in order: a connect() that has not seen its result yet succeeds. */
		if (!m->err)
			o->i->connected = true;
		fail(o, m->err ? ECONNRESET : 0);
	} else {
		fail(o, m->err > 0 && m->err < 4096 ? m->err : EACCES);
	}
}

static void lost(struct gate_call *c)
{
	struct outside *o = container_of(c, struct outside, call);

	fail(o, o->state == OUT_ASKED ? ENETUNREACH : ECONNRESET);
}

static const struct gate_ops outside_gate_ops = { .answer = answered, .lost = lost, .stays = true };

/* ---- connecting ---- */

static const struct sock_ops outside_ops;

static struct outside *outside_new(struct inet_sock *i)
{
	struct outside *o = obj_new(&outside_type);

	if (!o)
		return NULL;
	o->i = i;
	o->fd = -1;
	o->watch.fd = -1;
	list_init(&o->slow);
	return o;
}

static void outside_give(struct outside *o, enum tcp_state state)
{
	o->i->out = o;
	o->i->s.ops = &outside_ops;
	o->i->state = state;
}

int outside_connect(struct inet_sock *i, struct task *t, const struct ipaddr *dst, uint16_t port)
{
	struct outside *o = outside_new(i);
	int r;

	if (!o)
		return -ENOBUFS;
	r = budget_take();
	if (r < 0)
		goto out_free;
	gate_connect_fill(&msg, t, dst, port, IPPROTO_TCP);
	r = gate_ask(&o->call, &outside_gate_ops, &msg);
	if (r < 0)
		goto out_give;
	o->number = o->call.id;
	outside_give(o, TCPS_SYN_SENT);
	return 0;
out_give:
	budget_give();
out_free:
	obj_free(&outside_type, o);
	return r;
}

int outside_adopt(struct inet_sock *i, int fd)
{
	struct outside *o = outside_new(i);

	if (!o)
		return -ENOBUFS;
	if (budget_take() < 0) {
		obj_free(&outside_type, o);
		return -ENOBUFS;
	}
	outside_give(o, TCPS_ESTABLISHED);
	i->connected = true;
	opened(o, fd);
	return 0;
}

static int64_t host_error(struct outside *o)
{
	int err = 0;

	return o->fd >= 0 && host_getsockopt(o->fd, SOL_SOCKET, SO_ERROR, &err, sizeof(err)) > 0
		       ? err
		       : 0;
}

/* A further connect(): how the first went, or back to a fresh socket. */
static int outside_reconnect(struct sock *s, struct task *t, const struct sockname *n,
			     bool nonblock, struct waitq **ret_q)
{
	struct outside *o = inet_sk(s)->out;

	state_sync(o);
	if (inet_sk(s)->connecting && inet_sk(s)->state == TCPS_CLOSE && !s->err)
		s->err = (int)host_error(o);
	return tcp_connect(s, t, n, nonblock, ret_q);
}

static int outside_name(struct sock *s, int which, struct sockname *out)
{
	state_sync(inet_sk(s)->out);
	return inet_name(s, which, out);
}

/* ---- bytes ---- */

/* To the gate, which looks at them; until it has, it takes no more. */
static int64_t first_send(struct outside *o, struct uio *u)
{
	size_t max = MIN((size_t)GATE_BYTES, (size_t)(GATE_FIRST_MAX - o->first));
	int64_t n;

	if (!u->left)
		return 0;
	if (o->said || !max)
		return -EAGAIN;
	max = (size_t)budget_out(max);
	if (!max)
		return -EDQUOT;
	n = uio_take(u, msg.bytes, MIN(u->left, max));
	if (n <= 0)
		return -EFAULT;
	memset(&msg, 0, GATE_HEAD);
	msg.type = GATE_FIRST;
	msg.nbytes = (uint32_t)n;
	if (gate_more(&o->call, &msg) < 0) {
		uio_back(u, (size_t)n);
		return -ENOBUFS;
	}
	o->first += (uint32_t)n;
	o->said = true;
	o->i->bytes_out += (uint64_t)n;
	budget_moved(0, (uint64_t)n);
	return n;
}

static int64_t outside_send(struct sock *s, struct uio *u, struct sockmsg *m)
{
	struct inet_sock *i = inet_sk(s);
	struct outside *o = i->out;
	int flags = MSG_DONTWAIT | MSG_NOSIGNAL | (int)(m->flags & MSG_MORE);
	int64_t moved = 0;

	if (o->state == OUT_ASKED)
		return -EAGAIN;
	if (s->err)
		return -sock_take_err(s);
	if (s->snd_shut)
		return -EPIPE;
	if (m->flags & MSG_OOB)
		return -EOPNOTSUPP;
	if (o->state == OUT_HELD)
		return first_send(o, u);
	/* Nothing to send still tells an error. */
	if (!u->left)
		return host_send(o->fd, chunk, 0, flags);
	while (u->left) {
		uint64_t max = budget_out(MIN(u->left, (uint64_t)CHUNK));
		const void *at;
		int64_t n, sent;

		if (!max)
			return moved ? moved : -EDQUOT;
		max = budget_rate_out(max);
		if (!max) {
			slow_add(o, true);
			return moved ? moved : -EAGAIN;
		}
		n = uio_take_at(u, chunk, max, &at);
		if (n <= 0)
			return moved ? moved : -EFAULT;
		sent = host_send(o->fd, at, (size_t)n, flags);
		if (sent < n) {
			uio_back(u, (size_t)(n - MAX(sent, (int64_t)0)));
			o->full = true;
		}
		if (sent < 0)
			return moved ? moved : sent;
		moved += sent;
		i->bytes_out += (uint64_t)sent;
		budget_moved(0, (uint64_t)sent);
	}
	return moved;
}

static int64_t outside_recv(struct sock *s, struct uio *u, struct sockmsg *m)
{
	struct inet_sock *i = inet_sk(s);
	struct outside *o = i->out;
	size_t n = (size_t)MIN(u->left, (uint64_t)CHUNK);
	void *at = chunk;
	int64_t got;

	if (m->flags & MSG_ERRQUEUE)
		return -EAGAIN;
	if (m->flags & MSG_OOB)
		return -EINVAL;
	if (o->state != OUT_OPEN) {
		if (s->err)
			return -sock_take_err(s);
		return s->rcv_shut ? 0 : -EAGAIN;
	}
	if (n && !(n = (size_t)budget_in(n)))
		return -EDQUOT;
	if (n && !(n = (size_t)budget_rate_in(n))) {
		slow_add(o, false);
		return -EAGAIN;
	}
	if (n && !(m->flags & MSG_TRUNC))
		at = uio_room(u, chunk, &n);
	got = host_recv(o->fd, at, n, MSG_DONTWAIT | (int)(m->flags & MSG_PEEK));
	if (got == 0 && n && i->state == TCPS_ESTABLISHED)
		i->state = TCPS_CLOSE_WAIT;
	if (got <= 0)
		return got;
	m->whole = (uint64_t)got;
	if (!(m->flags & MSG_PEEK)) {
		i->bytes_in += (uint64_t)got;
		budget_moved((uint64_t)got, 0);
	}
	if (m->flags & MSG_TRUNC) {
		u->left -= (uint64_t)got;
		return got;
	}
	return uio_put_at(u, at, chunk, (size_t)got);
}

/* ---- state ---- */

static int64_t outside_readable(struct sock *s);

static uint32_t outside_poll(struct sock *s)
{
	struct outside *o = inet_sk(s)->out;
	struct pollfd p = { .fd = o->fd, .events = POLLIN | POLLOUT | POLLRDHUP };
	uint32_t ready = s->err ? POLLERR : 0, end;

	if (o->state == OUT_ASKED)
		return ready;
	if (o->state == OUT_FAILED)
		return ready | POLLHUP | SOCK_POLL_IN | POLLRDHUP | POLLOUT | POLLWRNORM;
	if (s->rcv_shut)
		ready |= SOCK_POLL_IN | POLLRDHUP;
	if (o->state == OUT_HELD)
		return ready | (o->said || o->first == GATE_FIRST_MAX ? 0 : POLLOUT | POLLWRNORM);
	if (host_poll(&p, 1, 0) < 0)
		return POLLERR;
	/* A pair that the gate has left looks hung up; TCP only is so if both sides are done. */
	if (!o->tcp && !s->snd_shut)
		p.revents &= ~POLLHUP;
	end = (uint32_t)p.revents & (POLLRDHUP | POLLHUP | POLLERR);
	if (!budget_rate_in(CHUNK))
		p.revents &= ~POLLIN, slow_add(o, false);
	if (!budget_rate_out(CHUNK)) {
		slow_add(o, true);
		if (p.revents & POLLOUT)
			return ready | end |
			       (p.revents & POLLIN && s->rcvlowat <= 1 ? SOCK_POLL_IN : 0u);
	}
	if (p.revents & POLLIN && (s->rcvlowat <= 1 || end || outside_readable(s) >= s->rcvlowat))
		ready |= SOCK_POLL_IN;
	if (p.revents & POLLOUT)
		ready |= POLLOUT | POLLWRNORM;
	else
		o->full = true;
	return ready | end;
}

static int outside_shutdown(struct sock *s, int how)
{
	struct inet_sock *i = inet_sk(s);
	struct outside *o = i->out;
	int r = 0;

	if (o->state == OUT_FAILED)
		return -ENOTCONN;
	if (o->state == OUT_ASKED) {
		fail(o, ECONNRESET);
		return 0;
	}
	if (o->state == OUT_HELD && how != SHUT_RD) {
		fail(o, 0); /* it says nothing, which the gate would wait for */
		return 0;
	}
	if (o->state == OUT_OPEN)
		r = host_shutdown(o->fd, how);
	if (how != SHUT_WR)
		s->rcv_shut = true;
	if (how != SHUT_RD)
		s->snd_shut = true;
	if (how != SHUT_RD && !o->tcp)
		i->state = i->state == TCPS_CLOSE_WAIT ? TCPS_LAST_ACK : TCPS_FIN_WAIT2;
	state_sync(o);
	waitq_wake(&s->q, SOCK_POLL_ALL);
	return r;
}

static int outside_setopt(struct sock *s, struct task *t, int level, int opt, const void *v,
			  uint32_t len)
{
	int r = level == SOL_SOCKET ? 0 : inet_setopt(s, t, level, opt, v, len);

	if (r == 0)
		outside_pass(inet_sk(s)->out, level, opt);
	return r;
}

static int outside_getopt(struct sock *s, int level, int opt, struct optval *out)
{
	struct outside *o = inet_sk(s)->out;
	int64_t n;

	if (level == SOL_SOCKET) {
		out->u.i = (int32_t)host_error(o);
		return opt == SO_ERROR ? 0 : -ENOPROTOOPT;
	}
	if (level == IPPROTO_TCP && opt == TCP_INFO && o->state == OUT_OPEN && o->tcp &&
	    out->room >= 0) {
		n = host_getsockopt(o->fd, level, opt, out->u.raw, sizeof(out->u.raw));
		out->len = n > 0 ? (uint32_t)n : 0;
		return n < 0 ? (int)n : 0;
	}
	return inet_getopt(s, level, opt, out);
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

static bool outside_atmark(struct sock *s)
{
	(void)s;
	return false;
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

static int outside_accept(struct sock *s, struct sock **ret_)
{
	(void)s, (void)ret_;
	return -EINVAL;
}

static const struct sock_ops outside_ops = {
	.bind = inet_bind,
	.connect = outside_reconnect,
	.listen = outside_listen,
	.accept = outside_accept,
	.name = outside_name,
	.send = outside_send,
	.recv = outside_recv,
	.shutdown = outside_shutdown,
	.poll = outside_poll,
	.readable = outside_readable,
	.unsent = outside_unsent,
	.setopt = outside_setopt,
	.getopt = outside_getopt,
	.atmark = outside_atmark,
	.release = outside_release,
};
