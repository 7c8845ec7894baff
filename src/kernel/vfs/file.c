/* Open files: making them, opening what is at a path, and their end.
 *
 * An open goes: permission (Linux's may_open), the counts of writers and runners, the kind's own
 * open (the inode's op, or by its type: FIFO and device through upcalls), truncation. A file that
 * has no place in the tree (a pipe, an eventfd) has an inode of the anonymous file system; when
 * somebody asks for its place all the same (/proc/self/fd/0 is opened), a detached name on a mount
 * outside of the tree is made for it. */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/ref.h"
#include "kernel/platform/cell.h"
#include "kernel/task/call.h"
#include "kernel/task/observe.h"
#include "kernel/task/task.h"
#include "kernel/vfs/ask.h"
#include "kernel/vfs/async.h"
#include "kernel/vfs/dir.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/fs.h"
#include "kernel/vfs/inode.h"
#include "kernel/vfs/lock.h"
#include "kernel/vfs/mount.h"
#include "kernel/vfs/name.h"
#include "kernel/vfs/notify.h"
#include "kernel/vfs/ops.h"
#include "kernel/vfs/upcalls.h"
#include "kernel/vfs/vfs_priv.h"

#define FILES_DEFAULT 65536
#define LINUX_O_LARGEFILE 0100000u /* glibc says 0 where it is implied, F_GETFL shows it */
#define OPEN_ONLY                                                                       \
	((uint32_t)(O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC | O_CLOEXEC) | OPEN_CREATED | \
	 OPEN_EXEC | OPEN_LINKER)

struct anon_inode {
	struct inode ino;
	char *label; /* blob of label_len + 1 */
	uint32_t label_len;
};

OBJ_TYPE(file_type, struct file, FILES_DEFAULT);
OBJ_TYPE(anon_inode_type, struct anon_inode, 0);

static struct fs anon_fs;
static struct mount *anon_mount;
static uint64_t lock_id_last;

int file_new(struct inode *ino, const struct path *p, uint32_t flags, struct file **ret_)
{
	if (cell.spec.max_files)
		file_type.limit = cell.spec.max_files;
	struct file *f = obj_new(&file_type);
	if (!f)
		return -ENFILE;
	f->refs = 1;
	f->ops = ino->fops;
	f->inode = inode_get(ino);
	if (p) {
		f->path = *p;
		path_get(&f->path);
	}
	f->flags = flags & ~OPEN_ONLY;
	if (flags & O_PATH) {
		f->mode = FMODE_PATH;
	} else {
		uint32_t acc =
			flags & O_ACCMODE; /* 3 asks for both permissions and gives neither */
		if (acc == O_RDONLY || acc == O_RDWR)
			f->mode |= FMODE_READ;
		if (acc == O_WRONLY || acc == O_RDWR)
			f->mode |= FMODE_WRITE;
	}
	f->lock_id = ++lock_id_last;
	list_init(&f->epoll_links);
	*ret_ = f;
	return 0;
}

struct file *file_get(struct file *f)
{
	ref_get(&f->refs);
	return f;
}

/* Everything but the kind's own release. */
static void file_free(struct file *f)
{
	if (f->mode & FMODE_WRITER) {
		f->inode->writers--;
		f->path.mnt->writers--;
	}
	if (f->mode & FMODE_EXEC)
		f->inode->execs--;
	/* The inode first: the path keeps its file system. */
	inode_put(f->inode);
	path_put(&f->path);
	obj_free(&file_type, f);
}

void file_put(struct file *f)
{
	if (!f || !ref_put(&f->refs))
		return;
	if (f->inode->locks)
		locks_release_file(f);
	if (!(f->mode & FMODE_PATH))
		path_notify(&f->path, f->mode & FMODE_WRITE ? IN_CLOSE_WRITE : IN_CLOSE_NOWRITE);
	if (f->async)
		async_drop(f);
	if (f->change)
		observe(closed, f);
	if (vfs_upcalls.file_gone && !list_is_empty(&f->epoll_links))
		vfs_upcalls.file_gone(f);
	if (f->ops && f->ops->release)
		CHECKED(f->ops)->release(f);
	file_free(f);
}

/* The permission part of an open; may take O_TRUNC away. */
static int may_open(struct task *t, const struct path *p, uint32_t *flags)
{
	static const int masks[4] = { R_OK, W_OK, R_OK | W_OK, R_OK | W_OK };
	struct inode *ino = p->name->inode;
	int mask = masks[*flags & O_ACCMODE];

	if (*flags & OPEN_EXEC)
		mask = X_OK;
	if (*flags & O_TRUNC)
		mask |= W_OK;
	if (*flags & OPEN_CREATED) {
		*flags &= ~(uint32_t)O_TRUNC;
		mask = 0;
	} else if (inode_is_reg(ino) && (*flags & O_TRUNC) && path_want_write(p) < 0) {
		return -EROFS;
	}
	switch (ino->mode & S_IFMT) {
	case S_IFLNK:
		return -ELOOP;
	case S_IFDIR:
		if (mask & W_OK)
			return -EISDIR;
		if (mask & X_OK)
			return -EACCES;
		break;
	case S_IFBLK:
	case S_IFCHR:
		if (p->mnt->flags & MNT_NODEV)
			return -EACCES;
		__attribute__((fallthrough));
	case S_IFIFO:
	case S_IFSOCK:
		if (mask & X_OK)
			return -EACCES;
		*flags &= ~(uint32_t)O_TRUNC;
		break;
	case S_IFREG:
		if ((mask & X_OK) && (p->mnt->flags & MNT_NOEXEC))
			return -EACCES;
		if ((mask & W_OK) && p->mnt->fs->readonly)
			return -EROFS;
		break;
	default:
		if (mask & X_OK)
			return -EACCES;
	}
	int err = mask ? inode_permission(ino, &t->cred, mask) : 0;
	if (!err && (*flags & O_NOATIME) && !inode_owner_or_capable(ino, &t->cred))
		err = -EPERM;
	return err;
}

/* Counts f among those who write or run the file. */
static int file_count(struct file *f, uint32_t flags)
{
	struct inode *ino = f->inode;

	if (flags & OPEN_EXEC) {
		if (ino->writers)
			return -ETXTBSY;
		ino->execs++;
		f->mode |= FMODE_EXEC;
	} else if ((f->mode & FMODE_WRITE) && inode_is_reg(ino)) {
		if (ino->execs)
			return -ETXTBSY;
		if (path_want_write(&f->path) < 0)
			return -EROFS;
		ino->writers++;
		f->path.mnt->writers++;
		f->mode |= FMODE_WRITER;
	} else if ((flags & O_TRUNC) && ino->execs) {
		return -ETXTBSY;
	}
	return 0;
}

static int file_start(struct file *f, struct task *t)
{
	struct inode *ino = f->inode;

	if (ino->ops->open)
		return CHECKED(ino->ops)->open(ino, t, f);
	switch (ino->mode & S_IFMT) {
	case S_IFIFO:
		return vfs_upcalls.fifo_open ? vfs_upcalls.fifo_open(ino, t, f) : -ENXIO;
	case S_IFCHR:
	case S_IFBLK:
		return vfs_upcalls.dev_open ? vfs_upcalls.dev_open(ino, t, f) : -ENXIO;
	default:
		return f->ops && !S_ISSOCK(ino->mode) ? 0 : -ENXIO;
	}
}

int file_open(struct task *t, const struct path *p, uint32_t flags, struct file **ret_)
{
	struct file *f;
	int err = 0;

	if (flags & O_PATH)
		flags &= O_PATH | O_DIRECTORY | O_NOFOLLOW;
	else
		err = may_open(t, p, &flags);
	if (!err && !(flags & (O_PATH | OPEN_CREATED)))
		err = ask_open(t, p, flags);
	if (!err)
		err = file_new(p->name->inode, p, flags, &f);
	if (err)
		return err;
	if (flags & O_PATH) {
		f->ops = NULL;
		*ret_ = f;
		return 0;
	}
	f->flags |= LINUX_O_LARGEFILE;
	f->flags |= flags & (O_NOCTTY | O_TRUNC); /* for the kind's own open */
	err = file_count(f, flags);
	if (!err)
		err = file_start(f, t);
	f->flags &= ~(uint32_t)(O_NOCTTY | O_TRUNC);
	if (err < 0) { /* never opened: no release */
		file_free(f);
		return err;
	}
	path_notify(&f->path, IN_OPEN);
	if (flags & O_TRUNC) {
		err = inode_truncate(t, f->inode, 0);
		if (err == WAITING) {
			/* Some of it may be gone, whatever becomes of the call. */
			observe(wrote, f);
			*ret_ = f;
			return err;
		}
		if (err < 0) {
			file_put(f);
			return err;
		}
		path_notify(&f->path, IN_MODIFY);
		observe(wrote, f);
	}
	*ret_ = f;
	return 0;
}

static void anon_evict(struct inode *ino)
{
	struct anon_inode *a = container_of(ino, struct anon_inode, ino);

	blob_free(a->label, a->label_len + 1);
	obj_free(&anon_inode_type, a);
}

/* The ends of a pipe and sockets have an owner and a mode; the rest has none of its own. */
static int anon_setattr(struct inode *ino, const struct attr *a)
{
	if (!S_ISFIFO(ino->mode) && !S_ISSOCK(ino->mode))
		return -EOPNOTSUPP;
	inode_set_attr(ino, a);
	return 0;
}

static const struct inode_ops anon_ops = { .evict = anon_evict, .setattr = anon_setattr };
/* Linux has a file system for each kind. */
static void anon_statfs(const struct inode *ino, struct fs_stat *out)
{
	out->type = S_ISFIFO(ino->mode)	  ? PIPEFS_MAGIC
		    : S_ISSOCK(ino->mode) ? SOCKFS_MAGIC
					  : ANON_INODE_FS_MAGIC;
}

static const struct fs_ops anon_fs_ops = { .statfs = anon_statfs };

/* A pipe is opened again by FIFO rules, everything else anonymous is not. */
int file_new_anon(const char *label, uint32_t mode, const struct file_ops *ops, void *priv,
		  uint32_t flags, struct file **ret_)
{
	struct anon_inode *a = obj_new(&anon_inode_type);

	if (!a)
		return -ENFILE;
	if (!anon_fs.refs)
		fs_init(&anon_fs, &anon_fs_ops, "anon_inodefs");
	inode_init(&a->ino, &anon_fs, &anon_ops, mode);
	if (S_ISFIFO(mode) || S_ISSOCK(mode))
		inode_own(&a->ino); /* what the rest shows of an owner is root on Linux too */
	a->ino.ino = ino_next();
	a->label_len = (uint32_t)strlen(label);
	a->label = blob_strndup(label, a->label_len);
	int err = a->label ? file_new(&a->ino, NULL, flags, ret_) : -ENOMEM;
	if (!err) {
		(*ret_)->ops = ops;
		(*ret_)->priv = priv;
	}
	inode_put(&a->ino); /* the file holds it now, or nobody */
	return err;
}

static int label_of_anon(const struct anon_inode *a, char *buf, size_t size)
{
	char ino[32] = "";
	size_t len = a->label_len;

	if (len && a->label[len - 1] == ':')
		snprintf(ino, sizeof(ino), "[%llu]", (unsigned long long)a->ino.ino);
	size_t head = MIN(len, size), tail = MIN(strlen(ino), size - head);
	memcpy(buf, a->label, head);
	memcpy(buf + head, ino, tail);
	return (int)(head + tail);
}

int file_label(struct file *f, const struct path *root, char *buf, size_t size)
{
	static char text[PATH_MAX_LEN + 16];
	struct inode *ino = f->inode;
	char *start;
	size_t len;

	if (ino->ops == &anon_ops)
		return label_of_anon(container_of(ino, struct anon_inode, ino), buf, size);
	if (!f->path.name || f->path.mnt == anon_mount)
		return ino->ops->readlink ? CHECKED(ino->ops)->readlink(ino, NULL, buf, size)
					  : -ENOENT;
	int err = path_text(&f->path, root, true, text, sizeof(text), &start, &len);
	if (err == -ENOENT && root) /* outside of it: where it is all the same */
		err = path_text(&f->path, NULL, true, text, sizeof(text), &start, &len);
	if (err < 0)
		return err;
	len = MIN(len - 1, size);
	memcpy(buf, start, len);
	return (int)len;
}

static int anon_mount_get(struct mount **ret_)
{
	if (!anon_mount) {
		if (!anon_fs.refs)
			fs_init(&anon_fs, &anon_fs_ops, "anon_inodefs");
		struct anon_inode *root = obj_new(&anon_inode_type);
		if (!root)
			return -ENOMEM;
		inode_init(&root->ino, &anon_fs, &anon_ops, S_IFDIR | 0500);
		root->ino.ino = ino_next();
		anon_fs.root = &root->ino;
		int err = mount_new_detached(&anon_fs, &anon_mount);
		if (err < 0) {
			anon_fs.root = NULL;
			inode_put(&root->ino);
			return err;
		}
	}
	*ret_ = mount_get(anon_mount);
	return 0;
}

int inode_place(struct inode *ino, struct path *ret_)
{
	int err = anon_mount_get(&ret_->mnt);

	if (err < 0)
		return err;
	ret_->name = name_new_root(inode_get(ino));
	if (!ret_->name) {
		inode_put(ino);
		mount_put(ret_->mnt);
		ret_->mnt = NULL;
		return -ENOMEM;
	}
	return 0;
}

int file_place(struct file *f, struct path *ret_)
{
	if (!f->path.name)
		return inode_place(f->inode, ret_);
	*ret_ = f->path;
	path_get(ret_);
	return 0;
}

uint64_t file_dotdot_ino(struct file *f)
{
	struct path cur = f->path; /* borrowed */

	if (!cur.name)
		return f->inode->ino;
	while (cur.name == cur.mnt->root && cur.mnt->parent)
		cur = (struct path){ cur.mnt->parent, cur.mnt->point };
	if (cur.name == cur.mnt->root || !cur.name->parent)
		return f->inode->ino;
	return cur.name->parent->inode->ino;
}
