/* memfds of the guest are memfds of the host, so seals hold where they matter, on mappings, without
 * our doing: the host refuses a write, a change of size or a writable shared mapping that a seal
 * forbids.
 *
 * They are the one kind of file whose descriptor is state and no cache: the content has no other
 * place. Together they may hold half of the cell's memory, as a tmpfs may by default on Linux; what
 * a mapping adds is counted at the next look at the file. Left out: huge pages. */
#include "kernel/fs/memfd/memfd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/arena.h"
#include "host/host.h"
#include "kernel/platform/cell.h"
#include "kernel/platform/hostwork.h"
#include "kernel/platform/uio.h"
#include "kernel/task/call.h"
#include "kernel/task/task.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/fs.h"
#include "kernel/vfs/inode.h"

#define MEMFD_NAME_MAX 249
#define MEMFD_NOEXEC_SEAL 8u
#define MEMFD_EXEC 16u
#define SEAL_EXEC 0x20
#define SEALS_ALL \
	(F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_FUTURE_WRITE | SEAL_EXEC)

struct memfd {
	struct inode inode; /* first */
	struct list all_link;
	int fd;
	uint64_t charged;
	bool given; /* not the guest's: it costs the cell nothing */
	char name[MEMFD_NAME_MAX + 1];
};

#define CUT_STEP (32UL << 20)

OBJ_TYPE(memfd_type, struct memfd, 8192);

static struct fs memfd_fs;
static uint64_t used_bytes;
static struct list all = LIST_INIT(all); /* those not looked at for longest come first */

static const struct inode_ops memfd_iops;

static struct memfd *memfd_of(struct inode *ino)
{
	return (struct memfd *)ino;
}

static int memfd_getattr(struct inode *ino)
{
	struct memfd *m = memfd_of(ino);
	struct stat st;
	int r = host_fstat(m->fd, &st);

	if (r < 0)
		return r;
	ino->size = (uint64_t)st.st_size;
	ino->blocks = (uint64_t)st.st_blocks;
	used_bytes -= m->charged;
	m->charged = m->given ? 0 : ino->blocks * 512;
	used_bytes += m->charged;
	return 0;
}

uint64_t memfds_size(void)
{
	for (int i = 0; i < 32 && !list_is_empty(&all); i++) {
		struct memfd *m = list_first(&all, struct memfd, all_link);

		list_remove(&m->all_link);
		list_append(&all, &m->all_link);
		(void)memfd_getattr(&m->inode);
	}
	return used_bytes;
}

static bool memfd_has_room(uint64_t n)
{
	uint64_t max = cell.spec.memory ? cell.spec.memory / 2 : cell.spec.disk_bytes;

	return !max || (used_bytes < max && n <= max - used_bytes);
}

bool memfd_may_grow(const struct file *f, uint64_t n)
{
	return f->inode->ops == &memfd_iops && memfd_has_room(n);
}

static int memfd_setattr(struct inode *ino, const struct attr *a)
{
	struct memfd *m = memfd_of(ino);
	int r;

	if (a->valid & ATTR_MODE) {
		int seals = host_fcntl(m->fd, F_GET_SEALS, 0);

		if (seals > 0 && (seals & SEAL_EXEC) && ((a->mode ^ ino->mode) & 0111))
			return -EPERM;
	}
	if (a->valid & ATTR_SIZE) {
		uint64_t size = a->size;

		/* A large one from its end on, a piece in each turn of the loop. */
		if (ino->size > CUT_STEP && size < ino->size - CUT_STEP && m->charged > CUT_STEP &&
		    task_current && task_current->call.may_wait) {
			if (task_current->call.way ==
			    WAY_POST) /* it has no next run, and is made again */
				return call_wait_turn(task_current);
			size = ino->size - CUT_STEP;
		}
		r = size > INT64_MAX ? -EFBIG : host_ftruncate(m->fd, (int64_t)size);
		if (r < 0)
			return r;
		memfd_getattr(ino);
		if (size != a->size)
			return call_wait_turn(task_current);
	}
	inode_set_attr(ino, a);
	return 0;
}

/* Not a link: this is what /proc/PID/fd shows for a file that has no place. */
static int memfd_readlink(struct inode *ino, struct task *t, char *buf, size_t size)
{
	char text[MEMFD_NAME_MAX + 32];
	int len = snprintf(text, sizeof(text), "/memfd:%s (deleted)", memfd_of(ino)->name);

	(void)t;
	size = MIN(size, (size_t)len);
	memcpy(buf, text, size);
	return (int)size;
}

static int memfd_hostfd(struct inode *ino, bool write)
{
	(void)write;
	return memfd_of(ino)->fd;
}

static void memfd_evict(struct inode *ino)
{
	struct memfd *m = memfd_of(ino);

	(void)memfd_getattr(ino); /* how much it holds now, whoever wrote it */
	used_bytes -= m->charged;
	list_remove(&m->all_link);
	if (m->charged >= FREE_LONG)
		hostwork_close(m->fd, false);
	else
		host_close(m->fd);
	obj_free(&memfd_type, m);
}

static const struct inode_ops memfd_iops = {
	.readlink = memfd_readlink,
	.getattr = memfd_getattr,
	.setattr = memfd_setattr,
	.hostfd = memfd_hostfd,
	.evict = memfd_evict,
};

/* ---- open files ---- */

static int64_t memfd_read(struct file *f, struct uio *u, int64_t pos)
{
	return hostfile_fops.read(f, u, pos);
}

static int64_t memfd_write(struct file *f, struct uio *u, int64_t pos)
{
	int64_t r;

	if (!memfd_has_room(u->left))
		return -ENOSPC;
	r = hostfile_fops.write(f, u, pos);
	if (r > 0)
		memfd_getattr(f->inode);
	return r;
}

static int64_t memfd_seek(struct file *f, int64_t off, int whence)
{
	return hostfile_fops.seek(f, off, whence);
}

static int memfd_mmap(struct file *f, const struct mapping_req *req, uint64_t *off)
{
	return hostfile_fops.mmap(f, req, off);
}

static int memfd_fsync(struct file *f, bool data_only)
{
	(void)f;
	(void)data_only;
	return 0;
}

static int memfd_fallocate(struct file *f, int mode, uint64_t off, uint64_t len)
{
	int r;

	/* Modes without FALLOC_FL_PUNCH_HOLE (2) allocate. */
	if (!(mode & 2) && !memfd_has_room(len))
		return -ENOSPC;
	r = hostfile_fops.fallocate(f, mode, off, len);
	memfd_getattr(f->inode);
	return r;
}

static const struct file_ops memfd_fops = {
	.read = memfd_read,
	.write = memfd_write,
	.seek = memfd_seek,
	.mmap = memfd_mmap,
	.fsync = memfd_fsync,
	.fallocate = memfd_fallocate,
};

static void memfd_statfs(const struct inode *ino, struct fs_stat *out)
{
	(void)ino;
	out->type = 0x01021994; /* TMPFS_MAGIC */
}

static const struct fs_ops memfd_fs_ops = { .statfs = memfd_statfs };

static void memfd_place(struct memfd *m, const char *name, uint32_t mode)
{
	if (!memfd_fs.refs)
		fs_init(&memfd_fs, &memfd_fs_ops, "tmpfs");
	inode_init(&m->inode, &memfd_fs, &memfd_iops, S_IFREG | mode);
	m->inode.fops = &memfd_fops;
	m->inode.ino = ino_next();
	m->inode.nlink = 0;
	snprintf(m->name, sizeof(m->name), "%s", name);
	list_append(&all, &m->all_link);
}

int memfd_new(const char *name, unsigned flags, struct file **ret_)
{
	struct memfd *m;
	int r;

	if (flags & ~(MFD_CLOEXEC | MFD_ALLOW_SEALING | MEMFD_NOEXEC_SEAL | MEMFD_EXEC))
		return -EINVAL;
	if ((flags & MEMFD_EXEC) && (flags & MEMFD_NOEXEC_SEAL))
		return -EINVAL;
	if (strlen(name) > MEMFD_NAME_MAX)
		return -EINVAL;
	m = obj_new(&memfd_type);
	if (!m)
		return -ENFILE;
	/* MFD_EXEC is what hosts that do not know it do anyway. */
	m->fd = host_memfd(name, flags & (MFD_ALLOW_SEALING | MEMFD_NOEXEC_SEAL));
	if (m->fd < 0) {
		r = m->fd == -EMFILE ? -ENFILE : m->fd;
		obj_free(&memfd_type, m);
		return r;
	}
	memfd_place(m, name, flags & MEMFD_NOEXEC_SEAL ? 0666 : 0777);
	inode_own(&m->inode);
	r = file_new(&m->inode, NULL, O_RDWR | 0100000 /* O_LARGEFILE as F_GETFL shows it */, ret_);
	inode_put(&m->inode); /* the file holds it now, or nobody */
	return r;
}

int memfd_given(int fd, const char *name, struct file **ret_)
{
	const int sealed = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
	int seals = host_fcntl(fd, F_GET_SEALS, 0), r;
	struct memfd *m = NULL;

	if (seals < 0 || (seals & sealed) != sealed ||
	    (host_fcntl(fd, F_GETFL, 0) & O_ACCMODE) != O_RDONLY)
		r = -EINVAL;
	else
		r = (m = obj_new(&memfd_type)) ? 0 : -ENFILE;
	if (r < 0) {
		host_close(fd);
		return r;
	}
	m->fd = fd;
	m->given = true;
	memfd_place(m, name, 0555);
	(void)memfd_getattr(&m->inode);
	r = file_new(&m->inode, NULL, O_RDONLY | 0100000, ret_);
	inode_put(&m->inode);
	return r;
}

int memfd_add_seals(struct file *f, unsigned seals)
{
	if (!(f->mode & FMODE_WRITE))
		return -EPERM;
	if (f->inode->ops != &memfd_iops || (seals & ~(unsigned)SEALS_ALL))
		return -EINVAL;
	return host_fcntl(memfd_of(f->inode)->fd, F_ADD_SEALS, (long)seals);
}

int memfd_get_seals(struct file *f)
{
	if (f->inode->ops != &memfd_iops)
		return -EINVAL;
	return host_fcntl(memfd_of(f->inode)->fd, F_GET_SEALS, 0);
}
