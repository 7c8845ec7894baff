/* Control messages of sockets: descriptors, credentials, times and addresses beside the bytes. What
 * comes from the guest is copied once and bounded; lengths are checked before anything is looked
 * at. */
#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/socket.h>

#include "kernel/abi/time.h"
#include "kernel/net/iface.h"
#include "kernel/net/inet.h"
#include "kernel/net/route.h"
#include "kernel/platform/guestmem.h"
#include "kernel/sys/sockcall.h"
#include "kernel/task/cred.h"
#include "kernel/task/proc.h"
#include "kernel/task/task.h"
#include "kernel/vfs/fdtable.h"
#include "kernel/vfs/file.h"

#define IP_RECVORIGDSTADDR_ 20 /* the C library may not have it */

void extra_drop(struct sock_extra *x)
{
	while (x->nfiles)
		file_put(x->files[--x->nfiles]);
}

/* ---- in ---- */

static int cmsg_rights(struct task *t, const char *data, size_t len, struct sock_extra *x)
{
	for (size_t i = 0; i + sizeof(int) <= len; i += sizeof(int)) {
		struct file *f;
		int fd;

		memcpy(&fd, data + i, sizeof(fd));
		if (x->nfiles == SOCK_MAX_FILES)
			return -EINVAL;
		f = fd_file_or_path(t, fd);
		if (!f)
			return -EBADF;
		x->files[x->nfiles++] = file_get(f);
	}
	return 0;
}

static int cmsg_cred(struct task *t, const char *data, size_t len, struct sock_extra *x)
{
	const struct cred *c = &t->cred;
	struct linux_ucred *u = &x->cred;

	if (len != sizeof(*u))
		return -EINVAL;
	memcpy(u, data, sizeof(*u));
	if (u->pid != t->proc->pid && !cred_has_cap(c, CAP_SYS_ADMIN))
		return -EPERM;
	if (u->uid != c->uid && u->uid != c->euid && u->uid != c->suid &&
	    !cred_has_cap(c, CAP_SETUID))
		return -EPERM;
	if (u->gid != c->gid && u->gid != c->egid && u->gid != c->sgid &&
	    !cred_has_cap(c, CAP_SETGID))
		return -EPERM;
	if (u->pid != t->proc->pid && !proc_find(u->pid))
		return -ESRCH;
	x->has_cred = true;
	return 0;
}

static int cmsg_take(struct task *t, const struct sock *s, const struct linux_cmsghdr *h,
		     const char *data, struct sock_extra *x)
{
	size_t len = h->len - sizeof(*h);

	if (h->level != SOL_SOCKET) /* of the protocol: nothing inside a cell depends on them */
		return 0;
	if (s->family != AF_UNIX)
		return h->type == SCM_RIGHTS || h->type == SCM_CREDENTIALS ? 0 : -EINVAL;
	if (h->type == SCM_RIGHTS)
		return cmsg_rights(t, data, len, x);
	return h->type == SCM_CREDENTIALS ? cmsg_cred(t, data, len, x) : -EINVAL;
}

int control_in(struct task *t, struct sock *s, uaddr_t addr, uint64_t size, struct sock_extra *x)
{
	static char buf[CONTROL_MAX];
	struct linux_cmsghdr h;
	size_t at = 0;
	int r = 0;

	if (size > sizeof(buf))
		return -ENOBUFS;
	if (guest_read(t->tid, buf, addr, size) < 0)
		return -EFAULT;
	while (r == 0 && size - at >= sizeof(h)) {
		memcpy(&h, buf + at, sizeof(h));
		if (h.len < sizeof(h) || h.len > size - at)
			return -EINVAL;
		r = cmsg_take(t, s, &h, buf + at + sizeof(h), x);
		size_t step = ALIGN_UP(h.len, 8ul);
		if (step > size - at)
			break;
		at += step;
	}
	return r;
}

/* ---- out ---- */

struct control {
	char buf[CONTROL_MAX];
	size_t used, size;
	bool cut;
};

/* Room for a control message with up to len bytes of data: how many there is room for, 0 with cut
 * set. */
static size_t control_begin(struct control *c, int level, int type, size_t len, char **ret_data)
{
	struct linux_cmsghdr h = { .level = level, .type = type };
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

static void control_put(struct control *c, int level, int type, const void *v, size_t len)
{
	char *data;
	size_t n = control_begin(c, level, type, len, &data);

	if (n)
		memcpy(data, v, n);
}

/* Gives the files numbers and lists them; those without room are dropped. */
static void control_rights(struct task *t, struct control *c, struct sock_extra *x, bool cloexec)
{
	int fds[SOCK_MAX_FILES];
	uint32_t n = 0, max = 0;

	if (c->size - c->used > sizeof(struct linux_cmsghdr))
		max = (uint32_t)MIN((c->size - c->used - sizeof(struct linux_cmsghdr)) /
					    sizeof(int),
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
	if (n)
		control_put(c, SOL_SOCKET, SCM_RIGHTS, fds, n * sizeof(int));
}

static void control_stamp(struct control *c, const struct sock *s, int64_t stamp)
{
	struct linux_timespec ts = { stamp / NSEC_PER_SEC, stamp % NSEC_PER_SEC };
	struct linux_timeval tv = { ts.sec, ts.nsec / 1000 };

	if (s->stampns)
		control_put(c, SOL_SOCKET, SO_TIMESTAMPNS, &ts, sizeof(ts));
	else if (s->stamp)
		control_put(c, SOL_SOCKET, SO_TIMESTAMP, &tv, sizeof(tv));
}

/* Where the packet was sent to, and what its header said; what comes from outside has lost that. */
static void control_dest(struct control *c, const struct inet_sock *i, const struct sock_extra *x)
{
	const struct ipaddr *dest = &x->dest;
	bool own = ipaddr_is_same(dest, &ip_cell4) || ipaddr_is_same(dest, &ip_cell6);

	if (inet_opt_on(i, IPPROTO_IP, IP_PKTINFO) && ipaddr_is_v4(dest)) {
		struct in_pktinfo p = { .ipi_ifindex = own ? IFACE_ETH : IFACE_LO };

		memcpy(&p.ipi_addr, dest->b + 12, 4);
		memcpy(&p.ipi_spec_dst, dest->b + 12, 4);
		control_put(c, IPPROTO_IP, IP_PKTINFO, &p, sizeof(p));
	}
	if (inet_opt_on(i, IPPROTO_IPV6, IPV6_RECVPKTINFO)) {
		struct in6_pktinfo p = { .ipi6_ifindex = own ? IFACE_ETH : IFACE_LO };

		memcpy(&p.ipi6_addr, dest->b, 16);
		control_put(c, IPPROTO_IPV6, IPV6_PKTINFO, &p, sizeof(p));
	}
	if (inet_opt_on(i, IPPROTO_IP, IP_RECVTTL) && i->s.family == AF_INET)
		control_put(c, IPPROTO_IP, IP_TTL, &(int32_t){ x->ttl ? x->ttl : 64 },
			    sizeof(int32_t));
	if (inet_opt_on(i, IPPROTO_IPV6, IPV6_RECVHOPLIMIT))
		control_put(c, IPPROTO_IPV6, IPV6_HOPLIMIT, &(int32_t){ 64 }, sizeof(int32_t));
	if (inet_opt_on(i, IPPROTO_IP, IP_RECVTOS) && i->s.family == AF_INET)
		control_put(c, IPPROTO_IP, IP_TOS, &x->tos, sizeof(uint8_t));
	if (inet_opt_on(i, IPPROTO_IP, IP_RECVORIGDSTADDR_) && ipaddr_is_v4(dest)) {
		struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(i->lport) };

		memcpy(&to.sin_addr, dest->b + 12, 4);
		control_put(c, IPPROTO_IP, IP_RECVORIGDSTADDR_, &to, sizeof(to));
	}
	if (inet_opt_on(i, IPPROTO_IPV6, IPV6_RECVTCLASS))
		control_put(c, IPPROTO_IPV6, IPV6_TCLASS, &(int32_t){ 0 }, sizeof(int32_t));
}

/* IP_RECVERR: the error, then the address of who reported it. */
static void control_error(struct control *c, const struct inet_sock *i, const struct sock_extra *x)
{
	struct {
		uint8_t ee[16];
		union {
			struct sockaddr_in in;
			struct sockaddr_in6 in6;
		} offender;
	} e = { { 0 }, { .in6 = { 0 } } };

	memcpy(e.ee, x->ee, sizeof(e.ee));
	if (i->s.family == AF_INET) {
		e.offender.in.sin_family = AF_INET;
		memcpy(&e.offender.in.sin_addr, x->dest.b + 12, 4);
		control_put(c, IPPROTO_IP, IP_RECVERR, &e,
			    sizeof(e.ee) + sizeof(struct sockaddr_in));
		return;
	}
	e.offender.in6.sin6_family = AF_INET6;
	memcpy(&e.offender.in6.sin6_addr, x->dest.b, 16);
	control_put(c, IPPROTO_IPV6, IPV6_RECVERR, &e, sizeof(e.ee) + sizeof(struct sockaddr_in6));
}

int control_out(struct task *t, struct sock *s, uaddr_t addr, uint64_t len, struct sock_extra *x,
		unsigned msg_flags, uint64_t *ret_len, unsigned *flags)
{
	static struct control c;

	c.used = 0;
	c.cut = false;
	c.size = addr ? MIN(len, sizeof(c.buf)) : 0;
	if (x->has_stamp)
		control_stamp(&c, s, x->stamp);
	if (x->has_ee)
		control_error(&c, inet_sk(s), x);
	if (x->has_dest && (s->family == AF_INET || s->family == AF_INET6))
		control_dest(&c, inet_sk(s), x);
	if (s->passcred && x->has_cred)
		control_put(&c, SOL_SOCKET, SCM_CREDENTIALS, &x->cred, sizeof(x->cred));
	if (x->nfiles)
		control_rights(t, &c, x, msg_flags & MSG_CMSG_CLOEXEC);
	if (c.cut)
		*flags |= MSG_CTRUNC;
	if (c.used && guest_write(t->tid, addr, c.buf, c.used) < 0)
		return -EFAULT;
	*ret_len = c.used;
	return 0;
}
