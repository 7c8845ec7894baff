/* Socket calls. The only sockets so far are the connected pairs that socketpair() makes (net/unixpair); socket() itself
 * answers that it knows no address family. SO_RCVTIMEO and SO_SNDTIMEO are accepted and have no effect. */
#include <errno.h>
#include <linux/capability.h>
#include <linux/sockios.h>
#include <string.h>
#include <sys/socket.h>

#include "kernel/net/unixpair.h"
#include "kernel/platform/guestmem.h"
#include "kernel/sys/file_util.h"
#include "kernel/sys/handlers.h"

#define SOCK_TYPE_BITS 0xf
#define SOCK_MAX_TYPE 11
#define CONTROL_MAX 8192u

int64_t sys_socket(struct task *t, const struct sysargs *a)
{
	(void)t, (void)a;
	return -EAFNOSUPPORT;
}

/* -EBADF, -ENOTSOCK. *ret_f borrowed. */
static int sock_at(struct task *t, int fd, struct file **ret_f, struct unixpair **ret_)
{
	*ret_f = file_of_call(t, fd);
	if (!*ret_f)
		return -EBADF;
	*ret_ = unixpair_of(*ret_f);
	return *ret_ ? 0 : -ENOTSOCK;
}

/* ---- socketpair ---- */

static int pair_check(int family, int *type, int protocol)
{
	if (family == AF_INET || family == AF_INET6 || family == AF_NETLINK)
		return -EOPNOTSUPP;
	if (family != AF_UNIX)
		return -EAFNOSUPPORT;
	if (*type >= SOCK_MAX_TYPE)
		return -EINVAL;
	if (protocol && protocol != AF_UNIX)
		return -EPROTONOSUPPORT;
	if (*type == SOCK_RAW)
		*type = SOCK_DGRAM;
	return *type == SOCK_STREAM || *type == SOCK_DGRAM || *type == SOCK_SEQPACKET ?
		       0 : -ESOCKTNOSUPPORT;
}

int64_t sys_socketpair(struct task *t, const struct sysargs *a)
{
	int type = ARG_INT(a, 1) & SOCK_TYPE_BITS;
	unsigned flags = ARG_UINT(a, 1) & ~(unsigned)SOCK_TYPE_BITS;
	bool cloexec = flags & SOCK_CLOEXEC;
	struct file *x, *y;
	int fds[2], r;

	if (flags & ~(unsigned)(SOCK_CLOEXEC | SOCK_NONBLOCK))
		return -EINVAL;
	r = fd_room(t, 2);
	if (r == 0)
		r = pair_check(ARG_INT(a, 0), &type, ARG_INT(a, 2));
	if (r == 0)
		r = unixpair_make(t, type, flags & SOCK_NONBLOCK ? O_NONBLOCK : 0, &x, &y);
	if (r < 0)
		return r;
	fds[0] = (int)fd_give(t, x, cloexec);
	if (fds[0] < 0) {
		file_put(y);
		return fds[0];
	}
	fds[1] = (int)fd_give(t, y, cloexec);
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

/* ---- send ---- */

static void extra_drop(struct unixpair_extra *x)
{
	while (x->nfiles)
		file_put(x->files[--x->nfiles]);
}

static int64_t sock_send(struct task *t, struct file *f, struct unixpair *s, struct uio *u,
			 unsigned flags, struct unixpair_extra *x)
{
	bool wait = file_may_block(f) && !(flags & MSG_DONTWAIT);
	int64_t done = t->call.resumed ? t->call.done : 0, r;

	if (flags & MSG_OOB)
		return -EOPNOTSUPP;
	uio_skip(u, (uint64_t)done);
	do {
		r = unixpair_send(s, u, x);
		done += r > 0 ? r : 0;
	} while (r > 0 && u->left && wait);
	if (r == -EAGAIN && wait) {
		t->call.done = done;
		return file_park(t, f, POLLOUT);
	}
	if (r == -EPIPE && !done && !unixpair_is_message(f) && !(flags & MSG_NOSIGNAL))
		sigpipe_send(t);
	return done ? done : r;
}

/* A pair is connected for good: an address is refused as Linux refuses it. */
static int addr_check(struct task *t, const struct file *f, uaddr_t addr, int len)
{
	uint16_t family;

	if (!addr || !len)
		return 0;
	if (len < 0 || len > (int)sizeof(struct sockaddr_storage))
		return -EINVAL;
	if (!unixpair_is_message(f) || unixpair_type(unixpair_of(f)) == SOCK_SEQPACKET)
		return unixpair_is_message(f) ? 0 : -EISCONN;
	if (len < (int)sizeof(family))
		return -EINVAL;
	if (guest_get(t->tid, &family, addr) < 0)
		return -EFAULT;
	return family == AF_UNIX ? -ECONNREFUSED : -EINVAL;
}

int64_t sys_sendto(struct task *t, const struct sysargs *a)
{
	struct unixpair *s;
	struct file *f;
	struct uio u;
	int r = sock_at(t, ARG_INT(a, 0), &f, &s);

	if (r == 0)
		r = addr_check(t, f, a->a[4], ARG_INT(a, 5));
	if (r < 0)
		return r;
	uio_init_guest(&u, t->tid, a->a[1], a->a[2]);
	return sock_send(t, f, s, &u, ARG_UINT(a, 3), NULL);
}

static int cmsg_rights(struct task *t, const char *data, size_t len, struct unixpair_extra *x)
{
	for (size_t i = 0; i + sizeof(int) <= len; i += sizeof(int)) {
		struct file *f;
		int fd;

		memcpy(&fd, data + i, sizeof(fd));
		if (x->nfiles == UNIXPAIR_MAX_FILES)
			return -EINVAL;
		f = fd_file_or_path(t, fd);
		if (!f)
			return -EBADF;
		x->files[x->nfiles++] = file_get(f);
	}
	return 0;
}

static int cmsg_cred(struct task *t, const char *data, size_t len, struct unixpair_extra *x)
{
	const struct cred *c = &t->cred;
	struct linux_ucred *u = &x->cred;

	if (len != sizeof(*u))
		return -EINVAL;
	memcpy(u, data, sizeof(*u));
	if (u->pid != t->proc->pid && !cred_has_cap(c, CAP_SYS_ADMIN))
		return -EPERM;
	if (u->uid != c->uid && u->uid != c->euid && u->uid != c->suid && !cred_has_cap(c, CAP_SETUID))
		return -EPERM;
	if (u->gid != c->gid && u->gid != c->egid && u->gid != c->sgid && !cred_has_cap(c, CAP_SETGID))
		return -EPERM;
	x->has_cred = true;
	return 0;
}

/* The control messages of a sendmsg. On failure what was taken so far is the caller's to drop. */
static int cmsgs_parse(struct task *t, const char *buf, size_t size, struct unixpair_extra *x)
{
	struct linux_cmsghdr h;
	size_t at = 0;
	int r = 0;

	while (r == 0 && size - at >= sizeof(h)) {
		memcpy(&h, buf + at, sizeof(h));
		if (h.len < sizeof(h) || h.len > size - at)
			return -EINVAL;
		const char *data = buf + at + sizeof(h);
		size_t len = h.len - sizeof(h);
		if (h.level == SOL_SOCKET) {
			if (h.type == SCM_RIGHTS)
				r = cmsg_rights(t, data, len, x);
			else if (h.type == SCM_CREDENTIALS)
				r = cmsg_cred(t, data, len, x);
			else
				r = -EINVAL;
		}
		size_t step = ALIGN_UP(h.len, 8ul);
		if (step > size - at)
			break;
		at += step;
	}
	return r;
}

/* The header of sendmsg and recvmsg and its buffers. The caller calls uio_fini. */
static int msg_read(struct task *t, uaddr_t addr, struct linux_msghdr *m, struct uio *u)
{
	int r;

	if (guest_get(t->tid, m, addr) < 0)
		return -EFAULT;
	if (m->namelen < 0)
		return -EINVAL;
	if (m->iovlen > UIO_MAX_IOV)
		return -EMSGSIZE;
	r = uio_init_iov(u, t->tid, m->iov, m->iovlen);
	return r;
}

static int64_t sendmsg_do(struct task *t, const struct sysargs *a, struct file *f, struct unixpair *s,
			  const struct linux_msghdr *m, struct uio *u)
{
	static struct unixpair_extra x;
	static char control[CONTROL_MAX];
	int64_t r = addr_check(t, f, m->name, m->namelen);

	if (r < 0)
		return r;
	/* The files went along with the first bytes already when this is a later run. */
	bool extra = m->control && m->controllen && !(t->call.resumed && t->call.done);
	x.nfiles = 0;
	x.has_cred = false;
	if (extra) {
		if (m->controllen > sizeof(control))
			return -ENOBUFS;
		if (guest_read(t->tid, control, m->control, m->controllen) < 0)
			return -EFAULT;
		r = cmsgs_parse(t, control, m->controllen, &x);
	}
	if (r == 0)
		r = sock_send(t, f, s, u, ARG_UINT(a, 2), &x);
	extra_drop(&x);
	return r;
}

int64_t sys_sendmsg(struct task *t, const struct sysargs *a)
{
	struct linux_msghdr m;
	struct unixpair *s;
	struct file *f;
	struct uio u;
	int64_t r = sock_at(t, ARG_INT(a, 0), &f, &s);

	if (r == 0)
		r = msg_read(t, a->a[1], &m, &u);
	if (r < 0)
		return r;
	r = sendmsg_do(t, a, f, s, &m, &u);
	uio_fini(&u);
	return r;
}

/* ---- receive ---- */

/* *ret_whole: as unixpair_recv gives it. */
static int64_t sock_recv(struct task *t, struct file *f, struct unixpair *s, struct uio *u,
			 unsigned flags, uint64_t *ret_whole, struct unixpair_extra *x)
{
	bool wait = file_may_block(f) && !(flags & MSG_DONTWAIT), peek = flags & MSG_PEEK;
	bool all = flags & MSG_WAITALL && !peek && !unixpair_is_message(f);
	int64_t done = t->call.resumed ? t->call.done : 0, r;

	if (flags & MSG_OOB)
		return unixpair_is_message(f) ? -EOPNOTSUPP : -EINVAL;
	uio_skip(u, (uint64_t)done);
	do {
		r = unixpair_recv(s, u, peek, ret_whole, x);
		done += r > 0 ? r : 0;
	} while (r > 0 && u->left && all && !(x && x->nfiles));
	if (r == -EAGAIN && wait && (!done || all)) {
		t->call.done = done;
		return file_park(t, f, POLLIN);
	}
	return done ? done : r;
}

int64_t sys_recvfrom(struct task *t, const struct sysargs *a)
{
	unsigned flags = ARG_UINT(a, 3);
	struct unixpair *s;
	uint64_t whole;
	struct file *f;
	struct uio u;
	int64_t r = sock_at(t, ARG_INT(a, 0), &f, &s);

	if (r < 0)
		return r;
	uio_init_guest(&u, t->tid, a->a[1], a->a[2]);
	r = sock_recv(t, f, s, &u, flags, &whole, NULL);
	if (r < 0)
		return r;
	/* The peer has no name. */
	if (a->a[4] && a->a[5] && guest_put(t->tid, a->a[5], &(int32_t){ 0 }) < 0)
		return -EFAULT;
	return flags & MSG_TRUNC && unixpair_is_message(f) ? (int64_t)whole : r;
}

struct control_out {
	char buf[CONTROL_MAX];
	size_t used, size;
	bool cut;
};

/* Room for a control message with up to len bytes of data: how many there is room for, 0 with cut set. */
static size_t control_begin(struct control_out *c, int type, size_t len, char **ret_data)
{
	struct linux_cmsghdr h = { .level = SOL_SOCKET, .type = type };
	size_t at = c->used;

	if (c->size - at <= sizeof(h) || at + sizeof(h) > sizeof(c->buf)) {
		c->cut = true;
		return 0;
	}
	if (len > c->size - at - sizeof(h)) {
		len = c->size - at - sizeof(h);
		c->cut = true;
	}
	h.len = sizeof(h) + len;
	memcpy(c->buf + at, &h, sizeof(h));
	*ret_data = c->buf + at + sizeof(h);
	memset(*ret_data, 0, MIN(ALIGN_UP(len, 8ul), sizeof(c->buf) - at - sizeof(h)));
	c->used = MIN(at + ALIGN_UP(h.len, 8ul), c->size);
	return len;
}

/* Gives the files numbers and lists them; those without room are dropped. */
static void control_rights(struct task *t, struct control_out *c, struct unixpair_extra *x, bool cloexec)
{
	int fds[UNIXPAIR_MAX_FILES];
	uint32_t n = 0, max = 0;
	char *data;

	if (c->size - c->used > sizeof(struct linux_cmsghdr))
		max = (uint32_t)MIN((c->size - c->used - sizeof(struct linux_cmsghdr)) / sizeof(int),
				    (size_t)x->nfiles);
	while (n < max) {
		fds[n] = fd_install(t, x->files[n], 0, cloexec);
		if (fds[n] < 0)
			break;
		n++;
	}
	if (n < x->nfiles)
		c->cut = true;
	for (uint32_t i = n; i < x->nfiles; i++)
		file_put(x->files[i]);
	x->nfiles = 0;
	if (n && control_begin(c, SCM_RIGHTS, n * sizeof(int), &data))
		memcpy(data, fds, n * sizeof(int));
}

static int64_t recvmsg_do(struct task *t, const struct sysargs *a, struct file *f, struct unixpair *s,
			  struct linux_msghdr *m, struct uio *u)
{
	static struct unixpair_extra x;
	static struct control_out c;
	unsigned flags = ARG_UINT(a, 2);
	uint64_t whole;
	char *data;
	int64_t r;

	x.nfiles = 0;
	x.has_cred = false;
	r = sock_recv(t, f, s, u, flags, &whole, &x);
	if (r < 0) {
		extra_drop(&x);
		return r;
	}
	c.used = 0;
	c.cut = false;
	c.size = m->control ? MIN(m->controllen, sizeof(c.buf)) : 0;
	if (*unixpair_passcred(s) && x.has_cred) {
		size_t n = control_begin(&c, SCM_CREDENTIALS, sizeof(x.cred), &data);
		memcpy(n ? data : c.buf, &x.cred, n);
	}
	if (x.nfiles)
		control_rights(t, &c, &x, flags & MSG_CMSG_CLOEXEC);
	m->flags = (c.cut ? MSG_CTRUNC : 0) | (flags & MSG_CMSG_CLOEXEC);
	if (unixpair_is_message(f) && whole > (uint64_t)r)
		m->flags |= MSG_TRUNC;
	m->namelen = 0;
	if (c.used && guest_write(t->tid, m->control, c.buf, c.used) < 0)
		return -EFAULT;
	m->controllen = c.used;
	if (guest_put(t->tid, a->a[1], m) < 0)
		return -EFAULT;
	return flags & MSG_TRUNC && unixpair_is_message(f) ? (int64_t)whole : r;
}

int64_t sys_recvmsg(struct task *t, const struct sysargs *a)
{
	struct linux_msghdr m;
	struct unixpair *s;
	struct file *f;
	struct uio u;
	int64_t r = sock_at(t, ARG_INT(a, 0), &f, &s);

	if (r == 0)
		r = msg_read(t, a->a[1], &m, &u);
	if (r < 0)
		return r;
	r = recvmsg_do(t, a, f, s, &m, &u);
	uio_fini(&u);
	return r;
}

int64_t sys_shutdown(struct task *t, const struct sysargs *a)
{
	struct unixpair *s;
	struct file *f;
	int r = sock_at(t, ARG_INT(a, 0), &f, &s);

	if (r < 0)
		return r;
	return ARG_UINT(a, 1) > SHUT_RDWR ? -EINVAL : unixpair_shutdown(s, ARG_INT(a, 1));
}
