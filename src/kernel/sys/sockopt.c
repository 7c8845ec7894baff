/* Names and options of sockets. Options that have no meaning for a pair are accepted where Linux accepts them. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "kernel/net/unixpair.h"
#include "kernel/platform/guestmem.h"
#include "kernel/sys/file_util.h"
#include "kernel/sys/handlers.h"

#define BUF_MAX 212992
#define SNDBUF_MIN 4608
#define RCVBUF_MIN 2304

static int pair_at(struct task *t, int fd, struct unixpair **ret_)
{
	struct file *f = fd_file(t, fd);

	if (!f)
		return -EBADF;
	*ret_ = unixpair_of(f);
	return *ret_ ? 0 : -ENOTSOCK;
}

/* Both ends are without a name: only the family is told. */
static int64_t name_put_(struct task *t, const struct sysargs *a)
{
	uint16_t family = AF_UNIX;
	struct unixpair *s;
	int32_t len;
	int r = pair_at(t, ARG_INT(a, 0), &s);

	if (r < 0)
		return r;
	if (guest_get(t->tid, &len, a->a[2]) < 0)
		return -EFAULT;
	if (len < 0)
		return -EINVAL;
	if (len && guest_write(t->tid, a->a[1], &family, MIN((size_t)len, sizeof(family))) < 0)
		return -EFAULT;
	len = sizeof(family);
	return guest_put(t->tid, a->a[2], &len);
}

int64_t sys_getsockname(struct task *t, const struct sysargs *a)
{
	return name_put_(t, a);
}

int64_t sys_getpeername(struct task *t, const struct sysargs *a)
{
	return name_put_(t, a);
}

int64_t sys_getsockopt(struct task *t, const struct sysargs *a)
{
	union {
		int32_t i;
		struct linux_ucred cred;
		char raw[16];
	} v = { .raw = { 0 } };
	size_t size = sizeof(v.i);
	struct unixpair *s;
	int32_t len;
	int r = pair_at(t, ARG_INT(a, 0), &s);

	if (r < 0)
		return r;
	if (ARG_INT(a, 1) != SOL_SOCKET)
		return -EOPNOTSUPP;
	if (guest_get(t->tid, &len, a->a[4]) < 0)
		return -EFAULT;
	if (len < 0)
		return -EINVAL;
	switch (ARG_INT(a, 2)) {
	case SO_TYPE:
		v.i = unixpair_type(s);
		break;
	case SO_DOMAIN:
		v.i = AF_UNIX;
		break;
	case SO_ERROR:
		v.i = unixpair_take_error(s);
		break;
	case SO_SNDBUF:
		v.i = (int32_t)*unixpair_sndbuf(s);
		break;
	case SO_RCVBUF:
		v.i = (int32_t)*unixpair_rcvbuf(s);
		break;
	case SO_PASSCRED:
		v.i = *unixpair_passcred(s);
		break;
	case SO_PEERCRED:
		unixpair_peer_cred(s, &v.cred);
		size = sizeof(v.cred);
		break;
	case SO_RCVLOWAT:
		v.i = 1;
		break;
	case SO_LINGER:
		size = 8;
		break;
	case SO_RCVTIMEO:
	case SO_SNDTIMEO:
		size = 16;
		break;
	case SO_PROTOCOL:
	case SO_ACCEPTCONN:
	case SO_REUSEADDR:
	case SO_REUSEPORT:
	case SO_KEEPALIVE:
	case SO_BROADCAST:
	case SO_OOBINLINE:
	case SO_PRIORITY:
	case SO_DONTROUTE:
	case SO_DEBUG:
	case SO_TIMESTAMP:
		break;
	default:
		return -ENOPROTOOPT;
	}
	len = (int32_t)MIN((size_t)len, size);
	if (guest_write(t->tid, a->a[3], &v, (size_t)len) < 0)
		return -EFAULT;
	return guest_put(t->tid, a->a[4], &len);
}

static uint32_t buf_size(int32_t asked, uint32_t min)
{
	int64_t doubled = MIN(MAX(asked, 0), BUF_MAX) * 2ll;

	return MAX((uint32_t)doubled, min);
}

int64_t sys_setsockopt(struct task *t, const struct sysargs *a)
{
	struct unixpair *s;
	int32_t v;
	int r = pair_at(t, ARG_INT(a, 0), &s);

	if (r < 0)
		return r;
	if (ARG_INT(a, 4) < 0)
		return -EINVAL;
	if (ARG_INT(a, 1) != SOL_SOCKET)
		return -EOPNOTSUPP;
	if (ARG_INT(a, 4) < (int)sizeof(v))
		return -EINVAL;
	if (guest_get(t->tid, &v, a->a[3]) < 0)
		return -EFAULT;
	switch (ARG_INT(a, 2)) {
	case SO_SNDBUF:
		*unixpair_sndbuf(s) = buf_size(v, SNDBUF_MIN);
		return 0;
	case SO_RCVBUF:
		*unixpair_rcvbuf(s) = buf_size(v, RCVBUF_MIN);
		return 0;
	case SO_PASSCRED:
		*unixpair_passcred(s) = v != 0;
		return 0;
	case SO_LINGER:
		return ARG_INT(a, 4) < 8 ? -EINVAL : 0;
	case SO_RCVTIMEO:
	case SO_SNDTIMEO:
		return ARG_INT(a, 4) < 16 ? -EINVAL : 0;
	case SO_REUSEADDR:
	case SO_KEEPALIVE:
	case SO_BROADCAST:
	case SO_OOBINLINE:
	case SO_PRIORITY:
	case SO_DONTROUTE:
	case SO_RCVLOWAT:
	case SO_TIMESTAMP:
		return 0;
	}
	return -ENOPROTOOPT;
}
