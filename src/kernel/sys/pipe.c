/* pipe, pipe2. */
#include "kernel/fs/pipe/pipe.h"

#include <errno.h>

#include "kernel/platform/guestmem.h"
#include "kernel/sys/file_util.h"
#include "kernel/sys/handlers.h"
#include "kernel/task/task.h"
#include "kernel/vfs/fdtable.h"
#include "kernel/vfs/file.h"

static int64_t pipe_give(struct task *t, uaddr_t addr, unsigned flags)
{
	bool cloexec = flags & O_CLOEXEC;
	struct file *r, *w;
	int fds[2], err;

	if (flags & ~(unsigned)(O_CLOEXEC | O_NONBLOCK | O_DIRECT))
		return -EINVAL;
	err = fd_room(t, 2);
	if (err == 0)
		err = pipe_make(flags, &r, &w);
	if (err)
		return err;
	fds[0] = (int)fd_give(t, r, cloexec);
	if (fds[0] < 0) {
		file_put(w);
		return fds[0];
	}
	fds[1] = (int)fd_give(t, w, cloexec);
	if (fds[1] < 0) {
		(void)!fd_close(t, fds[0]);
		return fds[1];
	}
	if (guest_write(t->tid, addr, fds, sizeof(fds)) < 0) {
		(void)!fd_close(t, fds[0]);
		(void)!fd_close(t, fds[1]);
		return -EFAULT;
	}
	return 0;
}

int64_t sys_pipe(struct task *t, const struct sysargs *a)
{
	return pipe_give(t, a->a[0], 0);
}

int64_t sys_pipe2(struct task *t, const struct sysargs *a)
{
	return pipe_give(t, a->a[0], ARG_UINT(a, 1));
}
