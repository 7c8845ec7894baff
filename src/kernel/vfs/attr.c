/* Attributes: who may change the mode, the owner, the times and the size of a file, and what
 * follows from it (Linux's notify_change and setattr_prepare). Also the questions that need no
 * change: getattr and permission by path.
 *
 * Set-id bits go when somebody else's doing makes them dangerous: at a change of owner always, at a
 * write or truncation by one without CAP_FSETID. A file's capabilities go at each of them. */
#include <errno.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "kernel/task/cred.h"
#include "kernel/task/observe.h"
#include "kernel/task/proc.h"
#include "kernel/task/signal.h"
#include "kernel/task/task.h"
#include "kernel/vfs/ask.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/fs.h"
#include "kernel/vfs/inode.h"
#include "kernel/vfs/mount.h"
#include "kernel/vfs/notify.h"
#include "kernel/vfs/ops.h"
#include "kernel/vfs/path.h"
#include "kernel/vfs/vfs_priv.h"

bool inode_owner_or_capable(const struct inode *ino, const struct cred *c)
{
	return ino->uid == c->fsuid || cred_has_cap(c, CAP_FOWNER);
}

/* Set-group-id without group execution once meant mandatory locking: it is no privilege. */
static uint32_t suid_bits(const struct inode *ino)
{
	uint32_t bits = ino->mode & S_ISUID;

	if ((ino->mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP))
		bits |= S_ISGID;
	return bits;
}

uint32_t inode_suid_to_kill(const struct inode *ino, const struct cred *c)
{
	if (!inode_is_reg(ino) || !(ino->mode & (S_ISUID | S_ISGID)))
		return 0;
	return cred_has_cap(c, CAP_FSETID) ? 0 : suid_bits(ino);
}

void inode_drop_caps(struct inode *ino)
{
	static const char caps[] = "security.capability";

	if (inode_is_dir(ino) || !ino->ops->getxattr || !ino->ops->setxattr ||
	    CHECKED(ino->ops)->getxattr(ino, caps, NULL, 0) < 0)
		return;
	if (CHECKED(ino->ops)->setxattr(ino, caps, NULL, 0, 0) == 0)
		inode_touch(ino);
}

static int check_owner_change(const struct cred *c, const struct inode *ino, const struct attr *a)
{
	if (cred_has_cap(c, CAP_CHOWN))
		return 0;
	if ((a->valid & ATTR_UID) && (c->fsuid != ino->uid || a->uid != ino->uid))
		return -EPERM;
	if ((a->valid & ATTR_GID) &&
	    (c->fsuid != ino->uid || (a->gid != ino->gid && !cred_in_group(c, a->gid))))
		return -EPERM;
	return 0;
}

/* Which event a change of attributes is: both times are a utimes call, one alone is what moves
 * it. */
static uint32_t attr_event(uint32_t valid)
{
	const uint32_t times = ATTR_ATIME | ATTR_MTIME;

	if (valid & (ATTR_MODE | ATTR_UID | ATTR_GID) || (valid & times) == times)
		return IN_ATTRIB;
	return valid & ATTR_ATIME ? IN_ACCESS : valid & ATTR_MTIME ? IN_MODIFY : 0;
}

/* Pipes and sockets have nothing but their inode, which takes it. */
static int attr_apply(struct inode *ino, const struct attr *a)
{
	if (ino->ops->setattr)
		return CHECKED(ino->ops)->setattr(ino, a);
	inode_set_attr(ino, a);
	return 0;
}

int vfs_setattr(struct task *t, const struct path *p, struct attr *a)
{
	struct inode *ino = p->name->inode;
	const struct cred *c = &t->cred;
	bool owner = inode_owner_or_capable(ino, c);
	/* Also one that changes neither owner nor group. */
	bool is_chown = a->valid & (ATTR_UID | ATTR_GID | ATTR_CTIME);
	int err = path_want_write(p);

	if (err < 0)
		return err;
	if (a->valid & ATTR_NOW) {
		if (!owner)
			err = inode_permission(ino, c, W_OK);
		a->atime = a->mtime = inode_now();
	} else if ((a->valid & (ATTR_ATIME | ATTR_MTIME)) && !owner) {
		err = -EPERM;
	}
	if (!err)
		err = check_owner_change(c, ino, a);
	if (!err && (a->valid & ATTR_MODE) && !owner)
		err = -EPERM;
	if (!err && !ino->ops->setattr && !S_ISFIFO(ino->mode) && !S_ISSOCK(ino->mode))
		err = -EPERM;
	if (!err)
		err = ask_change(t, p);
	if (err < 0)
		return err;
	if (a->valid & ATTR_MODE) {
		uint32_t gid = a->valid & ATTR_GID ? a->gid : ino->gid;
		a->mode &= 07777;
		if (!cred_in_group(c, gid) && !cred_has_cap(c, CAP_FSETID))
			a->mode &= ~(uint32_t)S_ISGID;
	} else if (is_chown && !inode_is_dir(ino) && suid_bits(ino)) {
		a->valid |= ATTR_MODE;
		a->mode = (ino->mode & 07777) & ~suid_bits(ino);
	}
	a->valid &= ~ATTR_NOW;
	a->valid |= ATTR_CTIME;
	a->ctime = inode_now();
	if (is_chown)
		inode_drop_caps(ino);
	err = attr_apply(ino, a);
	if (inode_is_dir(ino)) /* a directory has one name, and who may search it hangs on that */
		stamp_bump(p->name->stamp);
	inode_touch(ino);
	if (err == 0 && attr_event(a->valid))
		path_notify(p, attr_event(a->valid));
	if (err == 0)
		observe(changed, t, p, false);
	return err;
}

int64_t vfs_write_limit(struct task *t, uint64_t pos, uint64_t len)
{
	uint64_t limit = t && t->proc ? t->proc->limits[RLIMIT_FSIZE].cur : UINT64_MAX;

	if (pos > INT64_MAX || (len && pos == INT64_MAX))
		return -EFBIG;
	if (limit <= INT64_MAX && len) {
		if (pos >= limit) {
			signal_send_task(t, SIGXFSZ, NULL);
			return -EFBIG;
		}
		len = MIN(len, limit - pos);
	}
	return (int64_t)MIN(len, (uint64_t)INT64_MAX - pos);
}

int inode_truncate(struct task *t, struct inode *ino, uint64_t size)
{
	struct attr a = { .valid = ATTR_SIZE | ATTR_MTIME | ATTR_CTIME, .size = size };
	uint32_t kill = inode_suid_to_kill(ino, &t->cred);

	if (!ino->ops->setattr)
		return -EPERM;
	if (size > INT64_MAX)
		return -EFBIG;
	if (size > ino->size) {
		uint64_t limit = t->proc->limits[RLIMIT_FSIZE].cur;
		if (limit <= INT64_MAX && size > limit) {
			signal_send_task(t, SIGXFSZ, NULL);
			return -EFBIG;
		}
	}
	if (kill) {
		a.valid |= ATTR_MODE;
		a.mode = (ino->mode & 07777) & ~kill;
	}
	inode_drop_caps(ino);
	a.mtime = a.ctime = inode_now();
	return CHECKED(ino->ops)->setattr(ino, &a);
}

int vfs_truncate(struct task *t, const struct path *p, uint64_t size)
{
	struct inode *ino = p->name->inode;

	if (inode_is_dir(ino))
		return -EISDIR;
	if (!inode_is_reg(ino))
		return -EINVAL;
	int err = path_want_write(p);
	if (!err)
		err = inode_permission(ino, &t->cred, W_OK);
	if (!err && ino->execs)
		err = -ETXTBSY;
	if (!err)
		err = ask_change(t, p);
	if (!err)
		err = inode_truncate(t, ino, size);
	/* Some of it may be gone, whatever becomes of the call. */
	if (err == WAITING && !t->call.resumed)
		observe(changed, t, p, true);
	if (err)
		return err;
	path_notify(p, IN_MODIFY);
	observe(changed, t, p, true);
	return 0;
}

int file_truncate(struct task *t, struct file *f, uint64_t size)
{
	if (!inode_is_reg(f->inode) || !(f->mode & FMODE_WRITE))
		return -EINVAL;
	int err = inode_truncate(t, f->inode, size);
	if (err == WAITING)
		observe(wrote, f);
	if (err)
		return err;
	path_notify(&f->path, IN_MODIFY);
	observe(wrote, f);
	return 0;
}

int vfs_getattr(const struct path *p)
{
	struct inode *ino = p->name->inode;
	return ino->ops->getattr ? CHECKED(ino->ops)->getattr(ino) : 0;
}

int vfs_permission(struct task *t, const struct path *p, int mask)
{
	struct inode *ino = p->name->inode;
	bool plain = inode_is_reg(ino) || inode_is_dir(ino) || inode_is_lnk(ino);

	if ((mask & X_OK) && inode_is_reg(ino) && (p->mnt->flags & MNT_NOEXEC))
		return -EACCES;
	/* A read-only file system comes before the mode bits, a read-only mount after them. */
	if ((mask & W_OK) && plain && p->mnt->fs->readonly)
		return -EROFS;
	int err = inode_permission(ino, &t->cred, mask);
	if (!err && (mask & W_OK) && plain && (p->mnt->flags & MNT_RDONLY))
		err = -EROFS;
	return err;
}
