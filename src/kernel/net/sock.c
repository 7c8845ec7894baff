/* What all sockets share: their making by family and type, the open file, the common part of their
 * life.
 *
 * Left out: families other than AF_UNIX, AF_INET, AF_INET6 and AF_NETLINK; raw and packet sockets,
 * which nobody in a cell may have (a cell's root is root of nothing on the wire). */
#include "kernel/net/sock.h"

#include <asm/ioctls.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <poll.h>
#include <signal.h>
#include <string.h>

#include "base/arena.h"
#include "kernel/platform/guestmem.h"
#include "kernel/platform/uio.h"
#include "kernel/task/proc.h"
#include "kernel/task/task.h"
#include "kernel/vfs/async.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/inode.h"

#define SOCK_TYPES 11 /* SOCK_MAX */

struct list sock_all_unix = LIST_INIT(sock_all_unix);
struct list sock_all_inet = LIST_INIT(sock_all_inet);
struct list sock_all_netlink = LIST_INIT(sock_all_netlink);

static const struct file_ops sock_fops;

struct sock *sock_of(const struct file *f)
{
	return f->ops == &sock_fops ? f->priv : NULL;
}

int sock_take_err(struct sock *s)
{
	int err = s->err;

	s->err = 0;
	return err;
}

void sock_set_err(struct sock *s, int err)
{
	s->err = err;
	waitq_wake(&s->q, SOCK_POLL_ALL);
}

void sock_tell_urgent(struct sock *s)
{
	waitq_wake(&s->q, POLLPRI);
	if (s->file)
		file_owner_signal(s->file, SIGURG, NULL);
}

void sock_peek_moved(struct sock *s, unsigned flags, uint32_t n)
{
	if (s->peek_off < 0)
		return;
	if (flags & MSG_PEEK)
		s->peek_off = (int32_t)MIN((int64_t)s->peek_off + n, (int64_t)INT32_MAX);
	else
		s->peek_off -= (int32_t)MIN(n, (uint32_t)s->peek_off);
}

void sock_init(struct sock *s, const struct sock_ops *ops, struct task *t, int family, int type,
	       int protocol)
{
	struct list *all = family == AF_UNIX	  ? &sock_all_unix
			   : family == AF_NETLINK ? &sock_all_netlink
						  : &sock_all_inet;

	s->ops = ops;
	s->family = (uint16_t)family;
	s->type = (uint8_t)type;
	s->protocol = (uint16_t)protocol;
	s->sndbuf = s->rcvbuf = SOCK_BUF_DEFAULT;
	s->rcvlowat = 1;
	s->incoming_cpu = -1;
	s->peek_off = -1;
	waitq_init(&s->q);
	waitq_init(&s->space_q);
	list_init(&s->queue);
	list_init(&s->sent);
	list_init(&s->acceptq);
	list_init(&s->accept_link);
	list_append(all, &s->all_link);
	if (t) {
		s->uid = t->cred.fsuid;
		s->cred = (struct linux_ucred){ t->proc->pid, t->cred.uid, t->cred.gid };
	}
}

void sock_fini(struct sock *s)
{
	sock_queue_purge(s);
	while (!list_is_empty(&s->sent)) {
		struct packet *pk = list_first(&s->sent, struct packet, owner_link);

		list_remove(&pk->owner_link);
		pk->owner = NULL;
	}
	list_remove(&s->all_link);
	list_remove(&s->accept_link);
	waitq_fini(&s->space_q);
	waitq_fini(&s->q);
}

int64_t sock_recv_packet(struct sock *s, struct uio *u, struct sockmsg *m, struct packet *pk)
{
	uint32_t skip = MIN(m->skip, pk->len), len = pk->len - skip;
	uint32_t n = (uint32_t)MIN(u->left, (uint64_t)len);

	m->whole = len;
	if (n < len)
		m->out_flags |= MSG_TRUNC;
	if (n && uio_put(u, pk->data + skip, n) != n)
		return -EFAULT;
	if (m->x) {
		m->x->has_stamp = true;
		m->x->stamp = pk->stamp;
	}
	sock_peek_moved(s, m->flags, m->flags & MSG_PEEK ? n : pk->len);
	pk->peeked |= (m->flags & MSG_PEEK) != 0;
	if (!(m->flags & MSG_PEEK))
		sock_dequeue(s, pk);
	return n;
}

struct packet *sock_next_packet(struct sock *s, struct sockmsg *m)
{
	uint32_t skip = sock_peek_at(s, m->flags);
	bool any = m->flags & MSG_PEEK && s->peek_off >= 0;
	struct packet *pk;

	list_for_each(pk, &s->queue, link) {
		if (!any || skip < pk->len || (!skip && !pk->peeked)) {
			m->skip = skip;
			return pk;
		}
		skip -= pk->len;
	}
	return NULL;
}

/* ---- making ---- */

int sock_make(struct task *t, int family, int type, int protocol, struct sock **ret_)
{
	int r = -EAFNOSUPPORT;

	if (family < 0 || family >= AF_MAX)
		return -EAFNOSUPPORT;
	if (type < 0 || type >= SOCK_TYPES)
		return -EINVAL;
	switch (family) {
	case AF_UNIX:
		r = unix_make(t, type, protocol, ret_);
		break;
	case AF_INET:
	case AF_INET6:
		r = inet_make(t, family, type, protocol, ret_);
		break;
	case AF_NETLINK:
		r = netlink_make(t, type, protocol, ret_);
		break;
	case AF_PACKET:
		r = -EPERM;
		break;
	}
	return r;
}

int sock_file(struct sock *s, uint32_t flags, struct file **ret_)
{
	int r = file_new_anon("socket:", S_IFSOCK | 0777, &sock_fops, s,
			      O_RDWR | (flags & O_NONBLOCK), ret_);

	if (r < 0) {
		CHECKED(s->ops)->release(s);
		return r;
	}
	(*ret_)->mode = FMODE_READ | FMODE_WRITE | FMODE_STREAM;
	s->file = *ret_;
	s->ino = (*ret_)->inode->ino;
	return 0;
}

/* ---- the open file ---- */

static int64_t sock_read(struct file *f, struct uio *u, int64_t pos)
{
	struct sock *s = f->priv;
	struct sockmsg m;

	(void)pos;
	memset(&m, 0, offsetof(struct sockmsg, from));
	m.from.len = 0;
	m.out_flags = 0;
	m.wait_q = NULL;
	m.skip = 0;
	m.end = false;
	return CHECKED(s->ops)->recv(s, u, &m);
}

static int64_t sock_write(struct file *f, struct uio *u, int64_t pos)
{
	struct sock *s = f->priv;
	struct sockmsg m;

	(void)pos;
	memset(&m, 0, offsetof(struct sockmsg, from));
	m.wait_q = NULL;
	m.skip = 0;
	m.end = false;
	return CHECKED(s->ops)->send(s, u, &m);
}

static uint32_t sock_poll(struct file *f)
{
	struct sock *s = f->priv;

	return CHECKED(s->ops)->poll(s);
}

static struct waitq *sock_poll_q(struct file *f)
{
	return &((struct sock *)f->priv)->q;
}

static int64_t sock_ioctl(struct file *f, struct task *t, unsigned cmd, uint64_t arg)
{
	struct sock *s = f->priv;
	int64_t v;
	int32_t n;

	switch (cmd) {
	case FIONREAD:
		v = s->ops->readable ? CHECKED(s->ops)->readable(s) : -ENOTTY;
		break;
	case TIOCOUTQ:
		v = s->listening     ? -EINVAL
		    : s->ops->unsent ? (int64_t)CHECKED(s->ops)->unsent(s)
				     : -ENOTTY;
		break;
	case SIOCATMARK:
		v = s->ops->atmark ? CHECKED(s->ops)->atmark(s) : -ENOTTY;
		break;
	case FIOSETOWN:
	case SIOCSPGRP:
		if (guest_get(t->tid, &n, arg) < 0)
			return -EFAULT;
		return file_owner_set(t, f, n);
	case FIOGETOWN:
	case SIOCGPGRP:
		v = f->owner_pid;
		break;
	default:
		return netif_ioctl(t, cmd, arg);
	}
	if (v < 0)
		return v;
	n = (int32_t)v;
	return guest_put(t->tid, arg, &n);
}

static void sock_release(struct file *f)
{
	struct sock *s = f->priv;

	CHECKED(s->ops)->release(s);
}

static const struct file_ops sock_fops = {
	.async = ASYNC_LEFT,
	.read = sock_read,
	.write = sock_write,
	.poll = sock_poll,
	.poll_q = sock_poll_q,
	.ioctl = sock_ioctl,
	.release = sock_release,
};
