/* The file system of /dev/pts: one entry for each pair whose master is open, and ptmx. The entries
 * are the pairs themselves, so owners and permissions last as long as the pair. One instance for
 * the cell. */
#include <errno.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "kernel/fs/pty/pty_priv.h"
#include "kernel/task/cred.h"
#include "kernel/vfs/dir.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/fs.h"
#include "kernel/vfs/inode.h"
#include "kernel/vfs/mount.h"
#include "kernel/vfs/name.h"

#define SLAVE_MODE (S_IFCHR | 0620)
#define SLAVE_GID 5 /* tty */
#define INO_ROOT 1
#define INO_PTMX 2
#define INO_SLAVES 3 /* and the number */

static struct fs devpts;
static struct inode root, ptmx;

struct fs *devpts_fs(void)
{
	return devpts.refs ? &devpts : NULL;
}

/* ---- the entries ---- */

static int node_setattr(struct inode *ino, const struct attr *a)
{
	if (a->valid & ATTR_SIZE)
		return -EINVAL;
	inode_set_attr(ino, a);
	return 0;
}

static int slave_open(struct inode *ino, struct task *t, struct file *f)
{
	return pty_slave_open(container_of(ino, struct pty, inode), t, f);
}

static void slave_evict(struct inode *ino)
{
	pty_free(container_of(ino, struct pty, inode));
}

static const struct inode_ops slave_iops = {
	.setattr = node_setattr,
	.open = slave_open,
	.evict = slave_evict,
};

void devpts_inode_init(struct pty *pty, const struct cred *c)
{
	inode_init(&pty->inode, &devpts, &slave_iops, SLAVE_MODE);
	pty->inode.ino = INO_SLAVES + pty->index;
	pty->inode.nlink = 1;
	pty->inode.rdev = makedev(PTY_MAJOR, pty->index);
	pty->inode.uid = c ? c->fsuid : 0;
	pty->inode.gid = SLAVE_GID;
}

static int node_ptmx_open(struct inode *ino, struct task *t, struct file *f)
{
	(void)ino;
	return ptmx_open(t, f);
}

/* The two that stay: the file system is never freed. */
static void node_evict(struct inode *ino)
{
	(void)ino;
}

static const struct inode_ops ptmx_iops = {
	.setattr = node_setattr,
	.open = node_ptmx_open,
	.evict = node_evict,
};

/* ---- the directory ---- */

/* A number without leading zeros. */
static struct pty *slave_named(const char *name, size_t len)
{
	uint64_t n = 0;

	if (len == 0 || len > 4 || (len > 1 && name[0] == '0'))
		return NULL;
	for (size_t i = 0; i < len; i++) {
		if (name[i] < '0' || name[i] > '9')
			return NULL;
		n = n * 10 + (uint64_t)(name[i] - '0');
	}
	return pty_find(n);
}

static int root_lookup(struct inode *dir, const char *name, size_t len, struct inode **ret_)
{
	struct pty *pty = slave_named(name, len);

	(void)dir;
	if (!pty && (len != 4 || memcmp(name, "ptmx", 4) != 0))
		return -ENOENT;
	*ret_ = inode_get(pty ? &pty->inode : &ptmx);
	return 0;
}

/* Positions: 0 ".", 1 "..", 2 ptmx, then the numbers. */
static int root_iterate(struct file *f, struct dirsink *sink)
{
	char name[16];

	if (f->pos < 0)
		return -EINVAL;
	if (!dirsink_dots(sink, f))
		return 0;
	if (f->pos == 2 && dirsink_emit(sink, "ptmx", 4, INO_PTMX, 2, 3))
		f->pos = 3;
	while (f->pos >= 3) {
		struct pty *pty = pty_next((uint64_t)f->pos - 3);
		int n;

		if (!pty)
			break;
		n = snprintf(name, sizeof(name), "%u", pty->index);
		if (!dirsink_emit(sink, name, (size_t)n, pty->inode.ino, 2,
				  (int64_t)pty->index + 4))
			break;
		f->pos = (int64_t)pty->index + 4;
	}
	return 0;
}

static const struct file_ops root_fops = { .iterate = root_iterate };

static const struct inode_ops root_iops = {
	.lookup = root_lookup,
	.setattr = node_setattr,
	.evict = node_evict,
};

int devpts_path(const struct pty *pty, struct path *ret_)
{
	char name[16];
	int n = snprintf(name, sizeof(name), "%u", pty->index), ret;

	for (struct mount *m = mount_next(NULL); m; m = mount_next(m)) {
		if (m->fs != &devpts)
			continue;
		ret = name_lookup(m->root, name, (size_t)n, &ret_->name);
		if (ret < 0)
			return ret;
		ret_->mnt = mount_get(m);
		return 0;
	}
	return -EIO;
}

static void devpts_statfs(const struct inode *ino, struct fs_stat *out)
{
	(void)ino;
	out->type = DEVPTS_SUPER_MAGIC;
}

static void devpts_free(struct fs *fs)
{
	(void)fs;
}

static const struct fs_ops devpts_ops = {
	.statfs = devpts_statfs,
	.free = devpts_free,
};

struct fs *devpts_new(void)
{
	if (devpts.refs)
		return fs_get(&devpts);
	fs_init(&devpts, &devpts_ops, "devpts");
	devpts.nocache = true;
	devpts.single = true;
	inode_init(&root, &devpts, &root_iops, S_IFDIR | 0755);
	root.ino = INO_ROOT;
	root.nlink = 2;
	root.fops = &root_fops;
	inode_init(&ptmx, &devpts, &ptmx_iops, S_IFCHR | 0666);
	ptmx.ino = INO_PTMX;
	ptmx.rdev = makedev(5, 2);
	devpts.root = &root;
	return &devpts;
}
