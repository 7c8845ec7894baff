/* See door.h. A connection to the door is a Unix stream whose bytes go straight to a descriptor of
 * the host and back, as those of connections to the outside do (outside.c). Descriptors cannot be
 * sent through it. */
#include "kernel/net/door.h"

#include <errno.h>
#include <linux/sockios.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/arena.h"
#include "host/host.h"
#include "kernel/net/unix.h"
#include "kernel/platform/loop.h"
#include "kernel/platform/uio.h"
#include "kernel/task/proc.h"
#include "kernel/task/task.h"
#include "kernel/vfs/file.h"
#include "wire/bootspec.h"

#define CHUNK 65536u

/* Of one connection. */
struct door {
	struct list link;
	struct unix_sock *u; /* whose it is */
	uint32_t id; /* the question to the keeper; 0: it was answered */
	int fd; /* -1: not yet, or no longer */
	bool full; /* the host took no more: the next time that it does is told */
	struct hostwatch watch;
};
OBJ_TYPE(door_type, struct door, DOOR_MAX);

void (*door_tell)(const struct ctl_msg *m) SEALED;

static struct list doors = LIST_INIT(doors);
static struct waitq room = WAITQ_INIT(room); /* who waits for a connection to end */
static unsigned ndoors;
static uint32_t last_id;
static char chunk[CHUNK];

static const struct sock_ops door_ops;

static struct door *door_of(const struct sock *s)
{
	return unix_sk(s)->door;
}

static void fired(struct hostwatch *w, uint32_t events)
{
	struct door *d = container_of(w, struct door, watch);
	uint32_t told = events & (POLLRDHUP | POLLHUP | POLLERR);

	if (events & POLLIN)
		told |= SOCK_POLL_IN;
	if (events & POLLOUT && d->full) {
		d->full = false;
		told |= SOCK_POLL_OUT;
	}
	if (told)
		waitq_wake(&d->u->s.q, told);
}

static void fd_close(struct door *d)
{
	if (d->fd < 0)
		return;
	hostwatch_fini(&d->watch);
	host_close(d->fd);
	d->fd = -1;
}

static void fail(struct door *d, int err)
{
	struct sock *s = &d->u->s;

	fd_close(d);
	s->err = err;
	s->rcv_shut = s->snd_shut = true;
	waitq_wake(&s->q, SOCK_POLL_ALL);
}

int door_connect(struct unix_sock *u, struct task *t, struct waitq **ret_q)
{
	struct ctl_msg m = { .type = CTL_DOOR, .a = t->proc->pid };
	struct file *exe = t->proc->exe;
	struct door *d;
	int n;

	if (u->connected)
		return -EISCONN;
	if (u->s.listening)
		return -EINVAL;
	d = ndoors < DOOR_MAX ? obj_new(&door_type) : NULL;
	if (!d) {
		*ret_q = &room;
		return -EAGAIN;
	}
	do
		last_id++;
	while (!last_id);
	d->u = u;
	d->fd = d->watch.fd = -1;
	d->id = m.id = last_id;
	list_init(&d->link);
	list_append(&doors, &d->link);
	ndoors++;
	n = exe ? file_label(exe, NULL, m.text, sizeof(m.text)) : 0;
	/* Half a path could be taken for another one's. */
	if (n <= 0 || (size_t)n >= sizeof(m.text))
		m.text[0] = 0;
	u->door = d;
	u->connected = true;
	u->s.ops = &door_ops;
	u->s.peer_cred = (struct linux_ucred){ 1, 0, 0 };
	u->s.has_peer_cred = true;
	door_tell(&m);
	return 0;
}

void door_answer(const struct ctl_msg *m, int fd)
{
	struct door *d, *found = NULL;

	list_for_each(d, &doors, link)
		if (d->id && d->id == m->id)
			found = d;
	if (!found) {
		if (fd >= 0)
			host_close(fd);
		return; /* the program has gone */
	}
	found->id = 0;
	if (fd < 0) {
		fail(found, m->a < 0 && m->a > -4096 ? -m->a : ECONNREFUSED);
		return;
	}
	found->fd = fd;
	found->full = true;
	hostwatch_init(&found->watch, fd, fired);
	if (hostwatch_last(&found->watch, POLLIN | POLLOUT | POLLRDHUP) < 0) {
		fail(found, ENOBUFS);
		return;
	}
	if (found->u->s.rcv_shut)
		(void)host_shutdown(fd, SHUT_RD);
	if (found->u->s.snd_shut)
		(void)host_shutdown(fd, SHUT_WR);
	waitq_wake(&found->u->s.q, SOCK_POLL_ALL);
}

/* ---- operations ---- */

static int64_t door_send(struct sock *s, struct uio *u, struct sockmsg *m)
{
	struct door *d = door_of(s);
	int64_t moved = 0;

	if (m->to)
		return -EISCONN;
	if (m->flags & MSG_OOB || (m->x && m->x->nfiles))
		return -EOPNOTSUPP;
	if (s->err)
		return -sock_take_err(s);
	if (s->snd_shut)
		return -EPIPE;
	if (d->fd < 0)
		return -EAGAIN;
	while (u->left) {
		const void *at;
		int64_t n = uio_take_at(u, chunk, MIN(u->left, (uint64_t)CHUNK), &at), sent;

		if (n <= 0)
			return moved ? moved : -EFAULT;
		sent = host_send(d->fd, at, (size_t)n, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (sent < n) {
			uio_back(u, (size_t)(n - MAX(sent, (int64_t)0)));
			d->full = true;
		}
		if (sent < 0)
			return moved ? moved : sent;
		moved += sent;
	}
	return moved;
}

static int64_t door_recv(struct sock *s, struct uio *u, struct sockmsg *m)
{
	struct door *d = door_of(s);
	size_t n = (size_t)MIN(u->left, (uint64_t)CHUNK);
	void *at = chunk;
	int64_t got;

	if (m->flags & MSG_OOB)
		return -EINVAL;
	if (d->fd < 0) {
		if (s->err)
			return -sock_take_err(s);
		return s->rcv_shut ? 0 : -EAGAIN;
	}
	if (n)
		at = uio_room(u, chunk, &n);
	got = host_recv(d->fd, at, n, MSG_DONTWAIT | (int)(m->flags & MSG_PEEK));
	if (got <= 0)
		return got;
	m->whole = (uint64_t)got;
	return uio_put_at(u, at, chunk, (size_t)got);
}

static uint32_t door_poll(struct sock *s)
{
	struct door *d = door_of(s);
	struct pollfd p = { .fd = d->fd, .events = POLLIN | POLLOUT | POLLRDHUP };
	uint32_t ready = s->err ? POLLERR : 0;

	if (s->rcv_shut)
		ready |= SOCK_POLL_IN | POLLRDHUP;
	if (s->rcv_shut && s->snd_shut)
		ready |= POLLHUP;
	if (d->fd < 0)
		return ready | (s->snd_shut ? SOCK_POLL_OUT : 0);
	if (host_poll(&p, 1, 0) < 0)
		return POLLERR;
	if (p.revents & POLLIN)
		ready |= SOCK_POLL_IN;
	if (p.revents & POLLOUT)
		ready |= SOCK_POLL_OUT;
	else
		d->full = true;
	return ready | ((uint32_t)p.revents & (POLLRDHUP | POLLHUP | POLLERR));
}

static int door_shutdown(struct sock *s, int how)
{
	struct door *d = door_of(s);

	if (d->fd >= 0)
		(void)host_shutdown(d->fd, how);
	s->rcv_shut |= how != SHUT_WR;
	s->snd_shut |= how != SHUT_RD;
	waitq_wake(&s->q, SOCK_POLL_ALL);
	return 0;
}

static int64_t count_of(struct sock *s, unsigned long cmd)
{
	struct door *d = door_of(s);
	int n = 0;

	return d->fd >= 0 && host_ioctl(d->fd, cmd, &n) == 0 && n > 0 ? n : 0;
}

static int64_t door_readable(struct sock *s)
{
	return count_of(s, FIONREAD);
}

static uint32_t door_unsent(struct sock *s)
{
	return (uint32_t)count_of(s, SIOCOUTQ);
}

static int door_again(struct sock *s, struct task *t, const struct sockname *n, bool nonblock,
		      struct waitq **ret_q)
{
	(void)s, (void)t, (void)n, (void)nonblock, (void)ret_q;
	return -EISCONN;
}

static int door_listen(struct sock *s, struct task *t, uint32_t backlog)
{
	(void)s, (void)t, (void)backlog;
	return -EINVAL;
}

static int door_accept(struct sock *s, struct sock **ret_)
{
	(void)s, (void)ret_;
	return -EINVAL;
}

static void door_release(struct sock *s)
{
	struct door *d = door_of(s);

	fd_close(d);
	unix_sk(s)->door = NULL;
	list_remove(&d->link);
	obj_free(&door_type, d);
	ndoors--;
	waitq_wake(&room, SOCK_POLL_OUT);
	unix_release(s);
}

static const struct sock_ops door_ops = {
	.bind = unix_bind,
	.connect = door_again,
	.listen = door_listen,
	.accept = door_accept,
	.name = unix_name_show,
	.send = door_send,
	.recv = door_recv,
	.shutdown = door_shutdown,
	.poll = door_poll,
	.readable = door_readable,
	.unsent = door_unsent,
	.release = door_release,
};
