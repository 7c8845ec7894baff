/* Pairs of pseudo-terminals: masters, slaves, and what each sees of the other.
 *
 * Opening /dev/ptmx makes a pair with the lowest free number and a slave in /dev/pts that stays
 * locked until the master unlocks it. The settings, the window and what is on its way belong to the
 * pair, so the slave may be closed and opened again. When its last file closes, the master reads
 * what is left and then EIO. When the master closes, the slave is hung up for good: its session is
 * told, readers get an end of file and writers EIO, the name goes. Left out: BSD pairs, the flow
 * control of the master's own side (TCXONC there does nothing). */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/sysmacros.h>

#include "base/arena.h"
#include "kernel/fs/pty/pty_priv.h"
#include "kernel/task/cred.h"
#include "kernel/task/task.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/inode.h"

#define CAP_SYS_ADMIN_ 21
/* seconds: times of a terminal are this coarse, so that they tell nothing of keystrokes */
#define TIME_STEP 8
#define POLL_READ (POLLIN | POLLRDNORM)
#define POLL_WRITE (POLLOUT | POLLWRNORM)

OBJ_TYPE(pty_type, struct pty, PTY_MAX * 2);

static struct pty *ptys[PTY_MAX];
static const struct file_ops master_fops, slave_fops;

struct pty *pty_find(uint64_t index)
{
	return index < PTY_MAX ? ptys[index] : NULL;
}

struct pty *pty_next(uint64_t index)
{
	for (; index < PTY_MAX; index++)
		if (ptys[index])
			return ptys[index];
	return NULL;
}

void pty_wake(struct pty *pty)
{
	uint32_t events = pty->ld.events;

	pty->ld.events = 0;
	if (events & (LDISC_CAN_READ | LDISC_CAN_WRITE))
		waitq_wake(&pty->slave_q, (events & LDISC_CAN_READ ? POLL_READ : 0) |
						  (events & LDISC_CAN_WRITE ? POLL_WRITE : 0));
	if (events & (LDISC_HAS_OUT | LDISC_HAS_ROOM))
		waitq_wake(&pty->master_q, (events & LDISC_HAS_OUT ? POLL_READ | POLLPRI : 0) |
						   (events & LDISC_HAS_ROOM ? POLL_WRITE : 0));
}

static void pty_signal(struct ldisc *ld, int sig)
{
	tty_signal(&container_of(ld, struct pty, ld)->tty, sig);
}

static void time_touch(struct timespec *ts)
{
	struct timespec now = inode_now();

	if ((now.tv_sec ^ ts->tv_sec) & ~(int64_t)(TIME_STEP - 1))
		*ts = (struct timespec){ .tv_sec = now.tv_sec };
}

static struct task *task_of(const struct uio *u)
{
	return u->tid ? task_find(u->tid) : NULL;
}

/* ---- the slave ---- */

static int64_t slave_read(struct file *f, struct uio *u, int64_t pos)
{
	struct pty *pty = f->priv;
	struct task *t = task_of(u);
	int64_t ret;

	(void)pos;
	if (pty->hung)
		return 0;
	ret = tty_may_read(&pty->tty, t);
	if (ret)
		return ret;
	ret = ldisc_read(&pty->ld, u, t, f->flags & O_NONBLOCK);
	if (ret > 0)
		time_touch(&pty->inode.atime);
	pty_wake(pty);
	return ret;
}

static int64_t slave_write(struct file *f, struct uio *u, int64_t pos)
{
	struct pty *pty = f->priv;
	int64_t ret;

	(void)pos;
	if (pty->hung)
		return -EIO;
	ret = tty_may_write(&pty->tty, task_of(u), pty->ld.set.lflag & TOSTOP);
	if (ret)
		return ret;
	ret = ldisc_write(&pty->ld, u);
	if (ret > 0)
		time_touch(&pty->inode.mtime);
	pty_wake(pty);
	return ret;
}

static uint32_t slave_poll(struct file *f)
{
	struct pty *pty = f->priv;

	if (pty->hung)
		return POLL_READ | POLL_WRITE | POLLERR | POLLHUP;
	return (ldisc_is_readable(&pty->ld) ? POLL_READ : 0) |
	       (ldisc_is_writable(&pty->ld) ? POLL_WRITE : 0);
}

static struct waitq *slave_poll_q(struct file *f)
{
	struct pty *pty = f->priv;

	return &pty->slave_q;
}

static void slave_release(struct file *f)
{
	struct pty *pty = f->priv;

	if (--pty->slaves == 0 && !pty->hung) {
		pty->slave_gone = true;
		waitq_wake(&pty->master_q, POLL_READ | POLL_WRITE | POLLHUP);
	}
	inode_put(&pty->inode);
}

int pty_slave_open(struct pty *pty, struct task *t, struct file *f)
{
	if (pty->hung || pty->locked)
		return -EIO;
	if (pty->exclusive && t && !cred_has_cap(&t->cred, CAP_SYS_ADMIN_))
		return -EBUSY;
	f->ops = &slave_fops;
	f->priv = pty;
	f->mode |= FMODE_STREAM;
	inode_get(&pty->inode);
	pty->slaves++;
	pty->slave_gone = false;
	tty_opened(&pty->tty, t, f);
	return 0;
}

/* For /dev/tty: it is the caller's already. */
static int slave_open_again(struct tty *tty, struct file *f)
{
	return pty_slave_open(container_of(tty, struct pty, tty), NULL, f);
}

/* ---- the master ---- */

static int64_t master_read(struct file *f, struct uio *u, int64_t pos)
{
	struct pty *pty = f->priv;
	int64_t ret = ldisc_master_read(&pty->ld, u);

	(void)pos;
	if (ret == -EAGAIN && pty->slave_gone)
		ret = -EIO;
	pty_wake(pty);
	return ret;
}

static int64_t master_write(struct file *f, struct uio *u, int64_t pos)
{
	struct pty *pty = f->priv;
	int64_t ret = ldisc_master_write(&pty->ld, u);

	(void)pos;
	pty_wake(pty);
	return ret;
}

static uint32_t master_poll(struct file *f)
{
	struct pty *pty = f->priv;
	uint32_t ready = ldisc_out(&pty->ld) ? POLL_READ : 0;

	if (pty->ld.packet && pty->ld.packet_bits)
		ready |= POLLPRI;
	if (ldisc_has_room(&pty->ld))
		ready |= POLL_WRITE;
	return ready | (pty->slave_gone ? POLLHUP : 0);
}

static struct waitq *master_poll_q(struct file *f)
{
	struct pty *pty = f->priv;

	return &pty->master_q;
}

static void master_release(struct file *f)
{
	struct pty *pty = f->priv;

	pty->hung = true;
	pty->inode.nlink = 0;
	ptys[pty->index] = NULL;
	tty_hang_up(&pty->tty);
	waitq_wake(&pty->slave_q, POLL_READ | POLL_WRITE | POLLHUP | POLLERR);
	inode_put(&pty->inode);
}

static void master_fdinfo(struct file *f, struct uio *u)
{
	struct pty *pty = f->priv;
	char text[32];
	int n = snprintf(text, sizeof(text), "tty-index:\t%u\n", pty->index);

	(void)uio_put(u, text, (size_t)n);
}

static int64_t no_seek(struct file *f, int64_t off, int whence)
{
	(void)f, (void)off, (void)whence;
	return -ESPIPE;
}

static const struct file_ops slave_fops = {
	.async = ASYNC_ALWAYS,
	.read = slave_read,
	.write = slave_write,
	.seek = no_seek,
	.poll = slave_poll,
	.poll_q = slave_poll_q,
	.ioctl = pty_slave_ioctl,
	.release = slave_release,
};

static const struct file_ops master_fops = {
	.async = ASYNC_ALWAYS,
	.read = master_read,
	.write = master_write,
	.seek = no_seek,
	.poll = master_poll,
	.poll_q = master_poll_q,
	.ioctl = pty_master_ioctl,
	.release = master_release,
	.fdinfo = master_fdinfo,
};

/* ---- life ---- */

int ptmx_open(struct task *t, struct file *f)
{
	uint32_t index = 0;
	struct pty *pty;

	if (!devpts_fs())
		return -ENODEV;
	while (index < PTY_MAX && ptys[index])
		index++;
	pty = index < PTY_MAX ? obj_new(&pty_type) : NULL;
	if (!pty)
		return -ENOSPC;
	pty->index = index;
	pty->locked = true;
	waitq_init(&pty->master_q);
	waitq_init(&pty->slave_q);
	ldisc_init(&pty->ld, CALLBACK(pty_signal));
	tty_init(&pty->tty, makedev(PTY_MAJOR, index), CALLBACK(slave_open_again));
	devpts_inode_init(pty, t ? &t->cred : NULL);
	ptys[index] = pty;
	f->ops = &master_fops;
	f->priv = pty; /* with the inode's first reference */
	f->mode |= FMODE_STREAM;
	return 0;
}

void pty_free(struct pty *pty)
{
	tty_fini(&pty->tty);
	waitq_fini(&pty->master_q);
	waitq_fini(&pty->slave_q);
	obj_free(&pty_type, pty);
}
