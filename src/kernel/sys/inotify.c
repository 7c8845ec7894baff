/* inotify_init, inotify_add_watch, inotify_rm_watch. */
#include <errno.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "kernel/fs/inotify/inotify.h"
#include "kernel/sys/file_util.h"
#include "kernel/sys/handlers.h"
#include "kernel/task/task.h"
#include "kernel/vfs/fdtable.h"
#include "kernel/vfs/name.h"
#include "kernel/vfs/ops.h"
#include "kernel/vfs/path.h"

#define KNOWN_BITS                                                                               \
	(IN_ALL_EVENTS | IN_UNMOUNT | IN_Q_OVERFLOW | IN_IGNORED | IN_ONLYDIR | IN_DONT_FOLLOW | \
	 IN_EXCL_UNLINK | IN_MASK_ADD | IN_MASK_CREATE | IN_ISDIR | IN_ONESHOT)
#ifndef IN_MASK_CREATE
#define IN_MASK_CREATE 0x10000000
#endif

static int64_t instance_give(struct task *t, unsigned flags)
{
	struct file *f;
	int r;

	if (flags & ~(unsigned)(IN_CLOEXEC | IN_NONBLOCK))
		return -EINVAL;
	r = inotify_make(t->cred.uid, flags, &f);
	return r < 0 ? r : fd_give(t, f, flags & IN_CLOEXEC);
}

int64_t sys_inotify_init(struct task *t, const struct sysargs *a)
{
	(void)a;
	return instance_give(t, 0);
}

int64_t sys_inotify_init1(struct task *t, const struct sysargs *a)
{
	return instance_give(t, ARG_UINT(a, 0));
}

int64_t sys_inotify_add_watch(struct task *t, const struct sysargs *a)
{
	uint32_t mask = ARG_UINT(a, 2);
	struct file *f;
	struct path p;
	unsigned flags;
	int r;

	if ((mask & ~(uint32_t)KNOWN_BITS) || !mask)
		return -EINVAL;
	f = fd_file(t, ARG_INT(a, 0));
	if (!f)
		return -EBADF;
	if ((mask & IN_MASK_ADD) && (mask & IN_MASK_CREATE))
		return -EINVAL;
	if (!inotify_of(f))
		return -EINVAL;
	flags = (mask & IN_DONT_FOLLOW ? 0 : LOOKUP_FOLLOW) |
		(mask & IN_ONLYDIR ? LOOKUP_DIRECTORY : 0);
	r = path_at(t, AT_FDCWD, a->a[1], flags, &p);
	if (r < 0)
		return r;
	r = vfs_permission(t, &p, R_OK);
	if (r == 0)
		r = inotify_watch(inotify_of(f), p.name->inode, mask);
	path_put(&p);
	return r;
}

int64_t sys_inotify_rm_watch(struct task *t, const struct sysargs *a)
{
	struct file *f = fd_file(t, ARG_INT(a, 0));

	if (!f)
		return -EBADF;
	return inotify_of(f) ? inotify_unwatch(inotify_of(f), ARG_INT(a, 1)) : -EINVAL;
}
