/* Reading directories, and the places a process is in: getdents, getcwd, chdir, chroot. */
#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "kernel/abi/stat.h"
#include "kernel/platform/guestmem.h"
#include "kernel/sys/birth.h"
#include "kernel/sys/fast.h"
#include "kernel/sys/file_util.h"
#include "kernel/sys/handlers.h"
#include "kernel/task/call.h"
#include "kernel/task/cred.h"
#include "kernel/task/task.h"
#include "kernel/vfs/dir.h"
#include "kernel/vfs/fdtable.h"
#include "kernel/vfs/fs.h"
#include "kernel/vfs/fsctx.h"
#include "kernel/vfs/inode.h"
#include "kernel/vfs/notify.h"
#include "kernel/vfs/ops.h"
#include "kernel/vfs/path.h"

/* ---- getdents ---- */

#define DENTS_MAX 65536u /* what one call gives at most; programs ask for 32 KiB */

struct dents {
	struct dirsink sink;
	bool old; /* the layout of getdents, not of getdents64 */
	bool full; /* an entry did not fit */
	uint32_t used, size;
};

static char dents_buf[DENTS_MAX] __attribute__((aligned(8)));

static bool dents_emit(struct dirsink *sink, const char *name, size_t len, uint64_t ino,
		       unsigned dtype, int64_t next_off)
{
	struct dents *d = container_of(sink, struct dents, sink);
	uint32_t head = d->old ? offsetof(struct linux_dirent, name)
			       : offsetof(struct linux_dirent64, name);
	/* The old record has the type in its last byte, after the name's NUL. */
	uint32_t reclen = (uint32_t)ALIGN_UP(head + len + 1 + d->old, 8);
	char *rec = dents_buf + d->used;

	if (reclen > d->size - d->used) {
		d->full = true;
		return false;
	}
	memset(rec, 0, reclen);
	if (d->old) {
		struct linux_dirent *de = (struct linux_dirent *)rec;
		de->ino = ino;
		de->off = (uint64_t)next_off;
		de->reclen = (uint16_t)reclen;
		rec[reclen - 1] = (char)dtype;
	} else {
		struct linux_dirent64 *de = (struct linux_dirent64 *)rec;
		de->ino = ino;
		de->off = next_off;
		de->reclen = (uint16_t)reclen;
		de->type = (uint8_t)dtype;
	}
	memcpy(rec + head, name, len);
	d->used += reclen;
	return true;
}

/* How many of the first n bytes are whole entries; *ret_pos: the place after the last of them. */
static uint32_t dents_whole(const struct dents *d, uint32_t n, int64_t *ret_pos)
{
	uint32_t at = 0, len;

	for (; at < n; at += len) {
		const char *rec = dents_buf + at;

		len = d->old ? ((const struct linux_dirent *)rec)->reclen
			     : ((const struct linux_dirent64 *)rec)->reclen;
		if (len > n - at)
			break;
		*ret_pos = d->old ? (int64_t)((const struct linux_dirent *)rec)->off
				  : ((const struct linux_dirent64 *)rec)->off;
	}
	return at;
}

static int64_t dents_read(struct task *t, const struct sysargs *a, bool old)
{
	struct file *f = fd_file(t, ARG_INT(a, 0));
	struct dents d = { .sink.emit = dents_emit, .old = old };

	if (!f)
		return -EBADF;
	if (!inode_is_dir(f->inode) || !f->ops->iterate)
		return -ENOTDIR;
	if (f->path.name && f->path.name->deleted)
		return -ENOENT;
	/* A child that the caller knows of may be on its way to being listed. */
	if (!t->call.resumed && f->pos == 0 && f->inode->fs->lists_procs &&
	    f->inode == f->inode->fs->root && births_wait(t) == WAITING)
		return WAITING;
	int64_t pos = f->pos;
	d.size = (uint32_t)MIN((uint64_t)ARG_UINT(a, 2), (uint64_t)DENTS_MAX);
	int r = CHECKED(f->ops)->iterate(f, &d.sink);
	path_notify(&f->path, IN_ACCESS);
	if (f->path.name)
		path_accessed(&f->path);
	if (!d.used)
		return r < 0 ? r : d.full ? -EINVAL : 0;
	uint32_t there = (uint32_t)guest_write_some(t->tid, a->a[1], dents_buf, d.used);
	if (there < d.used) {
		/* The memory ends before them: as many as are there in whole. */
		d.used = dents_whole(&d, there, &pos);
		f->pos = pos;
	}
	return d.used ? (int64_t)d.used : -EFAULT;
}

int64_t sys_getdents(struct task *t, const struct sysargs *a)
{
	return dents_read(t, a, true);
}

int64_t sys_getdents64(struct task *t, const struct sysargs *a)
{
	return dents_read(t, a, false);
}

/* ---- places ---- */

int64_t sys_getcwd(struct task *t, const struct sysargs *a)
{
	static const char unreachable[] = "(unreachable)";
	const struct path *cwd = &t->fs->cwd;
	size_t len, room = sizeof(path_buf), mark = sizeof(unreachable) - 1;
	char *text;
	int r;

	if (cwd->name->deleted)
		return -ENOENT;
	r = path_text(cwd, &t->fs->root, false, path_buf, room, &text, &len);
	if (r == -ENOENT) {
		/* Outside of the root that chroot gave: told from the real root, and marked. */
		r = path_text(cwd, NULL, false, path_buf, room, &text, &len);
		if (r == 0 && (size_t)(text - path_buf) < mark)
			r = -ENAMETOOLONG;
		if (r == 0) {
			text -= mark;
			len += mark;
			memcpy(text, unreachable, mark);
		}
	}
	if (r < 0)
		return r;
	if (len > a->a[1])
		return -ERANGE;
	if (guest_write(t->tid, a->a[0], text, len) < 0)
		return -EFAULT;
	return (int64_t)len;
}

/* Takes the reference of *to. */
static void place_set(struct path *place, struct path *to)
{
	struct path old = *place;

	*place = *to;
	path_put(&old);
}

static int64_t chdir_to(struct task *t, struct path *p)
{
	int r = vfs_permission(t, p, X_OK);

	if (r < 0) {
		path_put(p);
		return r;
	}
	place_set(&t->fs->cwd, p);
	fast_fs_changed(t->fs);
	return 0;
}

int64_t sys_chdir(struct task *t, const struct sysargs *a)
{
	struct path p;
	int r = path_at(t, AT_FDCWD, a->a[0], LOOKUP_FOLLOW | LOOKUP_DIRECTORY, &p);

	return r < 0 ? r : chdir_to(t, &p);
}

int64_t sys_fchdir(struct task *t, const struct sysargs *a)
{
	struct path p;
	int r = path_of_fd(t, ARG_INT(a, 0), true, &p);

	if (r < 0)
		return r;
	if (!inode_is_dir(p.name->inode)) {
		path_put(&p);
		return -ENOTDIR;
	}
	return chdir_to(t, &p);
}

int64_t sys_chroot(struct task *t, const struct sysargs *a)
{
	struct path p;
	int r = path_at(t, AT_FDCWD, a->a[0], LOOKUP_FOLLOW | LOOKUP_DIRECTORY, &p);

	if (r < 0)
		return r;
	r = vfs_permission(t, &p, X_OK);
	if (r == 0 && !cred_has_cap(&t->cred, CAP_SYS_CHROOT))
		r = -EPERM;
	if (r < 0) {
		path_put(&p);
		return r;
	}
	place_set(&t->fs->root, &p);
	fast_fs_changed(t->fs);
	return 0;
}
