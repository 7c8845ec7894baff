/* pidfd: readable once the process has ended. What can be done with one besides is in sys/pidfd.c
 * and sys/wait.c.
 *
 * The file holds a handle (task/pidref.h) and never the process itself, so a number that is used
 * again is not mistaken for it. Left out: threads (PIDFD_THREAD), ioctls, directories of /proc as
 * pidfds. */
#include "kernel/fs/pidfd/pidfd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>

#include "kernel/platform/uio.h"
#include "kernel/vfs/file.h"

static uint32_t pidfd_poll(struct file *f)
{
	const struct pidref *r = f->priv;

	if (pidref_is_gone(r))
		return POLLIN | POLLRDNORM | POLLHUP;
	return pidref_has_ended(r) ? POLLIN | POLLRDNORM : 0;
}

static struct waitq *pidfd_poll_q(struct file *f)
{
	return &((struct pidref *)f->priv)->q;
}

static void pidfd_release(struct file *f)
{
	pidref_put(f->priv);
}

static void pidfd_fdinfo(struct file *f, struct uio *u)
{
	const struct pidref *r = f->priv;
	int pid = pidref_is_gone(r) ? -1 : r->pid;
	char text[64];
	int n = snprintf(text, sizeof(text), "Pid:\t%d\nNSpid:\t%d\n", pid, pid);

	(void)!uio_put(u, text, (size_t)n);
}

static const struct file_ops pidfd_fops = {
	.poll = pidfd_poll,
	.poll_q = pidfd_poll_q,
	.release = pidfd_release,
	.fdinfo = pidfd_fdinfo,
};

struct pidref *pidfd_of(const struct file *f)
{
	return f->ops == &pidfd_fops ? f->priv : NULL;
}

int pidfd_make(struct pidref *r, uint32_t flags, struct file **ret_)
{
	int ret = file_new_anon("anon_inode:[pidfd]", 0600, &pidfd_fops, r,
				O_RDWR | (flags & O_NONBLOCK), ret_);

	if (ret < 0) {
		pidref_put(r);
		return ret;
	}
	(*ret_)->mode = FMODE_READ | FMODE_WRITE | FMODE_STREAM;
	return 0;
}
