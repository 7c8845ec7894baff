/* Extended attributes: the four verbs, each by path, by path without following, and by
 * descriptor. */
#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/arena.h"
#include "kernel/platform/guestmem.h"
#include "kernel/sys/file_util.h"
#include "kernel/sys/handlers.h"
#include "kernel/task/cred.h"
#include "kernel/task/observe.h"
#include "kernel/task/task.h"
#include "kernel/vfs/ask.h"
#include "kernel/vfs/inode.h"
#include "kernel/vfs/notify.h"
#include "kernel/vfs/path.h"

#define XATTR_NAME_LEN 255
#define XATTR_SIZE_LIMIT 65536u

/* What a call names: a path (followed or not) or a descriptor. */
enum xattr_by { BY_PATH, BY_LINK, BY_FD };

static int xattr_place(struct task *t, const struct sysargs *a, enum xattr_by by, struct path *ret_)
{
	if (by == BY_FD)
		return path_of_fd(t, ARG_INT(a, 0), false, ret_);
	return path_at(t, AT_FDCWD, a->a[0], by == BY_PATH ? LOOKUP_FOLLOW : 0, ret_);
}

static int xattr_name(struct task *t, uaddr_t addr, char name[XATTR_NAME_LEN + 1])
{
	int r = guest_read_str(t->tid, name, addr, XATTR_NAME_LEN + 1);

	return r == -ENAMETOOLONG || r == 0 ? -ERANGE : r < 0 ? r : 0;
}

static bool has_prefix(const char *name, const char *prefix)
{
	return !strncmp(name, prefix, strlen(prefix));
}

/* Who may touch an attribute of this name at all. */
static int xattr_permission(struct task *t, const struct path *p, const char *name, bool write)
{
	struct inode *ino = p->name->inode;
	int r;

	if (write) {
		r = path_want_write(p);
		if (r < 0)
			return r;
	}
	if (has_prefix(name, "security.") || has_prefix(name, "system."))
		return write && has_prefix(name, "security.") &&
				       !cred_has_cap(&t->cred, CAP_SYS_ADMIN)
			       ? -EPERM
			       : 0;
	if (has_prefix(name, "trusted."))
		return cred_has_cap(&t->cred, CAP_SYS_ADMIN) ? 0 : write ? -EPERM : -ENODATA;
	/* Names of no known kind are the file system's to refuse, to who may ask. */
	if (!has_prefix(name, "user."))
		return inode_permission(ino, &t->cred, write ? W_OK : R_OK);
	if (!inode_is_reg(ino) && !inode_is_dir(ino))
		return write ? -EPERM : -ENODATA;
	if (write && inode_is_dir(ino) && ino->mode & S_ISVTX && t->cred.fsuid != ino->uid &&
	    !cred_has_cap(&t->cred, CAP_FOWNER))
		return -EPERM;
	return inode_permission(ino, &t->cred, write ? W_OK : R_OK);
}

/* ---- set ---- */

static int64_t xattr_set_at(struct task *t, const struct path *p, const char *name,
			    const void *value, size_t size, int flags)
{
	struct inode *ino = p->name->inode;
	int r = xattr_permission(t, p, name, true);

	if (r == 0)
		r = ask_change(t, p);
	if (r < 0)
		return r;
	r = ino->ops->setxattr ? CHECKED(ino->ops)->setxattr(ino, name, value, size, flags)
			       : -EOPNOTSUPP;
	if (r)
		return r;
	path_notify(p, IN_ATTRIB);
	observe(changed, t, p, false);
	return 0;
}

static int64_t xattr_set(struct task *t, const struct sysargs *a, enum xattr_by by)
{
	static char value[XATTR_SIZE_LIMIT];
	char name[XATTR_NAME_LEN + 1];
	struct path p;
	int64_t r;

	if (ARG_UINT(a, 4) & ~(unsigned)(XATTR_CREATE | XATTR_REPLACE))
		return -EINVAL;
	r = xattr_name(t, a->a[1], name);
	if (r < 0)
		return r;
	if (a->a[3] > sizeof(value))
		return -E2BIG;
	if (a->a[3] && guest_read(t->tid, value, a->a[2], a->a[3]) < 0)
		return -EFAULT;
	r = xattr_place(t, a, by, &p);
	if (r < 0)
		return r;
	r = xattr_set_at(t, &p, name, value, a->a[3], ARG_INT(a, 4));
	path_put(&p);
	return r;
}

int64_t sys_setxattr(struct task *t, const struct sysargs *a)
{
	return xattr_set(t, a, BY_PATH);
}

int64_t sys_lsetxattr(struct task *t, const struct sysargs *a)
{
	return xattr_set(t, a, BY_LINK);
}

int64_t sys_fsetxattr(struct task *t, const struct sysargs *a)
{
	return xattr_set(t, a, BY_FD);
}

/* ---- get and list ---- */

/* Runs get (name) or list (name NULL) into a blob of the caller's size and copies it out. */
static int64_t xattr_fetch(struct task *t, const struct path *p, const char *name, uaddr_t buf,
			   uint64_t size)
{
	struct inode *ino = p->name->inode;
	uint32_t room = (uint32_t)MIN(size, (uint64_t)XATTR_SIZE_LIMIT);
	char *blob = NULL;
	int64_t r;

	if (name ? !ino->ops->getxattr : !ino->ops->listxattr)
		return name ? -EOPNOTSUPP : 0;
	if (room) {
		blob = blob_new(room);
		if (!blob)
			return -ENOMEM;
	}
	r = name ? CHECKED(ino->ops)->getxattr(ino, name, blob, room)
		 : CHECKED(ino->ops)->listxattr(ino, blob, room);
	if (r > 0 && room) {
		if (r > room)
			r = -ERANGE;
		else if (guest_write(t->tid, buf, blob, (size_t)r) < 0)
			r = -EFAULT;
	}
	if (blob)
		blob_free(blob, room);
	return r;
}

static int64_t xattr_get(struct task *t, const struct sysargs *a, enum xattr_by by)
{
	char name[XATTR_NAME_LEN + 1];
	struct path p;
	int64_t r = xattr_name(t, a->a[1], name);

	if (r == 0)
		r = xattr_place(t, a, by, &p);
	if (r < 0)
		return r;
	r = xattr_permission(t, &p, name, false);
	if (r == 0)
		r = xattr_fetch(t, &p, name, a->a[2], a->a[3]);
	path_put(&p);
	return r;
}

int64_t sys_getxattr(struct task *t, const struct sysargs *a)
{
	return xattr_get(t, a, BY_PATH);
}

int64_t sys_lgetxattr(struct task *t, const struct sysargs *a)
{
	return xattr_get(t, a, BY_LINK);
}

int64_t sys_fgetxattr(struct task *t, const struct sysargs *a)
{
	return xattr_get(t, a, BY_FD);
}

static int64_t xattr_list(struct task *t, const struct sysargs *a, enum xattr_by by)
{
	struct path p;
	int64_t r = xattr_place(t, a, by, &p);

	if (r < 0)
		return r;
	r = xattr_fetch(t, &p, NULL, a->a[1], a->a[2]);
	path_put(&p);
	return r;
}

int64_t sys_listxattr(struct task *t, const struct sysargs *a)
{
	return xattr_list(t, a, BY_PATH);
}

int64_t sys_llistxattr(struct task *t, const struct sysargs *a)
{
	return xattr_list(t, a, BY_LINK);
}

int64_t sys_flistxattr(struct task *t, const struct sysargs *a)
{
	return xattr_list(t, a, BY_FD);
}

/* ---- remove ---- */

static int64_t xattr_remove(struct task *t, const struct sysargs *a, enum xattr_by by)
{
	char name[XATTR_NAME_LEN + 1];
	struct path p;
	int64_t r = xattr_name(t, a->a[1], name);

	if (r == 0)
		r = xattr_place(t, a, by, &p);
	if (r < 0)
		return r;
	r = xattr_set_at(t, &p, name, NULL, 0, XATTR_REPLACE);
	path_put(&p);
	return r;
}

int64_t sys_removexattr(struct task *t, const struct sysargs *a)
{
	return xattr_remove(t, a, BY_PATH);
}

int64_t sys_lremovexattr(struct task *t, const struct sysargs *a)
{
	return xattr_remove(t, a, BY_LINK);
}

int64_t sys_fremovexattr(struct task *t, const struct sysargs *a)
{
	return xattr_remove(t, a, BY_FD);
}
