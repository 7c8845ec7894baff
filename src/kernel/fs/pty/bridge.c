/* See bridge.h. Two directions, each with a small buffer; a full one stops the side that fills it.
 * The pair's queue is watched by a waiter, which may do no more than start a timer that is due at
 * once; the host's descriptors by watches of the main loop. */
#include "kernel/fs/pty/bridge.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>

#include "base/arena.h"
#include "host/host.h"
#include "kernel/fs/pty/pty_priv.h"
#include "kernel/platform/loop.h"
#include "kernel/task/clock.h"
#include "kernel/task/timer.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/inode.h"
#include "kernel/vfs/path.h"

#define OUT_MAX 4096 /* PIPE_BUF: what a writable pipe or terminal takes without blocking */
#define IN_MAX 1024
#define ROUNDS 16
#define LINGER NSEC_PER_SEC

struct bridge {
	struct file *master; /* NULL: hung up */
	int in, out; /* -1: closed */
	bool hang_up;
	struct hostwatch in_watch, out_watch;
	struct waiter waiter;
	struct ktimer timer; /* to work on it; when it ends, the last time */
	int64_t until; /* when it ends at the latest; 0: it does not */
	void (*const *done)(void *arg);
	void *arg;
	uint32_t in_at, in_len, out_at, out_len; /* what of the buffers is still to be moved */
	char in_buf[IN_MAX], out_buf[OUT_MAX];
};
OBJ_TYPE(bridge_type, struct bridge, 1024);

static struct pty *pty_of(const struct bridge *b)
{
	return b->master->priv;
}

static void host_side_close(struct hostwatch *w, int *fd)
{
	if (*fd < 0)
		return;
	hostwatch_fini(w);
	host_close(*fd);
	*fd = -1;
}

void bridge_hang_up(struct bridge *b)
{
	host_side_close(&b->in_watch, &b->in);
	host_side_close(&b->out_watch, &b->out);
	waiter_remove(&b->waiter);
	if (b->master)
		file_put(b->master);
	b->master = NULL;
}

static bool is_ready(int fd, short events)
{
	struct pollfd p = { .fd = fd, .events = events };

	return host_poll(&p, 1, 0) > 0;
}

/* True: there may be more to do at once. */
static bool in_step(struct bridge *b)
{
	struct uio u;
	int64_t n;

	if (!b->in_len) {
		n = is_ready(b->in, POLLIN) ? host_read(b->in, b->in_buf, IN_MAX) : -EAGAIN;
		if (n == -EAGAIN) {
			(void)hostwatch_arm(&b->in_watch, POLLIN);
			return false;
		}
		if (n <= 0) {
			host_side_close(&b->in_watch, &b->in);
			if (b->hang_up)
				bridge_hang_up(b);
			return false;
		}
		b->in_at = 0;
		b->in_len = (uint32_t)n;
	}
	uio_init_kernel(&u, b->in_buf + b->in_at, b->in_len);
	n = CHECKED(b->master->ops)->write(b->master, &u, 0);
	if (n <= 0)
		return false; /* there will be room: the waiter says when */
	b->in_at += (uint32_t)n;
	b->in_len -= (uint32_t)n;
	return true;
}

static bool out_step(struct bridge *b)
{
	struct uio u;
	int64_t n;

	if (!b->out_len) {
		uio_init_kernel(&u, b->out_buf, OUT_MAX);
		n = CHECKED(b->master->ops)->read(b->master, &u, 0);
		if (n <= 0)
			return false;
		b->out_at = 0;
		b->out_len = (uint32_t)n;
	}
	n = is_ready(b->out, POLLOUT) ? host_write(b->out, b->out_buf + b->out_at, b->out_len)
				      : -EAGAIN;
	if (n == -EAGAIN) {
		(void)hostwatch_arm(&b->out_watch, POLLOUT);
		return false;
	}
	if (n < 0) {
		bridge_hang_up(b);
		return false;
	}
	b->out_at += (uint32_t)n;
	b->out_len -= (uint32_t)n;
	return true;
}

static void end(struct bridge *b)
{
	void (*const *done)(void *arg) = b->done;
	void *arg = b->arg;

	bridge_hang_up(b);
	ktimer_stop(&b->timer);
	obj_free(&bridge_type, b);
	(*CHECKED(done))(arg);
}

static void work(struct bridge *b)
{
	bool more = b->master != NULL;

	/* Bounded: a pair that echoes what it is sent could go on for ever. */
	for (int i = 0; i < ROUNDS && more; i++) {
		more = false;
		if (b->master && b->in >= 0 && !b->until)
			more |= in_step(b);
		if (b->master)
			more |= out_step(b);
	}
	if (more) {
		(void)ktimer_start(&b->timer, now_mono());
	} else if (b->until) {
		bool left = b->master && (b->out_len || ldisc_out(&pty_of(b)->ld));

		if (!left || now_mono() >= b->until)
			end(b);
		else
			(void)ktimer_start(&b->timer, b->until);
	}
}

static void on_timer(struct ktimer *t)
{
	work(container_of(t, struct bridge, timer));
}

static void on_pair(struct waiter *w, uint32_t events)
{
	(void)events;
	(void)ktimer_start(&container_of(w, struct bridge, waiter)->timer, now_mono());
}

static void on_in(struct hostwatch *w, uint32_t events)
{
	(void)events;
	now_update();
	work(container_of(w, struct bridge, in_watch));
}

static void on_out(struct hostwatch *w, uint32_t events)
{
	(void)events;
	now_update();
	work(container_of(w, struct bridge, out_watch));
}

static int pair_make(struct bridge *b, uint32_t uid, struct file **ret_slave)
{
	struct file *f;
	struct path at;
	int ret = file_new_anon("anon_inode:[terminal]", S_IFCHR | 0600, NULL, NULL, O_RDWR, &f);

	if (ret < 0)
		return ret;
	ret = ptmx_open(NULL, f);
	if (ret < 0) {
		file_put(f);
		return ret;
	}
	b->master = f;
	pty_of(b)->locked = false;
	pty_of(b)->inode.uid = uid;
	ret = devpts_path(pty_of(b), &at);
	if (ret < 0)
		return ret;
	ret = file_new(&pty_of(b)->inode, &at, O_RDWR, &f);
	path_put(&at);
	if (ret < 0)
		return ret;
	ret = pty_slave_open(pty_of(b), NULL, f);
	if (ret < 0) {
		f->ops = NULL;
		file_put(f);
		return ret;
	}
	*ret_slave = f;
	return 0;
}

int bridge_new(int in, int out, uint32_t uid, bool hang_up, struct bridge **ret_,
	       struct file **ret_slave)
{
	struct bridge *b = obj_new(&bridge_type);
	int ret;

	if (!b) {
		host_close(in);
		host_close(out);
		return -ENFILE;
	}
	b->in = in;
	b->out = out;
	b->hang_up = hang_up;
	hostwatch_init(&b->in_watch, in, on_in);
	hostwatch_init(&b->out_watch, out, on_out);
	ktimer_init(&b->timer, on_timer);
	waiter_init(&b->waiter, POLLIN | POLLOUT, on_pair);
	ret = pair_make(b, uid, ret_slave);
	if (ret < 0) {
		bridge_hang_up(b);
		obj_free(&bridge_type, b);
		return ret;
	}
	waitq_add(&pty_of(b)->master_q, &b->waiter);
	(void)ktimer_start(&b->timer, now_mono());
	*ret_ = b;
	return 0;
}

void bridge_attach(struct bridge *b, struct proc *leader)
{
	if (b->master)
		tty_attach(&pty_of(b)->tty, leader);
}

void bridge_resize(struct bridge *b, unsigned rows, unsigned cols)
{
	struct pty *pty;

	if (!b->master)
		return;
	pty = pty_of(b);
	if (pty->size.row == rows && pty->size.col == cols)
		return;
	pty->size = (struct linux_winsize){ .row = (uint16_t)rows, .col = (uint16_t)cols };
	tty_signal(&pty->tty, SIGWINCH);
}

void bridge_end(struct bridge *b, void (*const *done)(void *arg), void *arg)
{
	b->done = done;
	b->arg = arg;
	b->until = now_mono() + LINGER;
	work(b);
}
