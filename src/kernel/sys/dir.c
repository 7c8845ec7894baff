/* Making, removing, linking and renaming names. The rules are in vfs/ops.c; here paths become a
 * directory and a last component, to which a '/' is appended when the path had one. */
#include <errno.h>
#include <linux/capability.h>
#include <string.h>

#include "kernel/platform/guestmem.h"
#include "kernel/sys/file_util.h"
#include "kernel/sys/handlers.h"
#include "kernel/task/cred.h"
#include "kernel/task/task.h"
#include "kernel/vfs/inode.h"
#include "kernel/vfs/name.h"
#include "kernel/vfs/ops.h"
#include "kernel/vfs/path.h"

#define LAST_SIZE (NAME_MAX_LEN + 3) /* a component, a '/' and the NUL */

/* Walks to the parent of the path in buf. returns path ref. */
static int parent_of(struct task *t, int dfd, const char *buf, struct path *ret_,
		     char last[LAST_SIZE])
{
	bool slash;
	int r = path_lookup_parent(t, dfd, buf, 0, ret_, last, &slash);

	if (r == 0 && slash && strcmp(last, "/"))
		strcat(last, "/");
	return r;
}

static int parent_at(struct task *t, int dfd, uaddr_t addr, char *buf, struct path *ret_,
		     char last[LAST_SIZE])
{
	int r = path_arg(t, addr, buf, false);

	return r < 0 ? r : parent_of(t, dfd, buf, ret_, last);
}

/* ---- create ---- */

static int64_t create_at(struct task *t, int dfd, uaddr_t addr, uint32_t mode, uint64_t rdev,
			 const char *target)
{
	char last[LAST_SIZE];
	struct newnode n;
	struct path dir;
	int r = parent_at(t, dfd, addr, path_buf, &dir, last);

	if (r < 0)
		return r;
	newnode_init(&n, t, dir.name->inode, mode);
	n.rdev = rdev;
	n.target = target;
	r = vfs_create(t, &dir, last, &n, NULL);
	path_put(&dir);
	return r;
}

int64_t sys_mkdir(struct task *t, const struct sysargs *a)
{
	return create_at(t, AT_FDCWD, a->a[0], S_IFDIR | (ARG_UINT(a, 1) & 01777), 0, NULL);
}

int64_t sys_mkdirat(struct task *t, const struct sysargs *a)
{
	return create_at(t, ARG_INT(a, 0), a->a[1], S_IFDIR | (ARG_UINT(a, 2) & 01777), 0, NULL);
}

static int64_t mknod_at(struct task *t, int dfd, uaddr_t addr, unsigned mode, unsigned dev)
{
	switch (mode & S_IFMT) {
	case 0:
		mode |= S_IFREG;
		break;
	case S_IFREG:
	case S_IFIFO:
	case S_IFSOCK:
		dev = 0;
		break;
	case S_IFCHR:
	case S_IFBLK:
		break;
	case S_IFDIR:
		return -EPERM;
	default:
		return -EINVAL;
	}
	return create_at(t, dfd, addr, mode & (S_IFMT | 07777), dev, NULL);
}

int64_t sys_mknod(struct task *t, const struct sysargs *a)
{
	return mknod_at(t, AT_FDCWD, a->a[0], ARG_UINT(a, 1), ARG_UINT(a, 2));
}

int64_t sys_mknodat(struct task *t, const struct sysargs *a)
{
	return mknod_at(t, ARG_INT(a, 0), a->a[1], ARG_UINT(a, 2), ARG_UINT(a, 3));
}

static int64_t symlink_at(struct task *t, uaddr_t target, int dfd, uaddr_t addr)
{
	int r = path_arg(t, target, path_buf2, false);

	return r < 0 ? r : create_at(t, dfd, addr, S_IFLNK | 0777, 0, path_buf2);
}

int64_t sys_symlink(struct task *t, const struct sysargs *a)
{
	return symlink_at(t, a->a[0], AT_FDCWD, a->a[1]);
}

int64_t sys_symlinkat(struct task *t, const struct sysargs *a)
{
	return symlink_at(t, a->a[0], ARG_INT(a, 1), a->a[2]);
}

static int64_t link_at(struct task *t, int odfd, uaddr_t oaddr, int ndfd, uaddr_t naddr,
		       unsigned flags)
{
	unsigned lookup = (flags & AT_SYMLINK_FOLLOW ? LOOKUP_FOLLOW : 0) |
			  (flags & AT_EMPTY_PATH ? LOOKUP_EMPTY : 0);
	char last[LAST_SIZE];
	struct path old, dir;
	int r, r2;

	if (flags & ~(unsigned)(AT_SYMLINK_FOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	/* Copied first, but what is wrong with the new name is said after the old one's walk. */
	r2 = path_arg(t, naddr, path_buf2, false);
	r = path_at(t, odfd, oaddr, lookup, &old);
	if (r < 0)
		return r;
	/* A descriptor alone is no right to give its file a name. */
	if (!path_buf[0] && !cred_has_cap(&t->cred, CAP_DAC_READ_SEARCH)) {
		path_put(&old);
		return -ENOENT;
	}
	r = r2 < 0 ? r2 : parent_of(t, ndfd, path_buf2, &dir, last);
	if (r == 0) {
		r = vfs_link(t, &old, &dir, last);
		path_put(&dir);
	}
	path_put(&old);
	return r;
}

int64_t sys_link(struct task *t, const struct sysargs *a)
{
	return link_at(t, AT_FDCWD, a->a[0], AT_FDCWD, a->a[1], 0);
}

int64_t sys_linkat(struct task *t, const struct sysargs *a)
{
	return link_at(t, ARG_INT(a, 0), a->a[1], ARG_INT(a, 2), a->a[3], ARG_UINT(a, 4));
}

/* ---- remove and rename ---- */

static int64_t unlink_at(struct task *t, int dfd, uaddr_t addr, bool rmdir)
{
	char last[LAST_SIZE];
	struct path dir;
	int r = parent_at(t, dfd, addr, path_buf, &dir, last);

	if (r < 0)
		return r;
	r = vfs_unlink(t, &dir, last, rmdir);
	path_put(&dir);
	return r;
}

int64_t sys_unlink(struct task *t, const struct sysargs *a)
{
	return unlink_at(t, AT_FDCWD, a->a[0], false);
}

int64_t sys_rmdir(struct task *t, const struct sysargs *a)
{
	return unlink_at(t, AT_FDCWD, a->a[0], true);
}

int64_t sys_unlinkat(struct task *t, const struct sysargs *a)
{
	if (ARG_UINT(a, 2) & ~(unsigned)AT_REMOVEDIR)
		return -EINVAL;
	return unlink_at(t, ARG_INT(a, 0), a->a[1], ARG_UINT(a, 2) & AT_REMOVEDIR);
}

static bool last_is_long(const char *path)
{
	size_t end = strlen(path), at;

	while (end && path[end - 1] == '/')
		end--;
	for (at = end; at && path[at - 1] != '/'; at--)
		;
	return end - at > NAME_MAX_LEN;
}

/* What comes before a last component that is too long: the way to the other name, and the old file
 * itself. */
static int rename_long(struct task *t, int odfd, int ndfd, bool old_is_long)
{
	char last[LAST_SIZE];
	struct path p;
	int r = old_is_long ? parent_of(t, ndfd, path_buf2, &p, last)
			    : path_lookup(t, odfd, path_buf, 0, &p);

	if (r == 0)
		path_put(&p);
	return r < 0 ? r : -ENAMETOOLONG;
}

static int64_t rename_at(struct task *t, int odfd, uaddr_t oaddr, int ndfd, uaddr_t naddr,
			 unsigned flags)
{
	char olast[LAST_SIZE], nlast[LAST_SIZE];
	struct path odir, ndir;
	int r, r2;

	/* RENAME_WHITEOUT is for overlay file systems; ours answer as those that lack it. */
	if (flags & ~RENAME_FLAGS || flags == RENAME_FLAGS)
		return -EINVAL;
	/* Both names are copied first, but what is wrong with the new one is said after the old
	 * one's walk. */
	r = path_arg(t, oaddr, path_buf, false);
	r2 = path_arg(t, naddr, path_buf2, false);
	if (r == 0) {
		r = parent_of(t, odfd, path_buf, &odir, olast);
		if (r == -ENAMETOOLONG && r2 == 0 && last_is_long(path_buf))
			r = rename_long(t, odfd, ndfd, true);
	}
	if (r < 0)
		return r;
	r = r2 < 0 ? r2 : parent_of(t, ndfd, path_buf2, &ndir, nlast);
	if (r == -ENAMETOOLONG && r2 == 0 && last_is_long(path_buf2))
		r = rename_long(t, odfd, ndfd, false);
	if (r == 0) {
		t->call.may_wait = true;
		r = vfs_rename(t, &odir, olast, &ndir, nlast, flags);
		path_put(&ndir);
	}
	path_put(&odir);
	return r;
}

int64_t sys_rename(struct task *t, const struct sysargs *a)
{
	return rename_at(t, AT_FDCWD, a->a[0], AT_FDCWD, a->a[1], 0);
}

int64_t sys_renameat(struct task *t, const struct sysargs *a)
{
	return rename_at(t, ARG_INT(a, 0), a->a[1], ARG_INT(a, 2), a->a[3], 0);
}

int64_t sys_renameat2(struct task *t, const struct sysargs *a)
{
	return rename_at(t, ARG_INT(a, 0), a->a[1], ARG_INT(a, 2), a->a[3], ARG_UINT(a, 4));
}
