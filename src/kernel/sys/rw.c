/* read, write and their vector, positional and flagged forms; lseek.
 *
 * A call that finds nothing to do is parked on the file's poll queue and run again. A blocking
 * write to a stream goes on until all is written: what was moved so far is in call.done, so that
 * the next run skips it and a signal in between gives the partial count. A write that syncs
 * (O_SYNC, RWF_SYNC) does so once, after its last byte, and then only waits. */
#include <errno.h>
#include <linux/fs.h>
#include <poll.h>

#include "kernel/platform/guestrange.h"
#include "kernel/sys/file_util.h"
#include "kernel/sys/handlers.h"
#include "kernel/sys/sockcall.h"
#include "stub/post.h"
#include "kernel/task/call.h"
#include "kernel/task/proc.h"
#include "kernel/task/task.h"
#include "kernel/vfs/fdtable.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/inode.h"

#ifndef RWF_NOAPPEND
#define RWF_NOAPPEND 0x20
#endif
#define DEV_FULL 0x107 /* 1, 7 */
#define RWF_KNOWN (RWF_HIPRI | RWF_DSYNC | RWF_SYNC | RWF_NOWAIT | RWF_APPEND | RWF_NOAPPEND)

/* A blocking write of these is complete or cut by a signal, never short. */
static bool write_is_whole(const struct file *f)
{
	return f->mode & FMODE_STREAM &&
	       (S_ISFIFO(f->inode->mode) || S_ISSOCK(f->inode->mode) || S_ISCHR(f->inode->mode));
}

static bool sends_sigpipe(const struct file *f)
{
	return S_ISFIFO(f->inode->mode) || S_ISSOCK(f->inode->mode);
}

/* The position that a call works at: its own, or the file's. */
struct rw_pos {
	bool given; /* by the call: the file's own stays */
	int64_t pos;
};

/* A transfer of any size that the guest likes must not keep everybody else waiting: beyond this it
 * is made in pieces, one after each event of others. call.done is what was moved so far. */
#define PIECE (2UL << 20)
_Static_assert(STREAM_MAX <= PIECE, "a posted call ends at once");

/* Cuts u to the next piece; what is left of the rest. */
static uint64_t piece_begin(struct task *t, struct uio *u)
{
	uint64_t over;

	uio_skip(u, (uint64_t)t->call.done);
	over = u->left > PIECE ? u->left - PIECE : 0;
	u->left -= over;
	return over;
}

/* r: what became of a piece of want bytes. */
static int64_t piece_end(struct task *t, struct file *f, uint64_t want, uint64_t over, int64_t r)
{
	if (r > 0)
		t->call.done += r;
	if (r <= 0 || (uint64_t)r < want || !over)
		return t->call.done ? t->call.done : r;
	file_keep(t, f);
	return call_wait_turn(t);
}

static int64_t rw_read(struct task *t, struct file *f, struct uio *u, struct rw_pos at,
		       unsigned rwf)
{
	if (sock_of(f))
		return sock_read_call(t, f, u, rwf & RWF_NOWAIT);
	bool stream = f->mode & FMODE_STREAM;
	int64_t pos = at.given ? at.pos + t->call.done : stream ? 0 : f->pos;
	uint64_t over = piece_begin(t, u), want = u->left;
	int64_t r;

	if (!stream && (pos < 0 || pos > INT64_MAX - (int64_t)(want + over)))
		return -EINVAL;
	if (inode_is_dir(f->inode))
		return -EISDIR;
	r = file_read(f, u, pos);
	if (r == -EAGAIN && !t->call.done && file_may_block(f) && !(rwf & RWF_NOWAIT))
		return file_park(t, f, POLLIN);
	if (r > 0 && !at.given && !stream)
		f->pos = pos + r;
	return piece_end(t, f, want, over, r);
}

static int64_t write_stream(struct task *t, struct file *f, struct uio *u, unsigned rwf)
{
	bool wait = file_may_block(f) && !(rwf & RWF_NOWAIT);
	int64_t done = t->call.resumed ? t->call.done : 0, r;

	uio_skip(u, (uint64_t)done);
	do {
		r = file_write(f, u, 0);
		done += r > 0 ? r : 0;
	} while (r > 0 && u->left && wait && write_is_whole(f));
	if (r == -EAGAIN && wait) {
		t->call.done = done;
		return file_park(t, f, POLLOUT);
	}
	if (r == -EPIPE && sends_sigpipe(f))
		sigpipe_send(t);
	return done ? done : r;
}

static int64_t rw_write(struct task *t, struct file *f, struct uio *u, struct rw_pos at,
			unsigned rwf)
{
	uint32_t flags = f->flags;
	uint64_t over, want;
	int64_t pos, r;

	if (sock_of(f))
		return sock_write_call(t, f, u, rwf & RWF_NOWAIT);
	if (f->mode & FMODE_STREAM)
		return write_stream(t, f, u, rwf);
	if (at.given)
		at.pos += t->call.done;
	over = piece_begin(t, u);
	want = u->left;
	if ((at.given ? at.pos : f->pos) > INT64_MAX - (int64_t)(want + over))
		return -EINVAL;
	/* The flags of this one call, seen by the file's own code as if they were set on the
	 * file. */
	if (rwf & RWF_APPEND)
		f->flags |= O_APPEND;
	if (rwf & RWF_NOAPPEND)
		f->flags &= ~(uint32_t)O_APPEND;
	pos = file_write_pos(f, at.given ? at.pos : f->pos);
	t->call.may_wait = true;
	r = file_write(f, u, pos);
	f->flags = flags;
	if (r < 0 && t->call.parked) {
		file_keep(t, f);
		return r;
	}
	if (r == -EAGAIN && !t->call.done && file_may_block(f) && !(rwf & RWF_NOWAIT))
		return file_park(t, f, POLLOUT);
	if (r > 0 && !at.given)
		f->pos = pos + r;
	/* A write that reaches the limit is short; only the next one fails. */
	if (r > 0 && (uint64_t)(pos + r) >= t->proc->limits[RLIMIT_FSIZE].cur)
		over = 0;
	r = piece_end(t, f, want, over, r);
	return r > 0 ? call_written(t, f, rwf, r) : r;
}

/* The descriptor's file, checked for the direction. */
static int rw_file(struct task *t, int fd, bool write, struct file **ret_)
{
	struct file *f = file_of_call(t, fd);

	if (!f || !(f->mode & (write ? FMODE_WRITE : FMODE_READ)))
		return -EBADF;
	if (!write && inode_is_dir(f->inode)) {
		*ret_ = f;
		return 0; /* refused in rw_read */
	}
	if (!(write ? (void *)f->ops->write : (void *)f->ops->read))
		return -EINVAL;
	*ret_ = f;
	return 0;
}

/* The end of a call, for /proc/PID/io. */
static int64_t rw_count(struct task *t, bool write, int64_t r)
{
	struct proc *p = t->proc;

	if (r == WAITING)
		return r;
	if (write) {
		p->io.writes++;
		p->io.written += r > 0 ? (uint64_t)r : 0;
	} else {
		p->io.reads++;
		p->io.read += r > 0 ? (uint64_t)r : 0;
	}
	return r;
}

/* One buffer at the file's own position. */
static int64_t rw_plain(struct task *t, const struct sysargs *a, bool write)
{
	struct file *f;
	struct uio u;
	int64_t r;

	if (call_written_again(t, &r))
		return r;
	r = rw_file(t, ARG_INT(a, 0), write, &f);
	if (r < 0)
		return r;
	if (!guest_range_ok(a->a[1], a->a[2]))
		return -EFAULT;
	uio_init_guest(&u, t->tid, a->a[1], a->a[2]);
	return write ? rw_write(t, f, &u, (struct rw_pos){ 0 }, 0)
		     : rw_read(t, f, &u, (struct rw_pos){ 0 }, 0);
}

int64_t sys_read(struct task *t, const struct sysargs *a)
{
	return rw_count(t, false, rw_plain(t, a, false));
}

int64_t sys_write(struct task *t, const struct sysargs *a)
{
	return rw_count(t, true, rw_plain(t, a, true));
}

static int64_t rw_at(struct task *t, const struct sysargs *a, bool write)
{
	struct rw_pos at = { .given = true, .pos = (int64_t)a->a[3] };
	struct file *f = file_of_call(t, ARG_INT(a, 0));
	struct uio u;
	int64_t r;

	if (call_written_again(t, &r))
		return r;
	if (at.pos < 0)
		return -EINVAL;
	if (!f)
		return -EBADF;
	if (f->mode & FMODE_STREAM)
		return -ESPIPE;
	r = rw_file(t, ARG_INT(a, 0), write, &f);
	if (r < 0)
		return r;
	if (!guest_range_ok(a->a[1], a->a[2]))
		return -EFAULT;
	uio_init_guest(&u, t->tid, a->a[1], a->a[2]);
	return write ? rw_write(t, f, &u, at, 0) : rw_read(t, f, &u, at, 0);
}

int64_t sys_pread64(struct task *t, const struct sysargs *a)
{
	return rw_count(t, false, rw_at(t, a, false));
}

int64_t sys_pwrite64(struct task *t, const struct sysargs *a)
{
	return rw_count(t, true, rw_at(t, a, true));
}

/* The place, then the flags. Files of which Linux has only the plain form know no flags:
 * directories, writing to /dev/full. */
static int vec_check(const struct file *f, const struct uio *u, struct rw_pos at, unsigned rwf,
		     bool write)
{
	bool full = S_ISCHR(f->inode->mode) && f->inode->rdev == DEV_FULL;
	int64_t pos = at.given ? at.pos : f->mode & FMODE_STREAM ? 0 : f->pos;

	if (pos > INT64_MAX - (int64_t)u->left)
		return -EINVAL;
	if (rwf & ~(unsigned)RWF_KNOWN || (full && rwf & RWF_NOWAIT))
		return -EOPNOTSUPP;
	if (rwf & ~(unsigned)RWF_HIPRI && (inode_is_dir(f->inode) || (full && write)))
		return -EOPNOTSUPP;
	return rwf & RWF_APPEND && rwf & RWF_NOAPPEND ? -EINVAL : 0;
}

/* All vector forms. */
static int64_t vec_run(struct task *t, const struct sysargs *a, struct rw_pos at, unsigned rwf,
		       bool write)
{
	struct file *f = file_of_call(t, ARG_INT(a, 0));
	struct uio u;
	int64_t r;

	if (call_written_again(t, &r))
		return r;
	if (at.given && at.pos < 0)
		return -EINVAL;
	if (!f)
		return -EBADF;
	if (at.given && f->mode & FMODE_STREAM)
		return -ESPIPE;
	r = rw_file(t, ARG_INT(a, 0), write, &f);
	if (r < 0)
		return r;
	r = uio_init_iov(&u, t->tid, a->a[1], a->a[2]);
	if (r < 0)
		return r;
	if (!u.left) /* not even the flags are looked at */
		r = 0;
	else
		r = vec_check(f, &u, at, rwf, write);
	if (r == 0 && u.left)
		r = write ? rw_write(t, f, &u, at, rwf) : rw_read(t, f, &u, at, rwf);
	uio_fini(&u);
	return r;
}

static int64_t rw_vec(struct task *t, const struct sysargs *a, struct rw_pos at, unsigned rwf,
		      bool write)
{
	return rw_count(t, write, vec_run(t, a, at, rwf, write));
}

int64_t sys_readv(struct task *t, const struct sysargs *a)
{
	return rw_vec(t, a, (struct rw_pos){ 0 }, 0, false);
}

int64_t sys_writev(struct task *t, const struct sysargs *a)
{
	return rw_vec(t, a, (struct rw_pos){ 0 }, 0, true);
}

int64_t sys_preadv(struct task *t, const struct sysargs *a)
{
	return rw_vec(t, a, (struct rw_pos){ true, (int64_t)a->a[3] }, 0, false);
}

int64_t sys_pwritev(struct task *t, const struct sysargs *a)
{
	return rw_vec(t, a, (struct rw_pos){ true, (int64_t)a->a[3] }, 0, true);
}

/* Position -1 means the file's own. */
static struct rw_pos rw_pos2(const struct sysargs *a)
{
	return (struct rw_pos){ .given = (int64_t)a->a[3] != -1, .pos = (int64_t)a->a[3] };
}

int64_t sys_preadv2(struct task *t, const struct sysargs *a)
{
	return rw_vec(t, a, rw_pos2(a), ARG_UINT(a, 5), false);
}

int64_t sys_pwritev2(struct task *t, const struct sysargs *a)
{
	return rw_vec(t, a, rw_pos2(a), ARG_UINT(a, 5), true);
}

int64_t sys_lseek(struct task *t, const struct sysargs *a)
{
	struct file *f = fd_file(t, ARG_INT(a, 0));

	if (!f)
		return -EBADF;
	if (ARG_UINT(a, 2) > SEEK_HOLE)
		return -EINVAL;
	/* Some files without a position have an answer all the same (eventfd). */
	if (f->mode & FMODE_STREAM && f->ops->seek)
		return CHECKED(f->ops)->seek(f, (int64_t)a->a[1], ARG_INT(a, 2));
	return file_seek(f, (int64_t)a->a[1], ARG_INT(a, 2));
}
