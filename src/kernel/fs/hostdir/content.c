/* hostdir: content, attributes and listings. The confinement is described in hostdir.c. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/arena.h"
#include "host/host.h"
#include "kernel/fs/hostdir/hnode.h"
#include "kernel/vfs/dir.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/fs.h"
#include "kernel/vfs/inode.h"
#include "kernel/vfs/name.h"

/* ---- content ---- */

/* By name, and it must be the same file. -ESTALE: another one has the name now. */
static int open_by_name(struct hdnode *n, int flags)
{
	struct stat st;
	int fd, r;

	/* a file that is mounted itself was opened then, as far as the host allowed it */
	if (!n->parent)
		return &n->inode == n->inode.fs->root ? -EACCES : -ESTALE;
	fd = host_open_beneath_xdev(n->parent->fd, n->name,
				    flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return fd == -ENOENT || fd == -ELOOP ? -ESTALE : fd == -EMFILE ? -ENFILE : fd;
	r = host_fstat(fd, &st);
	if (r == 0 && (st.st_dev != n->dev || st.st_ino != n->host_ino || !S_ISREG(st.st_mode)))
		r = -ESTALE;
	if (r < 0) {
		host_close(fd);
		return r;
	}
	return fd;
}

int hdnode_content(struct hdnode *n, bool write)
{
	int *slot = write ? &n->wr : &n->rd;
	int fd;

	if (!inode_is_reg(&n->inode))
		return -ENODEV;
	if (*slot >= 0)
		return *slot;
	if (write && n->inode.fs->readonly)
		return -EROFS;
	fd = open_by_name(n, write ? O_RDWR : O_RDONLY);
	if (fd == -ESTALE)
		fd = open_by_name(n, write ? O_RDWR : O_RDONLY);
	if (fd == -EACCES && write)
		fd = open_by_name(n, O_WRONLY); /* a file that its owner may only write */
	if (fd == -EACCES) {
		struct rights of_file, of_dir;
		bool any = rights_lend(&of_file, n, write ? 0600 : 0400, fd);

		any = rights_lend(&of_dir, n->parent, 0100, fd) || any;
		if (any)
			fd = open_by_name(n, write ? O_RDWR : O_RDONLY);
		rights_return(&of_file);
		rights_return(&of_dir);
	}
	if (fd < 0) {
		/* Made with a mode that forbids it, or nameless by now: the other descriptor still
		 * reads. */
		if (!write && n->wr >= 0)
			return n->wr;
		return fd;
	}
	return *slot = fd;
}

/* A directory for reading. */
static int dir_open(struct hdnode *n)
{
	int fd = host_openat(n->fd, ".", O_RDONLY | O_DIRECTORY, 0);
	struct rights lent;

	if (rights_lend(&lent, n, 0500, fd)) {
		fd = host_openat(n->fd, ".", O_RDONLY | O_DIRECTORY, 0);
		rights_return(&lent);
	}
	return fd;
}

int hdnode_handle(struct hdnode *n, bool *ret_close)
{
	*ret_close = false;
	if (inode_is_dir(&n->inode)) {
		int fd = dir_open(n);

		*ret_close = fd >= 0;
		return fd;
	}
	if (!inode_is_reg(&n->inode))
		return -EPERM;
	if (n->wr >= 0)
		return n->wr;
	return hdnode_content(n, false);
}

static int64_t hostdir_read(struct file *f, struct uio *u, int64_t pos)
{
	return hostfile_fops.read(f, u, pos);
}

static int64_t hostdir_write(struct file *f, struct uio *u, int64_t pos)
{
	int64_t r;

	change_begin();
	r = hostfile_fops.write(f, u, pos);
	/* The host's clock and sizes are the truth. */
	if (r > 0)
		hdnode_refresh(hdnode_of(f->inode));
	change_end_of(hdnode_of(f->inode));
	return r;
}

static int64_t hostdir_seek(struct file *f, int64_t off, int whence)
{
	if (whence == SEEK_END)
		hdnode_refresh(hdnode_of(f->inode));
	return hostfile_fops.seek(f, off, whence);
}

static int set_mode(struct hdnode *n, uint32_t mode);

static int hostdir_mmap(struct file *f, const struct mapping_req *req, uint64_t *off)
{
	struct hdnode *n = hdnode_of(f->inode);

	/* A write takes a file's set-id bits away, but one through a mapping does not. Nobody in
	 * the cell may change what runs on the host with the owner's rights. */
	if ((req->flags & MAP_SHARED) && (f->mode & FMODE_WRITE)) {
		hdnode_refresh(n);
		if ((f->inode->mode & (S_ISUID | S_ISGID)) && set_mode(n, f->inode->mode) < 0)
			return -EPERM;
		hdnode_refresh(n);
	}
	return hostfile_fops.mmap(f, req, off);
}

static int hostdir_fsync(struct file *f, bool data_only)
{
	struct hdnode *n = hdnode_of(f->inode);
	int fd = n->wr >= 0 ? n->wr : hdnode_content(n, false);

	return fd < 0 ? fd : host_fsync(fd, data_only);
}

static int hostdir_fallocate(struct file *f, int mode, uint64_t off, uint64_t len)
{
	int r;

	change_begin();
	r = hostfile_fops.fallocate(f, mode, off, len);
	change_end_of(hdnode_of(f->inode));
	hdnode_refresh(hdnode_of(f->inode));
	return r;
}

/* The journal holds the inode for a while after that, to hash its content: programs of the host and
 * of the cell hear that the file is closed now, and not later, under a name that it had then. */
static void hostdir_reg_release(struct file *f)
{
	struct hdnode *n = hdnode_of(f->inode);

	if (!f->inode->content || n->wr < 0 || !n->parent || !(f->mode & FMODE_WRITER) ||
	    f->inode->writers > 1)
		return;
	/* Those who read it may have nothing else. */
	if (hdnode_content(n, false) < 0 || n->rd < 0)
		return;
	change_begin();
	host_close(n->wr);
	n->wr = -1;
	change_end_of(n);
}

const struct file_ops hostdir_reg_fops = {
	.read = hostdir_read,
	.write = hostdir_write,
	.seek = hostdir_seek,
	.mmap = hostdir_mmap,
	.fsync = hostdir_fsync,
	.fallocate = hostdir_fallocate,
	.release = hostdir_reg_release,
};

/* ---- attributes ---- */

static int set_mode(struct hdnode *n, uint32_t mode)
{
	bool must_close;
	int fd, r;

	/* Set-id bits stay inside of the cell, which means: they are not kept. */
	mode &= inode_is_dir(&n->inode) ? 01777 : 0777;
	r = host_fchmodat(n->fd, "", mode);
	if (r != -ENOSYS && r != -EPERM && r != -EINVAL)
		return r;
	fd = hdnode_handle(n, &must_close);
	if (fd < 0)
		return r == -EPERM ? r : fd;
	r = host_fchmod(fd, mode);
	if (must_close)
		host_close(fd);
	return r;
}

static int set_times(struct hdnode *n, const struct attr *a)
{
	struct timespec ts[2] = { { 0, UTIME_OMIT }, { 0, UTIME_OMIT } };

	if (a->valid & ATTR_ATIME)
		ts[0] = a->atime;
	if (a->valid & ATTR_MTIME)
		ts[1] = a->mtime;
	return host_utimensat(n->fd, "", ts, AT_EMPTY_PATH);
}

int hostdir_setattr(struct inode *ino, const struct attr *a)
{
	struct hdnode *n = hdnode_of(ino);
	int fd, r = 0;

	if (ino->fs->readonly)
		return -EROFS;
	uint32_t uid = a->valid & ATTR_UID ? a->uid : ino->uid,
		 gid = a->valid & ATTR_GID ? a->gid : ino->gid;
	bool owner = uid != ino->uid || gid != ino->gid;

	if (owner && n->foreign)
		return -EPERM;
	if ((a->valid & ATTR_SIZE) && a->size > INT64_MAX)
		return -EFBIG;
	change_begin();
	if (a->valid & ATTR_SIZE) {
		fd = hdnode_content(n, true);
		r = fd < 0 ? fd : host_ftruncate(fd, (int64_t)a->size);
	}
	if (r == 0 && owner)
		r = owner_set(n, uid, gid);
	if (r == 0 && (a->valid & ATTR_MODE) && (a->mode & 07777) != (ino->mode & 07777))
		r = set_mode(n, a->mode);
	/* A truncation sets the time itself. */
	if (r == 0 && (a->valid & (ATTR_ATIME | ATTR_MTIME)) && !(a->valid & ATTR_SIZE))
		r = set_times(n, a);
	change_end_of(n);
	hdnode_refresh(n);
	return r;
}

/* ---- extended attributes: the user's only ---- */

static bool is_user(const char *name)
{
	return strncmp(name, "user.", 5) == 0;
}

int hostdir_getxattr(struct inode *ino, const char *name, void *buf, size_t size)
{
	bool must_close;
	int fd, r;

	if (!is_user(name))
		return -EOPNOTSUPP;
	if ((!inode_is_reg(ino) && !inode_is_dir(ino)) || owner_is_attr(name))
		return -ENODATA;
	fd = hdnode_handle(hdnode_of(ino), &must_close);
	if (fd < 0)
		return fd;
	r = host_fgetxattr(fd, name, buf, buf ? size : 0);
	if (must_close)
		host_close(fd);
	return r;
}

int hostdir_setxattr(struct inode *ino, const char *name, const void *value, size_t size, int flags)
{
	bool must_close;
	int fd, r;

	if (ino->fs->readonly)
		return -EROFS;
	if (!is_user(name))
		return -EOPNOTSUPP;
	if (owner_is_attr(name))
		return -EPERM;
	fd = hdnode_handle(hdnode_of(ino), &must_close);
	if (fd < 0)
		return fd;
	change_begin();
	r = value ? host_fsetxattr(fd, name, value, size, flags) : host_fremovexattr(fd, name);
	change_end_of(hdnode_of(ino));
	if (must_close)
		host_close(fd);
	hdnode_refresh(hdnode_of(ino));
	return r;
}

int hostdir_listxattr(struct inode *ino, char *buf, size_t size)
{
	static char all[65536];
	bool must_close;
	size_t total = 0;
	int fd, n;

	if (!inode_is_reg(ino) && !inode_is_dir(ino))
		return 0;
	fd = hdnode_handle(hdnode_of(ino), &must_close);
	if (fd < 0)
		return fd;
	n = host_flistxattr(fd, all, sizeof(all));
	if (must_close)
		host_close(fd);
	if (n < 0)
		return n == -EOPNOTSUPP ? 0 : n;
	for (int at = 0; at < n;) {
		size_t len = strnlen(all + at, (size_t)(n - at)) + 1;

		if (is_user(all + at) && !owner_is_attr(all + at)) {
			if (buf && size) {
				if (total + len > size)
					return -ERANGE;
				memcpy(buf + total, all + at, len);
			}
			total += len;
		}
		at += (int)len;
	}
	return (int)total;
}

/* ---- listings: positions are the host's own ---- */

struct hdlisting {
	int fd;
};

OBJ_TYPE(hdlisting_type, struct hdlisting, 0);

static int listing_open(struct file *f, struct hdlisting **ret_)
{
	struct hdlisting *ls = f->priv;
	int fd;

	if (!ls) {
		fd = dir_open(hdnode_of(f->inode));
		if (fd < 0)
			return fd == -EMFILE ? -ENFILE : fd;
		ls = obj_new(&hdlisting_type);
		if (!ls) {
			host_close(fd);
			return -ENOMEM;
		}
		ls->fd = fd;
		f->priv = ls;
	}
	*ret_ = ls;
	return 0;
}

/* false: the sink is full. */
static bool record_emit(struct file *f, const struct dirent64 *d, struct dirsink *sink)
{
	size_t len = strnlen(d->d_name, NAME_MAX_LEN + 1);
	uint64_t ino = d->d_ino;

	if (len == 0 || len > NAME_MAX_LEN)
		return true;
	if (strcmp(d->d_name, "..") == 0)
		ino = file_dotdot_ino(f); /* the host's would tell of what is outside */
	return dirsink_emit(sink, d->d_name, len, ino, d->d_type, d->d_off);
}

static int hostdir_iterate(struct file *f, struct dirsink *sink)
{
	static char buf[32768] __attribute__((aligned(8)));
	struct hdlisting *ls;
	int64_t n;
	int r = listing_open(f, &ls);

	if (r < 0)
		return r;
	n = host_lseek(ls->fd, f->pos, SEEK_SET);
	while (n >= 0 && (n = host_getdents(ls->fd, buf, sizeof(buf))) > 0) {
		for (int64_t at = 0; at < n;) {
			const struct dirent64 *d = (const struct dirent64 *)(buf + at);

			if (!record_emit(f, d, sink))
				return 0;
			f->pos = d->d_off;
			at += d->d_reclen;
		}
	}
	return n < 0 ? (int)n : 0;
}

static int64_t hostdir_dir_read(struct file *f, struct uio *u, int64_t pos)
{
	(void)f;
	(void)u;
	(void)pos;
	return -EISDIR;
}

static int hostdir_dir_fsync(struct file *f, bool data_only)
{
	struct hdlisting *ls;
	int r = listing_open(f, &ls);

	return r < 0 ? r : host_fsync(ls->fd, data_only);
}

static void hostdir_dir_release(struct file *f)
{
	struct hdlisting *ls = f->priv;

	if (!ls)
		return;
	host_close(ls->fd);
	obj_free(&hdlisting_type, ls);
	f->priv = NULL;
}

const struct file_ops hostdir_dir_fops = {
	.read = hostdir_dir_read,
	.iterate = hostdir_iterate,
	.fsync = hostdir_dir_fsync,
	.release = hostdir_dir_release,
};
