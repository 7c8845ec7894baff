/* Bytes and messages through sockets: send, recv and their many forms, and read and write for rw.c.
 *
 * A blocking send to a stream goes on until all is taken: what was moved is in call.done. Of
 * sendmmsg only the first message waits: once one was sent, a message that cannot go at once ends
 * the call with the count so far, which callers must expect anyway. recvmmsg counts its finished
 * messages in call.done. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "kernel/abi/time.h"
#include "kernel/platform/guestmem.h"
#include "kernel/sys/handlers.h"
#include "kernel/sys/sockcall.h"
#include "kernel/task/call.h"
#include "kernel/task/clock.h"
#include "kernel/task/task.h"

#define MMSG_MAX 1024u
#define TIMEOUT_SECS_MAX (INT64_MAX / NSEC_PER_SEC / 4)

/* ---- the two movements ---- */

static void msg_init(struct sockmsg *m, struct task *t, unsigned flags)
{
	m->flags = flags;
	m->t = t;
	m->to = NULL;
	m->x = NULL;
	m->from.len = 0;
	m->whole = 0;
	m->out_flags = 0;
	m->wait_q = NULL;
	m->skip = 0;
	m->end = false;
}

/* step: the movement that waits is not told as progress of the call (sendmmsg). */
static int64_t send_run(struct task *t, struct file *f, struct sock *s, struct uio *u,
			struct sockmsg *m, bool step)
{
	bool wait = file_may_block(f) && !(m->flags & MSG_DONTWAIT);
	int64_t done = t->call.resumed && !step ? t->call.done : 0, r;

	uio_skip(u, (uint64_t)done);
	do {
		/* TCP's error stays with the socket when something was sent before it. */
		if (done && s->err && s->family != AF_UNIX)
			return done;
		m->wait_q = NULL;
		r = CHECKED(s->ops)->send(s, u, m);
		done += r > 0 ? r : 0;
	} while (r > 0 && u->left && wait && sock_is_stream(s));
	if (r == -EAGAIN && wait && !(step && done)) {
		if (!step)
			t->call.done = done;
		r = sock_wait(t, f, s, m->wait_q, POLLOUT, s->sndtimeo, -EAGAIN);
		if (r == WAITING)
			return r;
	}
	if (r == -EPIPE && !done && sock_is_stream(s) && !(m->flags & MSG_NOSIGNAL))
		sigpipe_send(t);
	return done ? done : r;
}

int64_t sock_send(struct task *t, struct file *f, struct sock *s, struct uio *u, struct sockmsg *m)
{
	return send_run(t, f, s, u, m, false);
}

/* step: as for send_run; call.done counts messages there. */
static int64_t recv_run(struct task *t, struct file *f, struct sock *s, struct uio *u,
			struct sockmsg *m, bool step)
{
	bool wait = file_may_block(f) && !(m->flags & MSG_DONTWAIT), peek = m->flags & MSG_PEEK;
	bool all = m->flags & MSG_WAITALL && sock_is_stream(s) && !(m->flags & MSG_OOB) && !step;
	int64_t done = t->call.resumed && !step ? t->call.done : 0, r;
	/* A peek that waits for all takes nothing until all is there, as far as that can be. */
	if (all && peek && wait && s->queued < u->left && !s->rcv_shut && !s->err &&
	    s->queued < s->rcvbuf && s->peer) {
		r = sock_wait(t, f, s, NULL, POLLIN, s->rcvtimeo, 0);
		if (r == WAITING)
			return r;
	}
	all = all && !peek;
	uio_skip(u, (uint64_t)done);
	do {
		r = CHECKED(s->ops)->recv(s, u, m);
		done += r > 0 ? r : 0;
	} while (r > 0 && u->left && all && !m->end);
	all = all && !m->end;
	/* A datagram socket that was shut down is at its end only for who waits; the error queue is
	 * never waited for. */
	if (r == -EAGAIN && wait && s->rcv_shut && s->type == SOCK_DGRAM)
		r = 0;
	if (m->flags & MSG_ERRQUEUE && (s->family == AF_INET || s->family == AF_INET6))
		wait = false;
	if (r == -EAGAIN && wait && (!done || all)) {
		if (!step)
			t->call.done = done;
		r = sock_wait(t, f, s, NULL, m->flags & MSG_OOB ? POLLPRI : POLLIN, s->rcvtimeo,
			      -EAGAIN);
		if (r == WAITING)
			return r;
	}
	return done ? done : r;
}

int64_t sock_recv(struct task *t, struct file *f, struct sock *s, struct uio *u, struct sockmsg *m)
{
	return recv_run(t, f, s, u, m, false);
}

/* Linux reads nothing, whatever the state, when nothing is asked for. */
int64_t sock_read_call(struct task *t, struct file *f, struct uio *u, bool nowait)
{
	struct sockmsg m;

	if (!u->left)
		return 0;
	msg_init(&m, t, nowait ? MSG_DONTWAIT : 0);
	return sock_recv(t, f, sock_of(f), u, &m);
}

int64_t sock_write_call(struct task *t, struct file *f, struct uio *u, bool nowait)
{
	struct sockmsg m;

	msg_init(&m, t, nowait ? MSG_DONTWAIT : 0);
	return sock_send(t, f, sock_of(f), u, &m);
}

/* ---- plain forms ---- */

int64_t sys_sendto(struct task *t, const struct sysargs *a)
{
	struct sockname to;
	struct sockmsg m;
	struct sock *s;
	struct file *f;
	struct uio u;
	int r = sock_at(t, ARG_INT(a, 0), &f, &s);

	if (r < 0)
		return r;
	msg_init(&m, t, ARG_UINT(a, 3));
	if (a->a[4]) {
		r = sockname_in(t, a->a[4], ARG_INT(a, 5), &to);
		if (r < 0)
			return r;
		m.to = to.len ? &to : NULL;
	}
	uio_init_guest(&u, t->tid, a->a[1], a->a[2]);
	return sock_send(t, f, s, &u, &m);
}

/* The count that a receive tells: with MSG_TRUNC the whole length of a message. */
static int64_t recv_count(const struct sock *s, const struct sockmsg *m, int64_t r)
{
	return m->flags & MSG_TRUNC && !sock_is_stream(s) ? (int64_t)m->whole : r;
}

int64_t sys_recvfrom(struct task *t, const struct sysargs *a)
{
	struct sockmsg m;
	struct sock *s;
	struct file *f;
	struct uio u;
	int64_t r = sock_at(t, ARG_INT(a, 0), &f, &s);

	if (r < 0)
		return r;
	uio_init_guest(&u, t->tid, a->a[1], a->a[2]);
	msg_init(&m, t, ARG_UINT(a, 3));
	r = sock_recv(t, f, s, &u, &m);
	if (r < 0)
		return r;
	if (a->a[4]) {
		int err = sockname_out(t, a->a[4], a->a[5], &m.from);

		if (err < 0)
			return err;
	}
	return recv_count(s, &m, r);
}

/* ---- with a header ---- */

/* The header of sendmsg and recvmsg and its buffers. The caller calls uio_fini. */
static int msg_read(struct task *t, uaddr_t addr, struct linux_msghdr *h, struct uio *u)
{
	if (guest_get(t->tid, h, addr) < 0)
		return -EFAULT;
	if (!h->name)
		h->namelen = 0;
	if (h->namelen < 0)
		return -EINVAL;
	if (h->iovlen > UIO_MAX_IOV)
		return -EMSGSIZE;
	return uio_init_iov(u, t->tid, h->iov, h->iovlen);
}

static int64_t sendmsg_one(struct task *t, struct file *f, struct sock *s, uaddr_t addr,
			   unsigned flags, bool step)
{
	static struct sock_extra x;
	struct linux_msghdr h;
	struct sockname to;
	struct sockmsg m;
	struct uio u;
	int64_t r = msg_read(t, addr, &h, &u);

	if (r < 0)
		return r;
	msg_init(&m, t, flags);
	memset(&x, 0, offsetof(struct sock_extra, files));
	x.has_cred = false;
	m.x = &x;
	if (h.namelen) {
		r = sockname_in(t, h.name, MIN(h.namelen, (int)sizeof(to.u)), &to);
		m.to = &to;
	}
	if (r == 0 && s->ops->send_check)
		r = CHECKED(s->ops)->send_check(s, &m);
	if (r == 1)
		h.controllen = r = 0;
	/* The files went along with the first bytes already when this is a later run. */
	if (r == 0 && h.controllen && !(t->call.resumed && t->call.done && !step))
		r = control_in(t, s, h.control, h.controllen, &x);
	if (r == 0)
		r = send_run(t, f, s, &u, &m, step);
	extra_drop(&x);
	uio_fini(&u);
	return r;
}

int64_t sys_sendmsg(struct task *t, const struct sysargs *a)
{
	struct sock *s;
	struct file *f;
	int r = sock_at(t, ARG_INT(a, 0), &f, &s);

	return r < 0 ? r : sendmsg_one(t, f, s, a->a[1], ARG_UINT(a, 2), false);
}

static int64_t recvmsg_one(struct task *t, struct file *f, struct sock *s, uaddr_t addr,
			   unsigned flags, bool step)
{
	static struct sock_extra x;
	struct linux_msghdr h;
	struct sockmsg m;
	uint64_t used = 0;
	struct uio u;
	int64_t r = msg_read(t, addr, &h, &u);

	if (r < 0)
		return r;
	msg_init(&m, t, flags);
	memset(&x, 0, offsetof(struct sock_extra, files));
	x.has_cred = x.has_stamp = x.has_dest = x.has_ee = false;
	m.x = &x;
	r = recv_run(t, f, s, &u, &m, step);
	uio_fini(&u);
	if (r < 0) {
		extra_drop(&x);
		return r;
	}
	int err = control_out(t, s, h.control, h.controllen, &x, flags, &used, &m.out_flags);
	if (err < 0)
		return err;
	if (h.name) {
		uint32_t n = MIN((uint32_t)h.namelen, m.from.len);

		if (n && guest_write(t->tid, h.name, &m.from.u, n) < 0)
			return -EFAULT;
		h.namelen = (int32_t)m.from.len;
	}
	h.flags = m.out_flags | (flags & MSG_CMSG_CLOEXEC);
	h.controllen = used;
	/* The pointers and the vector's length stay the guest's own. */
	const struct guest_piece back[] = {
		{ addr + offsetof(struct linux_msghdr, namelen), &h.namelen, 4 },
		{ addr + offsetof(struct linux_msghdr, controllen), &h.controllen, 8 },
		{ addr + offsetof(struct linux_msghdr, flags), &h.flags, 4 },
	};
	if (guest_write_pieces(t->tid, back, ARRAY_LEN(back)) < 0)
		return -EFAULT;
	return recv_count(s, &m, r);
}

int64_t sys_recvmsg(struct task *t, const struct sysargs *a)
{
	struct sock *s;
	struct file *f;
	int r = sock_at(t, ARG_INT(a, 0), &f, &s);

	return r < 0 ? r : recvmsg_one(t, f, s, a->a[1], ARG_UINT(a, 2), false);
}

/* ---- many at once ---- */

#define MMSG_SIZE (sizeof(struct linux_msghdr) + 8)

static int mmsg_len_put(struct task *t, uaddr_t addr, int64_t n)
{
	uint32_t len = (uint32_t)n;

	return guest_put(t->tid, addr + sizeof(struct linux_msghdr), &len);
}

int64_t sys_sendmmsg(struct task *t, const struct sysargs *a)
{
	uint32_t n = MIN(ARG_UINT(a, 2), MMSG_MAX), i;
	struct sock *s;
	struct file *f;
	int64_t r = sock_at(t, ARG_INT(a, 0), &f, &s);

	if (r < 0)
		return r;
	for (i = 0; i < n; i++) {
		uaddr_t at = a->a[1] + i * MMSG_SIZE;

		r = sendmsg_one(t, f, s, at, ARG_UINT(a, 3) | (i ? MSG_DONTWAIT : 0), true);
		if (r < 0)
			break;
		r = mmsg_len_put(t, at, r);
		if (r < 0)
			break;
		if (turn_is_long()) { /* the rest is for another call */
			i++;
			break;
		}
	}
	return i ? i : n ? r : 0;
}

/* Linux looks at this timeout after each message only: nobody is woken by it (recvmmsg(2),
 * BUGS). */
static int mmsg_timeout(struct task *t, uaddr_t addr)
{
	struct linux_timespec ts;

	if (t->call.resumed)
		return 0;
	t->call.until = TIME_NEVER;
	if (!addr)
		return 0;
	if (guest_get(t->tid, &ts, addr) < 0)
		return -EFAULT;
	if (ts.sec < 0 || ts.nsec < 0 || ts.nsec >= NSEC_PER_SEC)
		return -EINVAL;
	t->call.until = ts.sec > TIMEOUT_SECS_MAX ? INT64_MAX / 2
						  : now_mono() + ts.sec * NSEC_PER_SEC + ts.nsec;
	return 0;
}

/* What is left of the time; 0: it is over. */
static int64_t mmsg_left(const struct task *t)
{
	return t->call.until == TIME_NEVER ? TIME_NEVER : MAX(t->call.until - now_mono(), 0);
}

static int mmsg_left_put(struct task *t, uaddr_t addr)
{
	int64_t left = mmsg_left(t);
	struct linux_timespec ts = { left / NSEC_PER_SEC, left % NSEC_PER_SEC };

	return left == TIME_NEVER ? 0 : guest_put(t->tid, addr, &ts);
}

int64_t sys_recvmmsg(struct task *t, const struct sysargs *a)
{
	uint32_t n = MIN(ARG_UINT(a, 2), MMSG_MAX),
		 i = t->call.resumed ? (uint32_t)t->call.done : 0;
	unsigned flags = ARG_UINT(a, 3);
	struct sock *s;
	struct file *f;
	int64_t r = mmsg_timeout(t, a->a[4]);

	if (r == 0)
		r = sock_at(t, ARG_INT(a, 0), &f, &s);
	if (r < 0)
		return r;
	/* What the last call could not tell. */
	if (!t->call.resumed && s->err && !(flags & MSG_ERRQUEUE))
		return -sock_take_err(s);
	if (i && flags & MSG_WAITFORONE)
		flags |= MSG_DONTWAIT;
	for (; i < n; i++) {
		uaddr_t at = a->a[1] + i * MMSG_SIZE;

		t->call.done = i;
		r = recvmsg_one(t, f, s, at, flags & ~(unsigned)MSG_WAITFORONE, true);
		if (r == WAITING)
			return r;
		if (r >= 0)
			r = mmsg_len_put(t, at, r);
		if (r < 0)
			break;
		if (flags & MSG_WAITFORONE)
			flags |= MSG_DONTWAIT;
		/* The time that was left at the last message is told. */
		if (mmsg_left_put(t, a->a[4]) < 0)
			return -EFAULT;
		if (!mmsg_left(t) || turn_is_long()) {
			i++;
			break;
		}
		/* Each message has the socket's whole time to come. */
		if (t->call.has_deadline)
			t->call.deadline = s->rcvtimeo >= TIME_NEVER - now_mono()
						   ? TIME_NEVER
						   : now_mono() + s->rcvtimeo;
	}
	if (!i)
		return n ? r : 0;
	/* An error after the first message is for the next call. */
	if (i < n && r < 0 && r != -EAGAIN)
		s->err = (int)-r;
	return i;
}
