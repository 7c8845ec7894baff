/* A kernel without guests (docs/decisions/0017: nobody but a kernel parses a log). It is locked in as every other before it reads the
 * first byte of a chain, and has no runners.
 *
 * MODE_LIST   what differs, one record after the other, each ended by a NUL:
 *                 KIND TYPE MODE UID GID SIZE LAYER NUMBER SECONDS.NANOSECONDS /PATH
 *             KIND is A, C or D; TYPE one of f d l c b p s; MODE octal; LAYER and NUMBER say which content it is: an index in the chain
 *             and the number of the file there, -1 and the number of the image's object ("-": not known), or -2 and 0: empty.
 * MODE_TAR    a tar stream (fs/layer/tar.c) of the whole tree, or of what differs
 * MODE_CHECK  that all logs can be read and all contents are there: one line for each that is not
 * Differences are to the image alone, or to the first from_layers of the chain. */
#include "kernel/cell/maintain.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "host/host.h"
#include "kernel/cell/control.h"
#include "kernel/fs/layer/diff.h"
#include "kernel/fs/layer/layer.h"
#include "kernel/platform/cell.h"

static _Noreturn void end(int status)
{
	control_say(CTL_EXIT, status << 8, "exit");
	_exit(0);
}

static _Noreturn void fail(const char *what, int err)
{
	control_say(CTL_FAIL, 125, "%s: %s", what, strerror(-err));
	_exit(125);
}

/* ---- trees ---- */

static struct image *image_new(void)
{
	struct image *image = NULL;
	int ret = 0;

	if (cell.spec.no_image)
		return NULL;
	if (cell.spec.image_stored)
		ret = indeximage_new(FD_IMAGE, &image);
	else
		image = hostimage_new(FD_IMAGE);
	if (ret < 0 || !image)
		fail("the image cannot be read", ret < 0 ? ret : -ENOMEM);
	return image;
}

/* The tree of the first n layers of the chain. */
static struct fs *tree_open(uint32_t n)
{
	static struct layer_disk disk;
	const struct disk_spec *d = &cell.spec.disk;
	char why[256];
	struct fs *fs;
	int ret;

	if (!d->present || n == 0) {
		fs = layer_new(image_new(), 0, 0, "overlay");
		if (!fs)
			fail("the tree", -ENOMEM);
		return fs;
	}
	if (n > d->nsealed || n > LAYER_CHAIN_MAX)
		fail("the chain", -EINVAL);
	disk = (struct layer_disk){ .readonly = true, .nsealed = n };
	disk.data_fd = host_openat(d->data_fd, ".", O_RDONLY | O_DIRECTORY, 0);
	if (disk.data_fd < 0)
		fail("the disk cannot be opened", disk.data_fd);
	for (uint32_t i = 0; i < n; i++) {
		disk.sealed[i].fd = cell.spec.layers[d->first + i].fd;
		disk.sealed[i].number = cell.spec.layers[d->first + i].number;
	}
	ret = layer_new_on_disk(image_new(), &disk, 0, 0, "overlay", &fs, why, sizeof(why));
	if (ret < 0) {
		control_say(CTL_FAIL, 125, "the disk cannot be read: %s", why);
		_exit(125);
	}
	return fs;
}

/* ---- the list ---- */

struct out {
	char *buf; /* blob of OUT_SIZE */
	size_t len;
};

#define OUT_SIZE (256u << 10)

static int out_flush(struct out *o)
{
	int r = host_write_all(cell.spec.out_fd, o->buf, o->len);

	if (r == 0)
		o->len = 0;
	return r;
}

static char type_char(uint32_t mode)
{
	static const char types[16] = { 0, 'p', 'c', 0, 'd', 0, 'b', 0, 'f', 0, 'l', 0, 's' };

	return types[(mode & S_IFMT) >> 12];
}

static int list_one(void *arg, const struct tree_visit *v)
{
	struct out *o = arg;
	struct inode *i = v->inode;
	struct content_id id = { -2, 0 };
	char number[24] = "0";
	int r = 0;

	if (o->len + v->path_len + 256 > OUT_SIZE)
		r = out_flush(o);
	if (r < 0)
		return r;
	if (inode_is_reg(i))
		id = layer_content_id(i);
	if (id.number == UINT64_MAX)
		strcpy(number, "-");
	else
		snprintf(number, sizeof(number), "%llu", (unsigned long long)id.number);
	o->len += (size_t)sprintf(o->buf + o->len, "%c %c %o %u %u %llu %d %s %lld.%09ld /",
				  v->kind, type_char(i->mode), i->mode & 07777, i->uid, i->gid,
				  (unsigned long long)(inode_is_dir(i) ? 0 : i->size), id.layer,
				  number, (long long)i->mtime.tv_sec, i->mtime.tv_nsec);
	memcpy(o->buf + o->len, v->path, v->path_len + 1);
	o->len += v->path_len + 1;
	return 0;
}

static int list(struct fs *from, struct fs *to)
{
	struct out o = { .buf = blob_new(OUT_SIZE) };
	int r = o.buf ? tree_diff(from, to, list_one, &o) : -ENOMEM;

	return r < 0 ? r : out_flush(&o);
}

/* ---- tar ---- */

static int tar_one(void *arg, const struct tree_visit *v)
{
	return tar_entry(arg, v);
}

static int tar(struct fs *from, struct fs *to)
{
	struct tar_options o = { .fd = cell.spec.out_fd,
				 .objects = cell.spec.tar_objects,
				 .whiteouts = from != NULL };
	struct tar *t;
	int r = tar_begin(&o, &t), last;

	if (r < 0)
		return r;
	r = tree_diff(from, to, tar_one, t);
	if (r < 0)
		return r;
	last = tar_end(t);
	return last;
}

/* ---- check ---- */

static void check_one(void *arg, uint32_t layer, uint64_t number)
{
	(void)arg;
	control_say(CTL_LOG, 1, "layer %u: content %llx is missing or incomplete", layer,
		    (unsigned long long)number);
}

_Noreturn void maintain(void)
{
	const struct bootspec *s = &cell.spec;
	struct fs *to = tree_open(s->disk.nsealed), *from = NULL;
	int64_t r;

	if (s->mode == MODE_LIST || (s->mode == MODE_TAR && !s->tar_whole))
		from = tree_open(s->from_layers);
	switch (s->mode) {
	case MODE_LIST:
		r = list(from, to);
		break;
	case MODE_TAR:
		r = tar(from, to);
		break;
	case MODE_CHECK:
		r = layer_check(to, check_one, NULL);
		break;
	default:
		r = -EINVAL;
	}
	if (r < 0)
		fail("the disk cannot be told", (int)r);
	end(r > 0 ? 1 : 0);
}
