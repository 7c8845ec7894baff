/* Socket calls: making, naming and connecting them. Moving bytes is in sockmsg.c, options are in
 * sockopt.c. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "kernel/platform/guestmem.h"
#include "kernel/sys/handlers.h"
#include "kernel/sys/sockcall.h"
#include "kernel/task/call.h"
#include "kernel/task/proc.h"
#include "kernel/task/task.h"
#include "kernel/vfs/fdtable.h"
#include "kernel/vfs/file.h"

#define SOCK_TYPE_BITS 0xf

int sock_at(struct task *t, int fd, struct file **ret_f, struct sock **ret_)
{
	*ret_f = file_of_call(t, fd);
	if (!*ret_f)
		return -EBADF;
	*ret_ = sock_of(*ret_f);
	return *ret_ ? 0 : -ENOTSOCK;
}

int sockname_in(struct task *t, uaddr_t addr, int len, struct sockname *out)
{
	if (len < 0 || len > (int)sizeof(out->u))
		return -EINVAL;
	memset(&out->u, 0, sizeof(out->u));
	out->len = (uint32_t)len;
	return len ? guest_read(t->tid, &out->u, addr, (size_t)len) : 0;
}

int sockname_out(struct task *t, uaddr_t addr, uaddr_t len_addr, const struct sockname *n)
{
	int32_t room, len = (int32_t)n->len;

	if (guest_get(t->tid, &room, len_addr) < 0)
		return -EFAULT;
	if (room < 0)
		return -EINVAL;
	const struct guest_piece back[] = {
		{ addr, (void *)(uintptr_t)&n->u, MIN((uint32_t)room, n->len) },
		{ len_addr, &len, sizeof(len) },
	};
	return guest_write_pieces(t->tid, back, ARRAY_LEN(back));
}

int64_t sock_wait(struct task *t, struct file *f, struct sock *s, struct waitq *q, uint32_t events,
		  int64_t timeout, int64_t expired)
{
	enum park_kind kind = timeout ? PARK_EINTR : PARK_RESTART;

	if (timeout) {
		call_set_timeout(t, timeout);
		if (call_is_expired(t))
			return expired;
	}
	file_keep(t, f);
	if (events & POLLIN)
		events |= POLLRDNORM;
	if (events & POLLOUT)
		events |= POLLWRNORM;
	if (q)
		(void)call_wait(t, q, events, kind);
	return call_wait(t, &s->q, events, kind);
}

/* ---- making ---- */

static int type_split(unsigned arg, int *type, uint32_t *flags)
{
	unsigned extra = arg & ~(unsigned)SOCK_TYPE_BITS;

	*type = (int)(arg & SOCK_TYPE_BITS);
	if (extra & ~(unsigned)(SOCK_CLOEXEC | SOCK_NONBLOCK))
		return -EINVAL;
	*flags = extra & SOCK_NONBLOCK ? O_NONBLOCK : 0;
	return 0;
}

int64_t sys_socket(struct task *t, const struct sysargs *a)
{
	struct sock *s;
	struct file *f;
	uint32_t flags;
	int type, r = type_split(ARG_UINT(a, 1), &type, &flags);

	if (r == 0)
		r = sock_make(t, ARG_INT(a, 0), type, ARG_INT(a, 2), &s);
	if (r == 0)
		r = sock_file(s, flags, &f);
	return r ? r : fd_give(t, f, ARG_UINT(a, 1) & SOCK_CLOEXEC);
}

/* Two files that are each other's peer. */
static int pair_make(struct task *t, int family, int type, int protocol, uint32_t flags,
		     struct file *ret_[2])
{
	struct sock *s[2];
	int r = sock_make(t, family, type, protocol, &s[0]);

	if (r < 0)
		return r;
	if (!s[0]->ops->pair) {
		CHECKED(s[0]->ops)->release(s[0]);
		return -EOPNOTSUPP;
	}
	r = sock_make(t, family, type, protocol, &s[1]);
	if (r < 0) {
		CHECKED(s[0]->ops)->release(s[0]);
		return r;
	}
	r = sock_file(s[0], flags, &ret_[0]);
	if (r < 0) {
		CHECKED(s[1]->ops)->release(s[1]);
		return r;
	}
	r = sock_file(s[1], flags, &ret_[1]);
	if (r < 0) {
		file_put(ret_[0]);
		return r;
	}
	for (int i = 0; i < 2; i++)
		s[i]->peer_cred = (struct linux_ucred){ t->proc->pid, t->cred.euid, t->cred.egid };
	CHECKED(s[0]->ops)->pair(s[0], s[1]);
	return 0;
}

int64_t sys_socketpair(struct task *t, const struct sysargs *a)
{
	bool cloexec = ARG_UINT(a, 1) & SOCK_CLOEXEC;
	struct file *f[2];
	uint32_t flags;
	int fds[2], type, r = type_split(ARG_UINT(a, 1), &type, &flags);

	if (r == 0)
		r = fd_room(t, 2);
	/* Linux writes the numbers before it makes the sockets. */
	if (r == 0 && (guest_read(t->tid, fds, a->a[3], sizeof(fds)) < 0 ||
		       guest_write(t->tid, a->a[3], fds, sizeof(fds)) < 0))
		r = -EFAULT;
	if (r == 0)
		r = pair_make(t, ARG_INT(a, 0), type, ARG_INT(a, 2), flags, f);
	if (r)
		return r;
	fds[0] = (int)fd_give(t, f[0], cloexec);
	if (fds[0] < 0) {
		file_put(f[1]);
		return fds[0];
	}
	fds[1] = (int)fd_give(t, f[1], cloexec);
	if (fds[1] < 0) {
		(void)!fd_close(t, fds[0]);
		return fds[1];
	}
	if (guest_write(t->tid, a->a[3], fds, sizeof(fds)) < 0) {
		(void)!fd_close(t, fds[0]);
		(void)!fd_close(t, fds[1]);
		return -EFAULT;
	}
	return 0;
}

/* ---- names and connections ---- */

int64_t sys_bind(struct task *t, const struct sysargs *a)
{
	struct sockname n;
	struct sock *s;
	struct file *f;
	int r = sock_at(t, ARG_INT(a, 0), &f, &s);

	if (r == 0)
		r = sockname_in(t, a->a[1], ARG_INT(a, 2), &n);
	if (r < 0)
		return r;
	return s->ops->bind ? CHECKED(s->ops)->bind(s, t, &n) : -EOPNOTSUPP;
}

int64_t sys_listen(struct task *t, const struct sysargs *a)
{
	struct sock *s;
	struct file *f;
	int r = sock_at(t, ARG_INT(a, 0), &f, &s);

	if (r < 0)
		return r;
	return s->ops->listen ? CHECKED(s->ops)->listen(s, t, MIN(ARG_UINT(a, 1), SOCK_BACKLOG_MAX))
			      : -EOPNOTSUPP;
}

int64_t sys_connect(struct task *t, const struct sysargs *a)
{
	struct waitq *q = NULL;
	struct sockname n;
	struct sock *s;
	struct file *f;
	int r = sock_at(t, ARG_INT(a, 0), &f, &s);

	if (r == 0)
		r = sockname_in(t, a->a[1], ARG_INT(a, 2), &n);
	if (r < 0)
		return r;
	if (!s->ops->connect)
		return -EOPNOTSUPP;
	r = CHECKED(s->ops)->connect(s, t, &n, !file_may_block(f), &q);
	if ((r != -EINPROGRESS && r != -EALREADY && r != -EAGAIN) || !file_may_block(f))
		return r;
	/* When the time is over: was it begun by this call or by another? */
	if (!t->call.resumed)
		t->call.done = r;
	return sock_wait(t, f, s, q, POLLOUT, s->sndtimeo, t->call.done);
}

static int64_t accept_do(struct task *t, const struct sysargs *a, unsigned flags)
{
	struct sock *s, *end;
	struct file *f, *made;
	struct sockname n;
	int r, fd;

	if (flags & ~(unsigned)(SOCK_CLOEXEC | SOCK_NONBLOCK))
		return -EINVAL;
	r = sock_at(t, ARG_INT(a, 0), &f, &s);
	if (r == 0)
		r = fd_room(t, 1);
	if (r < 0)
		return r;
	r = s->ops->accept ? CHECKED(s->ops)->accept(s, &end) : -EOPNOTSUPP;
	if (r == -EAGAIN && file_may_block(f) && s->rcv_shut)
		return -EINVAL;
	if (r == -EAGAIN && file_may_block(f))
		return sock_wait(t, f, s, NULL, POLLIN, s->rcvtimeo, -EAGAIN);
	if (r < 0)
		return r;
	r = sock_file(end, flags & SOCK_NONBLOCK ? O_NONBLOCK : 0, &made);
	if (r < 0)
		return r;
	fd = (int)fd_give(t, made, flags & SOCK_CLOEXEC);
	if (fd < 0 || !a->a[1])
		return fd;
	r = CHECKED(end->ops)->name(end, 2, &n);
	if (r == 0)
		r = sockname_out(t, a->a[1], a->a[2], &n);
	if (r < 0) {
		(void)!fd_close(t, fd);
		return r == -ENOTCONN ? -ECONNABORTED : r;
	}
	return fd;
}

int64_t sys_accept(struct task *t, const struct sysargs *a)
{
	return accept_do(t, a, 0);
}

int64_t sys_accept4(struct task *t, const struct sysargs *a)
{
	return accept_do(t, a, ARG_UINT(a, 3));
}

int64_t sys_shutdown(struct task *t, const struct sysargs *a)
{
	struct sock *s;
	struct file *f;
	int r = sock_at(t, ARG_INT(a, 0), &f, &s);

	if (r < 0)
		return r;
	return ARG_UINT(a, 1) > SHUT_RDWR ? -EINVAL : CHECKED(s->ops)->shutdown(s, ARG_INT(a, 1));
}

static int64_t name_get_do(struct task *t, const struct sysargs *a, int which)
{
	struct sockname n;
	struct sock *s;
	struct file *f;
	int r = sock_at(t, ARG_INT(a, 0), &f, &s);

	if (r == 0)
		r = CHECKED(s->ops)->name(s, which, &n);
	return r < 0 ? r : sockname_out(t, a->a[1], a->a[2], &n);
}

int64_t sys_getsockname(struct task *t, const struct sysargs *a)
{
	return name_get_do(t, a, 0);
}

int64_t sys_getpeername(struct task *t, const struct sysargs *a)
{
	return name_get_do(t, a, 1);
}
