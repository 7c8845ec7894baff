/* eventfd: write adds to a 64-bit counter, read takes all of it (or one, for a semaphore). The
 * largest value is never reached by a write: one that would has to wait. */
#include "kernel/fs/eventfd/eventfd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>

#include "base/arena.h"
#include "kernel/platform/uio.h"
#include "kernel/task/waitq.h"
#include "kernel/vfs/file.h"

struct eventfd {
	uint64_t count;
	bool semaphore;
	struct waitq q;
};
OBJ_TYPE(eventfd_type, struct eventfd, 65536);

static int64_t eventfd_read(struct file *f, struct uio *u, int64_t pos)
{
	struct eventfd *e = f->priv;
	uint64_t value = e->semaphore ? 1 : e->count;

	(void)pos;
	if (u->left < sizeof(value))
		return -EINVAL;
	if (!e->count)
		return -EAGAIN;
	e->count -= value; /* before the copy, as Linux does: a bad address loses the value */
	waitq_wake(&e->q, POLLOUT);
	return uio_put(u, &value, sizeof(value)) == sizeof(value) ? (int64_t)sizeof(value)
								  : -EFAULT;
}

/* What is left of the buffer that comes next. */
static uint64_t buffer_left(const struct uio *u)
{
	uint32_t at = u->cur;
	uint64_t off = u->cur_off;

	if (off && off == u->vec[at].len && at + 1 < u->nvec) {
		at++;
		off = 0;
	}
	return u->vec[at].len - off;
}

static int64_t value_add(struct eventfd *e, struct uio *u)
{
	uint64_t value;

	if (u->nvec <= 1 && u->left != sizeof(value))
		return -EINVAL;
	if (uio_take(u, &value, sizeof(value)) != sizeof(value))
		return -EFAULT;
	if (value == UINT64_MAX)
		return -EINVAL;
	if (UINT64_MAX - e->count <= value)
		return -EAGAIN;
	e->count += value;
	waitq_wake(&e->q, POLLIN);
	return sizeof(value);
}

static int64_t eventfd_write(struct file *f, struct uio *u, int64_t pos)
{
	int64_t done = 0, r = 0;

	(void)pos;
	if (!u->left)
		return -EINVAL;
	/* Each buffer of a vector is a value of its own. */
	while (u->left && r >= 0) {
		r = u->nvec > 1 && buffer_left(u) != sizeof(uint64_t) ? -EINVAL
								      : value_add(f->priv, u);
		done += r > 0 ? r : 0;
	}
	return done ? done : r;
}

static uint32_t eventfd_poll(struct file *f)
{
	struct eventfd *e = f->priv;

	return (e->count ? POLLIN : 0) | (e->count < UINT64_MAX - 1 ? POLLOUT : 0);
}

static struct waitq *eventfd_poll_q(struct file *f)
{
	return &((struct eventfd *)f->priv)->q;
}

static int64_t eventfd_seek(struct file *f, int64_t off, int whence)
{
	(void)off, (void)whence;
	return f->pos;
}

static void eventfd_release(struct file *f)
{
	struct eventfd *e = f->priv;

	waitq_fini(&e->q);
	obj_free(&eventfd_type, e);
}

static void eventfd_fdinfo(struct file *f, struct uio *u)
{
	char line[64];
	int n = snprintf(line, sizeof(line), "eventfd-count: %16llx\n",
			 (unsigned long long)((struct eventfd *)f->priv)->count);

	(void)!uio_put(u, line, (size_t)n);
}

static const struct file_ops eventfd_fops = {
	.read = eventfd_read,
	.write = eventfd_write,
	.seek = eventfd_seek,
	.poll = eventfd_poll,
	.poll_q = eventfd_poll_q,
	.release = eventfd_release,
	.fdinfo = eventfd_fdinfo,
};

bool file_is_eventfd(const struct file *f)
{
	return f->ops == &eventfd_fops;
}

int eventfd_make(uint32_t count, bool semaphore, uint32_t flags, struct file **ret_)
{
	struct eventfd *e = obj_new(&eventfd_type);
	int r;

	if (!e)
		return -ENFILE;
	e->count = count;
	e->semaphore = semaphore;
	waitq_init(&e->q);
	r = file_new_anon("anon_inode:[eventfd]", 0600, &eventfd_fops, e,
			  O_RDWR | (flags & O_NONBLOCK), ret_);
	if (r < 0) {
		obj_free(&eventfd_type, e);
		return r;
	}
	(*ret_)->mode = FMODE_READ | FMODE_WRITE | FMODE_STREAM;
	return 0;
}
