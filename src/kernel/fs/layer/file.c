/* Open files of a layer: the host's operations on their content (vfs/hostfile.c), after what the
 * layer has to do first: make the content its own, keep to the limits, note what changed. */
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/mman.h>

#include "host/host.h"
#include "kernel/fs/layer/store.h"
#include "kernel/platform/uio.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/fs.h"
#include "kernel/vfs/inode.h"

static int64_t layer_read(struct file *f, struct uio *u, int64_t pos)
{
	struct lnode *n = lnode_of(f->inode);

	if (n->own_content && n->scratch == 0)
		return 0;
	return hostfile_fops.read(f, u, pos);
}

static int64_t layer_write(struct file *f, struct uio *u, int64_t pos)
{
	struct lnode *n = lnode_of(f->inode);
	struct layer *l = layer_of(n);
	uint64_t len = u->left, fit;
	bool grows;
	int64_t r;

	if (pos < 0)
		return -EINVAL;
	if (len == 0)
		return 0;
	if (len > (uint64_t)INT64_MAX - 2 * PAGE_SIZE - (uint64_t)pos ||
	    (uint64_t)pos > INT64_MAX - 2 * PAGE_SIZE)
		return -EFBIG;
	if (l->store && l->fs.readonly)
		return -EROFS;
	r = content_own(n, UINT64_MAX);
	if (r < 0)
		return r;
	fit = layer_write_room(n, (uint64_t)pos, len, &grows);
	if (fit == 0)
		return -ENOSPC;
	u->left = MIN(fit, len);
	fit = len - u->left;
	r = hostfile_fops.write(f, u, pos);
	if ((r == -ENOSPC || r == -EDQUOT) && store_make_room(l))
		r = hostfile_fops.write(f, u, pos);
	u->left += fit;
	if (r > 0) {
		n->wrote = l->store != NULL;
		n->unsynced += (uint64_t)r;
		n->changed = true;
		inode_touch(&n->inode);
		n->inode.size = MAX(n->inode.size, (uint64_t)(pos + r));
		lnode_times_now(n, true);
		if (grows)
			lnode_recount(n);
	}
	return r;
}

static int64_t layer_seek(struct file *f, int64_t off, int whence)
{
	return hostfile_fops.seek(f, off, whence);
}

/* A file opened for writing can have its shared mapping made writable at any time, so that is what
 * counts. */
static int layer_mmap(struct file *f, const struct mapping_req *req, uint64_t *off)
{
	bool write = (req->flags & MAP_SHARED) && (f->mode & FMODE_WRITE);
	struct lnode *n = lnode_of(f->inode);
	struct layer *l = layer_of(n);
	int fd;

	(void)off;
	fd = write ? content_own(n, UINT64_MAX) : 0;
	if (fd == 0)
		fd = layer_hostfd(f->inode, write);
	if (fd >= 0)
		n->mapped = true;
	if (fd >= 0 && write && !n->mapped_shared && layer_counts_maps(l)) {
		/* With a descriptor that only reads, a reader cannot make more of it. */
		write = lnode_map_begins(n);
		fd = !write && (req->prot & PROT_WRITE) ? -ENOSPC : layer_hostfd(f->inode, write);
	}
	if (fd >= 0 && write) {
		struct lstore *s = l->store;

		n->mapped_shared = f->inode->unsteady = true;
		inode_touch(f->inode);
		if (s && list_is_empty(&n->mapped_link))
			list_append(&s->mapped, &n->mapped_link);
	}
	return fd;
}

static int layer_fsync(struct file *f, bool data_only)
{
	struct lnode *n = lnode_of(f->inode);

	return layer_of(n)->store ? store_sync_node(layer_of(n), n, data_only) : 0;
}

static int layer_fallocate(struct file *f, int mode, uint64_t off, uint64_t len)
{
	struct lnode *n = lnode_of(f->inode);
	bool grows;
	int r;

	if (len == 0 || off > INT64_MAX || len > INT64_MAX - off)
		return len == 0 || off > INT64_MAX ? -EINVAL : -EFBIG;
	if (off + len > INT64_MAX - 2 * PAGE_SIZE)
		return -EFBIG;
	if (layer_of(n)->store && f->inode->fs->readonly)
		return -EROFS;
	r = content_own(n, UINT64_MAX);
	if (r == 0)
		r = layer_hostfd(f->inode, true);
	if (r < 0)
		return r;
	if (mode & FALLOC_FL_COLLAPSE_RANGE)
		r = lnode_hint(n, n->inode.size > len ? n->inode.size - len : 0);
	if (r < 0)
		return r;
	/* Modes without FALLOC_FL_PUNCH_HOLE (2) allocate. */
	if (!(mode & 2) && layer_write_room(n, off, len, &grows) < len)
		return -ENOSPC;
	r = hostfile_fops.fallocate(f, mode, off, len);
	lnode_recount(n);
	if (r == 0) {
		n->wrote = layer_of(n)->store != NULL;
		n->changed = true;
		lnode_times_now(n, true);
	}
	return r;
}

const struct file_ops layer_reg_fops = {
	.read = layer_read,
	.write = layer_write,
	.seek = layer_seek,
	.mmap = layer_mmap,
	.fsync = layer_fsync,
	.fallocate = layer_fallocate,
};
