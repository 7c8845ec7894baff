/* splice, tee, vmsplice, sendfile, copy_file_range: bytes from file to file through one buffer of
 * the kernel.
 *
 * Nothing is taken from a source before the sink has it: a pipe is peeked at and consumed
 * afterwards, a file's position moves by what was written, and into a pipe only as much is read as
 * it has room for. One run of sendfile and copy_file_range moves at most RUN_MAX bytes, so that it
 * cannot hold up the loop; the call goes on in another turn, with what it has moved in call.done.
 */
#include <errno.h>
#include <poll.h>

#include "kernel/fs/pipe/pipe.h"
#include "kernel/platform/guestmem.h"
#include "kernel/sys/file_util.h"
#include "kernel/sys/handlers.h"
#include "kernel/task/call.h"
#include "kernel/task/task.h"
#include "kernel/vfs/fdtable.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/inode.h"
#include "kernel/vfs/ops.h"

#define XFER_SIZE 65536u
#define DEV_NULL 0x103 /* 1, 3 */
#define DEV_FULL 0x107
#define RUN_MAX (2u << 20)
#define SPLICE_ALL (SPLICE_F_MOVE | SPLICE_F_NONBLOCK | SPLICE_F_MORE | SPLICE_F_GIFT)

static char xfer[XFER_SIZE];

/* ---- positions ---- */

/* One side of a transfer: where its bytes are. */
struct side {
	struct file *f;
	uaddr_t off_addr; /* of the caller's offset; 0: the file's own position */
	int64_t pos;
};

/* The caller checks the sign of the position. */
static int side_init(struct task *t, struct side *s, struct file *f, uaddr_t off_addr)
{
	s->f = f;
	s->off_addr = off_addr;
	s->pos = f->mode & FMODE_STREAM ? 0 : f->pos;
	if (!off_addr)
		return 0;
	return guest_get(t->tid, &s->pos, off_addr);
}

/* n bytes were moved at this side. */
static void side_move(struct side *s, int64_t n)
{
	if (s->f->mode & FMODE_STREAM || S_ISCHR(s->f->inode->mode))
		return;
	s->pos += n;
	if (!s->off_addr)
		s->f->pos = s->pos;
}

/* Tells the caller where its offset is now. */
static int side_finish(struct task *t, const struct side *s)
{
	return s->off_addr ? guest_put(t->tid, s->off_addr, &s->pos) : 0;
}

/* Writes n bytes of the buffer to s. */
static int64_t side_write(struct task *t, struct side *s, uint32_t n)
{
	struct uio u;
	int64_t r;

	if (inode_is_reg(s->f->inode)) {
		r = vfs_write_limit(t, (uint64_t)s->pos, n);
		if (r < 0)
			return r;
		n = (uint32_t)MIN((int64_t)n, r);
	}
	uio_init_kernel(&u, xfer, n);
	r = file_write(s->f, &u, s->pos);
	if (r > 0)
		side_move(s, r);
	if (r == -EPIPE)
		sigpipe_send(t);
	return r;
}

static int64_t side_read(struct side *s, uint32_t n)
{
	struct uio u;

	uio_init_kernel(&u, xfer, n);
	return file_read(s->f, &u, s->pos);
}

/* Both descriptors of a call, borrowed. */
static int two_files(struct task *t, int in_fd, int out_fd, struct file **in, struct file **out)
{
	*in = fd_file(t, in_fd);
	*out = fd_file(t, out_fd);
	return *in && *out ? 0 : -EBADF;
}

static int check_directions(const struct file *in, const struct file *out)
{
	return in->mode & FMODE_READ && out->mode & FMODE_WRITE ? 0 : -EBADF;
}

static bool can_splice_to(const struct file *f)
{
	return f->ops->write && (!S_ISCHR(f->inode->mode) || f->inode->rdev != DEV_FULL);
}

/* Would a transfer of len bytes from or to here leave the range of positions? */
static bool side_overflows(const struct side *s, uint64_t len)
{
	return s->pos < 0 || len > INT64_MAX || s->pos > INT64_MAX - (int64_t)len;
}

/* What Linux's devices and descriptors can be spliced from. */
static bool can_splice_from(const struct file *f)
{
	if (S_ISCHR(f->inode->mode))
		return f->inode->rdev != DEV_NULL;
	return inode_is_reg(f->inode) || S_ISFIFO(f->inode->mode) || S_ISSOCK(f->inode->mode);
}

static int64_t wait_for(struct task *t, struct file *f, uint32_t events, bool nonblock)
{
	struct waitq *q = nonblock ? NULL : file_poll_q(f);

	if (!q)
		return -EAGAIN;
	return call_wait(t, q, events == POLLIN ? POLLIN | POLLRDNORM : POLLOUT | POLLWRNORM,
			 PARK_RESTART);
}

/* ---- splice ---- */

static int64_t splice_from_pipe(struct task *t, struct file *in, struct side *to, uint64_t len,
				bool nonblock)
{
	struct pipe *p = pipe_of(in);
	int64_t done = 0, r = 0;

	if (!pipe_used(p))
		return pipe_has_writers(p) ? wait_for(t, in, POLLIN, nonblock) : 0;
	while (len && pipe_used(p)) {
		uint32_t n = pipe_peek(p, 0, xfer, (uint32_t)MIN(len, (uint64_t)XFER_SIZE));
		r = side_write(t, to, n);
		if (r <= 0)
			break;
		pipe_consume(p, (uint32_t)r);
		done += r;
		len -= (uint64_t)r;
		if (r < n)
			break;
	}
	if (r == -EAGAIN && !done)
		return wait_for(t, to->f, POLLOUT, nonblock || !file_may_block(to->f));
	return done ? done : r;
}

static int64_t splice_to_pipe(struct task *t, struct side *from, struct file *out, uint64_t len,
			      bool nonblock)
{
	struct pipe *p = pipe_of(out);
	int64_t done = 0, r = 0;

	if (!pipe_has_readers(p)) {
		sigpipe_send(t);
		return -EPIPE;
	}
	if (!pipe_space(p))
		return wait_for(t, out, POLLOUT, nonblock);
	while (len && pipe_space(p)) {
		uint32_t n = (uint32_t)MIN(MIN(len, (uint64_t)XFER_SIZE), (uint64_t)pipe_space(p));
		struct uio u;

		r = side_read(from, n);
		if (r <= 0)
			break;
		uio_init_kernel(&u, xfer, (size_t)r);
		r = pipe_push(p, &u, false);
		if (r <= 0)
			break;
		side_move(from, r);
		done += r;
		len -= (uint64_t)r;
		if (r < n || from->f->mode & FMODE_STREAM)
			break;
	}
	if (r == -EAGAIN && !done)
		return wait_for(t, from->f, POLLIN, nonblock || !file_may_block(from->f));
	return done ? done : r;
}

/* Pipe to pipe, taking (splice) or copying (tee). */
static int64_t pipe_to_pipe(struct task *t, struct file *in, struct file *out, uint64_t len,
			    bool take, bool nonblock)
{
	struct pipe *from = pipe_of(in), *to = pipe_of(out);
	uint32_t off = 0;
	int64_t done = 0, r = 0;

	if (from == to)
		return -EINVAL;
	if (!len)
		return 0;
	if (!pipe_used(from))
		return pipe_has_writers(from) ? wait_for(t, in, POLLIN, nonblock) : 0;
	if (!pipe_has_readers(to)) {
		sigpipe_send(t);
		return -EPIPE;
	}
	if (!pipe_space(to))
		return wait_for(t, out, POLLOUT, nonblock);
	while (len && pipe_space(to)) {
		uint32_t n = (uint32_t)MIN(MIN(len, (uint64_t)XFER_SIZE), (uint64_t)pipe_space(to));
		struct uio u;

		n = pipe_peek(from, off, xfer, n);
		if (!n)
			break;
		uio_init_kernel(&u, xfer, n);
		r = pipe_push(to, &u, false);
		if (r <= 0)
			break;
		if (take)
			pipe_consume(from, (uint32_t)r);
		else
			off += (uint32_t)r;
		done += r;
		len -= (uint64_t)r;
	}
	return done ? done : r;
}

int64_t sys_splice(struct task *t, const struct sysargs *a)
{
	uint64_t len = MIN(a->a[4], UIO_MAX_BYTES);
	unsigned flags = ARG_UINT(a, 5);
	struct file *in, *out;
	struct side s;
	int64_t r;
	int r2;

	if (call_written_again(t, &r))
		return r;
	if (!len)
		return 0;
	if (flags & ~(unsigned)SPLICE_ALL)
		return -EINVAL;
	r = two_files(t, ARG_INT(a, 0), ARG_INT(a, 2), &in, &out);
	if (r < 0)
		return r;
	bool nonblock = flags & SPLICE_F_NONBLOCK;
	if ((pipe_of(in) && a->a[1]) || (pipe_of(out) && a->a[3]))
		return -ESPIPE;
	r = check_directions(in, out);
	if (r < 0)
		return r;
	if (pipe_of(in) && pipe_of(out)) {
		nonblock |= (in->flags | out->flags) & O_NONBLOCK;
		return pipe_to_pipe(t, in, out, len, true, nonblock);
	}
	if ((int64_t)a->a[4] < 0)
		return -EINVAL;
	if (pipe_of(in)) {
		if (a->a[3] && out->mode & FMODE_STREAM)
			return -EINVAL;
		r = side_init(t, &s, out, a->a[3]);
		if (r == 0 &&
		    (out->flags & O_APPEND || side_overflows(&s, a->a[4]) || !can_splice_to(out)))
			r = -EINVAL;
		if (r == 0)
			r = splice_from_pipe(t, in, &s, len, nonblock || !file_may_block(in));
	} else if (pipe_of(out)) {
		if (a->a[1] && in->mode & FMODE_STREAM)
			return -EINVAL;
		r = side_init(t, &s, in, a->a[1]);
		if (r == 0 && (side_overflows(&s, a->a[4]) || !can_splice_from(in)))
			r = -EINVAL;
		if (r == 0)
			r = splice_to_pipe(t, &s, out, len, nonblock || !file_may_block(out));
	} else {
		return -EINVAL;
	}
	if (r <= 0)
		return r;
	r2 = side_finish(t, &s);
	return r2 < 0 ? r2 : call_written(t, out, 0, r);
}

int64_t sys_tee(struct task *t, const struct sysargs *a)
{
	unsigned flags = ARG_UINT(a, 3);
	struct file *in, *out;
	int r;

	if (flags & ~(unsigned)SPLICE_ALL)
		return -EINVAL;
	if (!a->a[2])
		return 0;
	r = two_files(t, ARG_INT(a, 0), ARG_INT(a, 1), &in, &out);
	if (r < 0)
		return r;
	r = check_directions(in, out);
	if (r < 0)
		return r;
	if (!pipe_of(in) || !pipe_of(out))
		return -EINVAL;
	return pipe_to_pipe(t, in, out, MIN(a->a[2], UIO_MAX_BYTES), false,
			    flags & SPLICE_F_NONBLOCK || (in->flags | out->flags) & O_NONBLOCK);
}

int64_t sys_vmsplice(struct task *t, const struct sysargs *a)
{
	unsigned flags = ARG_UINT(a, 3);
	struct file *f = fd_file(t, ARG_INT(a, 0));
	struct uio u;
	int64_t r;

	if (flags & ~(unsigned)SPLICE_ALL)
		return -EINVAL;
	if (!f || !pipe_of(f))
		return -EBADF;
	r = uio_init_iov(&u, t->tid, a->a[1], a->a[2]);
	if (r < 0)
		return r;
	bool write = f->mode & FMODE_WRITE;
	if (write)
		r = u.left ? pipe_push(pipe_of(f), &u, false) : 0;
	else
		r = file_read(f, &u, 0);
	uio_fini(&u);
	if (r == -EPIPE)
		sigpipe_send(t);
	if (r == -EAGAIN)
		return wait_for(t, f, write ? POLLOUT : POLLIN,
				flags & SPLICE_F_NONBLOCK || !file_may_block(f));
	return r;
}

/* ---- sendfile ---- */

/* Moves up to len bytes; the caller's offset follows at once, so that a call cut short by a signal
 * leaves it right. */
static int64_t sendfile_run(struct task *t, struct side *from, struct side *to, uint64_t len)
{
	int64_t done = t->call.resumed ? t->call.done : 0, r = 0;
	uint64_t left = len - MIN(len, (uint64_t)done), budget = RUN_MAX;

	while (left && budget) {
		uint32_t n = (uint32_t)MIN(MIN(left, budget), (uint64_t)XFER_SIZE);

		r = side_read(from, n);
		if (r <= 0)
			break;
		n = (uint32_t)r;
		r = side_write(t, to, n);
		if (r <= 0)
			break;
		side_move(from, r);
		done += r;
		left -= (uint64_t)r;
		budget -= (uint64_t)r;
	}
	if (side_finish(t, from) < 0)
		return -EFAULT;
	if (left && !budget) {
		t->call.done = done;
		return call_wait_turn(t);
	}
	if (r == -EAGAIN && left && file_may_block(to->f)) {
		t->call.done = done;
		return wait_for(t, to->f, POLLOUT, false);
	}
	return done ? done : r;
}

static int64_t sendfile_call(struct task *t, const struct sysargs *a)
{
	struct file *in = fd_file(t, ARG_INT(a, 1)), *out;
	int64_t r, done = t->call.resumed ? t->call.done : 0;
	struct side from, to;

	/* The source is looked at before the other descriptor is. */
	if (!in || !(in->mode & FMODE_READ))
		return -EBADF;
	if (a->a[2] && in->mode & FMODE_STREAM)
		return -ESPIPE;
	r = side_init(t, &from, in, a->a[2]);
	if (r < 0)
		return r;
	if (side_overflows(&from, a->a[3] - MIN(a->a[3], (uint64_t)done)))
		return -EINVAL;
	out = fd_file(t, ARG_INT(a, 0));
	if (!out || !(out->mode & FMODE_WRITE))
		return -EBADF;
	r = side_init(t, &to, out, 0);
	if (r < 0)
		return r;
	/* Into a pipe it is a splice, which sockets can be the source of. */
	if (pipe_of(out) && S_ISSOCK(in->inode->mode))
		return !a->a[3] ? 0
				: splice_to_pipe(t, &from, out, MIN(a->a[3], UIO_MAX_BYTES),
						 !file_may_block(out));
	if (out->flags & O_APPEND || S_ISFIFO(in->inode->mode) || S_ISSOCK(in->inode->mode))
		return -EINVAL;
	if (!a->a[3])
		return 0;
	if (!can_splice_from(in) || !can_splice_to(out))
		return -EINVAL;
	r = sendfile_run(t, &from, &to, MIN(a->a[3], UIO_MAX_BYTES));
	return r > 0 ? call_written(t, out, 0, r) : r;
}

/* What a later run of a call comes to: an error counts only if no byte was moved before it. */
static int64_t run_result(const struct task *t, int64_t r)
{
	return r < 0 && r != WAITING && t->call.resumed && t->call.done ? t->call.done : r;
}

int64_t sys_sendfile(struct task *t, const struct sysargs *a)
{
	int64_t r;

	return call_written_again(t, &r) ? r : run_result(t, sendfile_call(t, a));
}

/* ---- copy_file_range ---- */

static int copy_check(const struct file *in, const struct file *out)
{
	if (inode_is_dir(in->inode) || inode_is_dir(out->inode))
		return -EISDIR;
	if (!inode_is_reg(in->inode) || !inode_is_reg(out->inode))
		return -EINVAL;
	if (!(in->mode & FMODE_READ) || !(out->mode & FMODE_WRITE) || out->flags & O_APPEND)
		return -EBADF;
	return 0;
}

/* One piece of len bytes. */
static int64_t copy_run(struct task *t, struct side *from, struct side *to, uint64_t len)
{
	uint64_t budget = MIN(len, (uint64_t)RUN_MAX);
	int64_t done = t->call.resumed ? t->call.done : 0, r = 0;

	while (budget) {
		uint32_t n = (uint32_t)MIN(budget, (uint64_t)XFER_SIZE);

		r = side_read(from, n);
		if (r <= 0)
			break;
		r = side_write(t, to, (uint32_t)r);
		if (r <= 0)
			break;
		side_move(from, r);
		done += r;
		budget -= (uint64_t)r;
	}
	if (done && (side_finish(t, from) < 0 || side_finish(t, to) < 0))
		return -EFAULT;
	if (!budget && len > RUN_MAX) {
		t->call.done = done;
		return call_wait_turn(t);
	}
	return done ? done : r;
}

static int64_t copy_call(struct task *t, const struct sysargs *a)
{
	struct file *in = fd_file(t, ARG_INT(a, 0)), *out = fd_file(t, ARG_INT(a, 2));
	uint64_t done = t->call.resumed ? (uint64_t)t->call.done : 0;
	uint64_t len = a->a[4] - MIN(a->a[4], done); /* that are left */
	struct side from, to;
	int64_t r;

	if (!in || !out)
		return -EBADF;
	r = side_init(t, &from, in, a->a[1]);
	if (r == 0)
		r = side_init(t, &to, out, a->a[3]);
	if (r == 0 && ARG_UINT(a, 5))
		r = -EINVAL;
	if (r == 0)
		r = copy_check(in, out);
	if (r)
		return r;
	if ((uint64_t)from.pos + len < (uint64_t)from.pos ||
	    (uint64_t)to.pos + len < (uint64_t)to.pos)
		return -EOVERFLOW;
	if (from.pos < 0 || to.pos < 0)
		return -EINVAL;
	uint64_t there =
		in->inode->size > (uint64_t)from.pos ? in->inode->size - (uint64_t)from.pos : 0;
	len = MIN(MIN(len, there), UIO_MAX_BYTES - MIN(done, UIO_MAX_BYTES));
	if (in->inode == out->inode && len && from.pos < to.pos + (int64_t)len &&
	    to.pos < from.pos + (int64_t)len)
		return -EINVAL;
	r = copy_run(t, &from, &to, len);
	return r > 0 ? call_written(t, out, 0, r) : r;
}

int64_t sys_copy_file_range(struct task *t, const struct sysargs *a)
{
	int64_t r;

	return call_written_again(t, &r) ? r : run_result(t, copy_call(t, a));
}
