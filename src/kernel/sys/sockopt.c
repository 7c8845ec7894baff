/* Options of sockets at SOL_SOCKET; other levels are the family's. Options that mean nothing inside
 * a cell are remembered. */
#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/socket.h>

#include "kernel/abi/time.h"
#include "kernel/net/iface.h"
#include "kernel/platform/guestmem.h"
#include "kernel/sys/handlers.h"
#include "kernel/sys/sockcall.h"
#include "kernel/task/cred.h"
#include "kernel/task/task.h"

#define BUF_MAX 212992
#define BUF_FORCE_MAX (4u << 20)
#define SNDBUF_MIN 4608
#define RCVBUF_MIN 2304
#define OPT_MAX 256
#define TIMEO_NO_WAIT 1 /* ns: a negative time means not to wait at all */
#define TCP_RCVLOWAT_MAX (6291456 / 2) /* half of the largest buffer (tcp_rmem) */
/* Newer than glibc's headers or named differently by it and musl. */
#define OPT_PASSSEC 34
#define OPT_TIMESTAMPNS 35
#define OPT_MARK 36
#define OPT_TIMESTAMPING 37
#define OPT_PROTOCOL 38
#define OPT_DOMAIN 39
#define OPT_RXQ_OVFL 40
#define OPT_PEEK_OFF 42
#define OPT_NOFCS 43
#define OPT_BUSY_POLL 46
#define OPT_INCOMING_CPU 49
#define OPT_COOKIE 57
#define OPT_ZEROCOPY 60
#define OPT_PEERGROUPS 59
#define OPT_RCVTIMEO_NEW 66
#define OPT_SNDTIMEO_NEW 67

/* Options that are a truth value in the sock. */
static bool *flag_of(struct sock *s, int opt)
{
	switch (opt) {
	case SO_REUSEADDR:
		return &s->reuseaddr;
	case SO_REUSEPORT:
		return &s->reuseport;
	case SO_KEEPALIVE:
		return &s->keepalive;
	case SO_BROADCAST:
		return &s->broadcast;
	case SO_OOBINLINE:
		return &s->oobinline;
	case SO_DONTROUTE:
		return &s->dontroute;
	case SO_PASSCRED:
		return &s->passcred;
	case SO_TIMESTAMP:
		return &s->stamp;
	case OPT_TIMESTAMPNS:
		return &s->stampns;
	case OPT_PASSSEC:
		return &s->passsec;
	case OPT_RXQ_OVFL:
		return &s->rxq_ovfl;
	case OPT_ZEROCOPY:
		return &s->zerocopy;
	case SO_DEBUG:
		return &s->debug;
	case SO_NO_CHECK:
		return &s->no_check;
	}
	return NULL;
}

/* Options that are a number. */
static int32_t *number_of(struct sock *s, int opt)
{
	switch (opt) {
	case SO_PRIORITY:
		return &s->priority;
	case OPT_MARK:
		return &s->mark;
	case SO_RCVLOWAT:
		return &s->rcvlowat;
	case OPT_BUSY_POLL:
		return &s->busy_poll;
	case OPT_INCOMING_CPU:
		return &s->incoming_cpu;
	}
	return NULL;
}

/* ---- get ---- */

static void timeval_out(struct optval *v, int64_t ns, int64_t secs)
{
	struct linux_timeval tv = { ns / NSEC_PER_SEC, ns % NSEC_PER_SEC / 1000 };

	if (secs || ns == TIMEO_NO_WAIT)
		tv = (struct linux_timeval){ secs, 0 };

	v->len = sizeof(tv);
	memcpy(v->u.raw, &tv, sizeof(tv));
}

static int peercred_out(const struct sock *s, struct optval *v)
{
	struct linux_ucred c =
		s->has_peer_cred ? s->peer_cred : (struct linux_ucred){ 0, UINT32_MAX, UINT32_MAX };

	v->len = sizeof(c);
	memcpy(v->u.raw, &c, sizeof(c));
	return 0;
}

/* All of the name or none of it: Linux refuses more room than it takes. */
static int peername_out(struct sock *s, struct optval *v)
{
	struct sockname n;

	if (CHECKED(s->ops)->name(s, 2, &n) < 0)
		return -ENOTCONN;
	if ((uint32_t)v->room > n.len)
		return -EINVAL;
	v->len = MIN(n.len, (uint32_t)sizeof(v->u.raw));
	memcpy(v->u.raw, &n.u, MIN(v->len, (uint32_t)sizeof(n.u)));
	return 0;
}

static int get_socket(struct sock *s, int opt, struct optval *v)
{
	const bool *flag = flag_of(s, opt);
	const int32_t *number = number_of(s, opt);

	v->len = sizeof(v->u.i);
	v->u.i = flag ? *flag : number ? *number : 0;
	if (flag || number)
		return 0;
	switch (opt) {
	case SO_TYPE:
		v->u.i = s->type;
		return 0;
	case OPT_DOMAIN:
		v->u.i = s->family;
		return 0;
	case OPT_PROTOCOL:
		v->u.i = s->protocol;
		return 0;
	case SO_ERROR:
		if (s->err || !s->ops->getopt ||
		    CHECKED(s->ops)->getopt(s, SOL_SOCKET, SO_ERROR, v) < 0)
			v->u.i = sock_take_err(s);
		v->len = sizeof(v->u.i);
		return 0;
	case SO_ACCEPTCONN:
		v->u.i = s->listening;
		return 0;
	case SO_SNDBUF:
		v->u.i = (int32_t)s->sndbuf;
		return 0;
	case SO_RCVBUF:
		v->u.i = (int32_t)s->rcvbuf;
		return 0;
	case SO_SNDLOWAT:
		v->u.i = 1;
		return 0;
	case SO_PEERCRED:
		return peercred_out(s, v);
	case SO_LINGER:
		v->len = 8;
		memcpy(v->u.raw, &(int32_t){ s->linger_on }, 4);
		memcpy(v->u.raw + 4, &s->linger_secs, 4);
		return 0;
	case SO_RCVTIMEO:
	case OPT_RCVTIMEO_NEW:
		timeval_out(v, s->rcvtimeo, s->rcvtimeo_secs);
		return 0;
	case SO_SNDTIMEO:
	case OPT_SNDTIMEO_NEW:
		timeval_out(v, s->sndtimeo, s->sndtimeo_secs);
		return 0;
	case OPT_COOKIE:
		v->len = 8;
		memcpy(v->u.raw, &s->ino, 8);
		return v->room < 8 ? -EINVAL : 0;
	case SO_PEERNAME:
		return peername_out(s, v);
	case SO_BINDTODEVICE:
		v->len = 0;
		return 0;
	case OPT_PEEK_OFF:
		v->u.i = s->peek_off;
		return s->family == AF_NETLINK ? -EOPNOTSUPP : 0;
	case OPT_PEERGROUPS:
		return -ENODATA;
	case OPT_TIMESTAMPING:
	case OPT_NOFCS:
		return 0;
	}
	return -ENOPROTOOPT;
}

int64_t sys_getsockopt(struct task *t, const struct sysargs *a)
{
	struct optval v = { .len = 0 };
	struct sock *s;
	struct file *f;
	int32_t len;
	int r = sock_at(t, ARG_INT(a, 0), &f, &s);

	if (r < 0)
		return r;
	if (guest_get(t->tid, &len, a->a[4]) < 0)
		return -EFAULT;
	v.room = len;
	if (ARG_INT(a, 1) == SOL_SOCKET)
		r = len < 0 ? -EINVAL : get_socket(s, ARG_INT(a, 2), &v);
	else if (s->ops->getopt)
		r = CHECKED(s->ops)->getopt(s, ARG_INT(a, 1), ARG_INT(a, 2), &v);
	else
		r = s->family == AF_NETLINK ? -ENOPROTOOPT : -EOPNOTSUPP;
	if (r < 0)
		return r;
	len = (int32_t)MIN((uint32_t)len, v.len);
	if (v.byte && len > 0 && len < 4 && v.u.i >= 0 && v.u.i <= 255)
		len = 1;
	const struct guest_piece back[] = {
		{ a->a[3], &v.u, (size_t)len },
		{ a->a[4], &len, sizeof(len) },
	};
	return guest_write_pieces(t->tid, back, ARRAY_LEN(back));
}

/* ---- set ---- */

/* Root can have more than others (force), though not so much that one message takes long. */
static uint32_t buf_size(int32_t asked, uint32_t min, bool force)
{
	uint32_t doubled;

	if (force)
		doubled = MIN((uint32_t)MAX(asked, 0), (uint32_t)BUF_FORCE_MAX) * 2;
	else /* less than nothing is the most */
		doubled = MIN((uint32_t)asked, (uint32_t)BUF_MAX) * 2;
	return MAX(doubled, min);
}

static int timeval_in(const char *v, uint32_t len, int64_t *ret_, int64_t *ret_secs)
{
	struct linux_timeval tv;

	if (len < sizeof(tv))
		return -EINVAL;
	memcpy(&tv, v, sizeof(tv));
	if (tv.usec < 0 || tv.usec >= 1000000)
		return -EDOM;
	*ret_secs = 0;
	if (tv.sec < 0) {
		*ret_ = TIMEO_NO_WAIT;
	} else if (tv.sec > INT64_MAX / NSEC_PER_SEC / 4) {
		*ret_ = 0;
		*ret_secs = tv.sec < INT64_MAX / 1000 - 1 ? tv.sec : 0;
	} else {
		*ret_ = tv.sec * NSEC_PER_SEC + tv.usec * 1000;
	}
	return 0;
}

static int number_set(struct task *t, struct sock *s, int opt, int32_t v)
{
	if (opt == OPT_MARK && !cred_has_cap(&t->cred, CAP_NET_ADMIN) &&
	    !cred_has_cap(&t->cred, CAP_NET_RAW))
		return -EPERM;
	if (opt == SO_PRIORITY && (v < 0 || v > 6) && !cred_has_cap(&t->cred, CAP_NET_ADMIN) &&
	    !cred_has_cap(&t->cred, CAP_NET_RAW))
		return -EPERM;
	if (opt == SO_RCVLOWAT)
		v = v < 0 ? INT32_MAX : v ? v : 1;
	if (opt == SO_RCVLOWAT && s->protocol == IPPROTO_TCP)
		v = MIN(v, s->rcvbuf_set ? (int32_t)(s->rcvbuf / 2) : TCP_RCVLOWAT_MAX);
	*number_of(s, opt) = v;
	return 0;
}

static int set_socket(struct task *t, struct sock *s, int opt, const char *raw, uint32_t len)
{
	int32_t v, secs;

	if (opt == SO_BINDTODEVICE)
		return !len || !raw[0] || iface_by_name(raw, MIN(len, 16u)) ? 0 : -ENODEV;
	if (len < sizeof(v))
		return -EINVAL;
	memcpy(&v, raw, sizeof(v));
	if ((opt == SO_PASSCRED || opt == OPT_PASSSEC) && s->family != AF_UNIX &&
	    s->family != AF_NETLINK)
		return -EOPNOTSUPP;
	if (opt == OPT_ZEROCOPY && s->family != AF_INET && s->family != AF_INET6)
		return -EOPNOTSUPP;
	if (opt == SO_REUSEPORT && v && s->family != AF_INET && s->family != AF_INET6)
		return -EOPNOTSUPP;
	if (opt == SO_DEBUG && v && !cred_has_cap(&t->cred, CAP_NET_ADMIN))
		return -EACCES;
	if (flag_of(s, opt)) {
		*flag_of(s, opt) = v != 0;
		if (opt == SO_TIMESTAMP && v)
			s->stampns = false;
		if (opt == OPT_TIMESTAMPNS && v)
			s->stamp = false;
		return 0;
	}
	if (number_of(s, opt))
		return number_set(t, s, opt, v);
	switch (opt) {
	case SO_SNDBUF:
	case SO_SNDBUFFORCE:
		if (opt == SO_SNDBUFFORCE && !cred_has_cap(&t->cred, CAP_NET_ADMIN))
			return -EPERM;
		s->sndbuf = buf_size(v, SNDBUF_MIN, opt == SO_SNDBUFFORCE);
		s->sndbuf_set = true;
		waitq_wake(&s->q, SOCK_POLL_OUT);
		return 0;
	case SO_RCVBUF:
	case SO_RCVBUFFORCE:
		if (opt == SO_RCVBUFFORCE && !cred_has_cap(&t->cred, CAP_NET_ADMIN))
			return -EPERM;
		s->rcvbuf = buf_size(v, RCVBUF_MIN, opt == SO_RCVBUFFORCE);
		s->rcvbuf_set = true;
		return 0;
	case SO_LINGER:
		if (len < 8)
			return -EINVAL;
		memcpy(&secs, raw + 4, sizeof(secs));
		s->linger_on = v != 0;
		if (s->linger_on)
			s->linger_secs = secs;
		return 0;
	case SO_RCVTIMEO:
	case OPT_RCVTIMEO_NEW:
		return timeval_in(raw, len, &s->rcvtimeo, &s->rcvtimeo_secs);
	case SO_SNDTIMEO:
	case OPT_SNDTIMEO_NEW:
		return timeval_in(raw, len, &s->sndtimeo, &s->sndtimeo_secs);
	case OPT_PEEK_OFF:
		if (s->family == AF_NETLINK)
			return -EOPNOTSUPP;
		s->peek_off = v;
		return 0;
	case OPT_TIMESTAMPING:
	case OPT_NOFCS:
		return 0;
	case SO_ATTACH_FILTER:
	case 50: /* SO_ATTACH_BPF */
		return -EPERM;
	case SO_DETACH_FILTER:
		return -ENOENT;
	}
	return -ENOPROTOOPT;
}

int64_t sys_setsockopt(struct task *t, const struct sysargs *a)
{
	char raw[OPT_MAX] = "";
	struct sock *s;
	struct file *f;
	int len = ARG_INT(a, 4), level = ARG_INT(a, 1);
	int r = sock_at(t, ARG_INT(a, 0), &f, &s);

	if (r < 0)
		return r;
	if (len < 0)
		return -EINVAL;
	if (level != SOL_SOCKET && !s->ops->setopt)
		return -EOPNOTSUPP;
	len = MIN(len, OPT_MAX - 1);
	if (len && guest_read(t->tid, raw, a->a[3], (size_t)len) < 0)
		return -EFAULT;
	if (level != SOL_SOCKET)
		return CHECKED(s->ops)->setopt(s, t, level, ARG_INT(a, 2), raw, (uint32_t)len);
	r = set_socket(t, s, ARG_INT(a, 2), raw, (uint32_t)len);
	if (r == 0 && s->ops->setopt)
		(void)CHECKED(s->ops)->setopt(s, t, level, ARG_INT(a, 2), raw, (uint32_t)len);
	return r;
}
