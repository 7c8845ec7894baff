/* A kernel without guests (docs/decisions/0017: nobody but a kernel parses a log). It is locked in
 * as every other before it reads the first byte of a chain, and has no runners.
 *
 *   MODE_LIST      what differs, in the order of a walk: the path from "/" on, then what it was and
 *                  what it is, each ended by a NUL and either "-", it is not there, or
 *                      TYPE MODE UID GID SIZE LAYER NUMBER SECONDS.NANOSECONDS CONTENT
 *                  TYPE is one of f d l c b p s; MODE is octal; SIZE of a device is its number.
 *                  LAYER and NUMBER say which content it is: an index in the chain and the number
 *                  of the file there, -1 and the number of the image's object ("-": not known), or
 *                  -2 and 0: empty. CONTENT is "-".
 *   MODE_CONTENTS  the same, but CONTENT of a file or link is "+": SIZE bytes of it follow the NUL;
 *                  "=": it was and is the same; or "!": it is larger than TELL_CONTENT_MAX, or the
 *                  host does not let everybody read it
 *   MODE_TAR       a tar stream (fs/layer/tar.c) of the whole tree, or of what differs
 *   MODE_CHECK     one line for each log that cannot be read and each content that is missing
 *   MODE_MERGE     the first from_layers of the chain as one layer: its log goes to log_fd. Here
 *                  come LAYER and NUMBER of each content that it or the rest of the chain needs, a
 *                  line each in hexadecimal digits: an index in the chain, the number of the file
 *                  there, and its number in the new layer. Some come twice; of one number, the one
 *                  with the highest index counts. Status 1: the image lacks what the layers have
 *                  changed, so they cannot become one
 *
 * Differences are to the image alone, or to the first from_layers of the chain. */
#include "kernel/cell/maintain.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/program.h"
#include "host/host.h"
#include "kernel/cell/control.h"
#include "kernel/fs/layer/diff.h"
#include "kernel/fs/layer/layer.h"
#include "kernel/fs/layer/outstream.h"
#include "kernel/platform/cell.h"
#include "kernel/vfs/inode.h"
#include "kernel/vfs/path.h"

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
	struct layer_disk disk;
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
	disk = (struct layer_disk){ .readonly = true,
				    .nsealed = n,
				    .sealed = cell.spec.layers + d->first };
	disk.data_fd = host_openat(d->data_fd, ".", O_RDONLY | O_DIRECTORY, 0);
	if (disk.data_fd < 0)
		fail("the disk cannot be opened", disk.data_fd);
	ret = layer_new_on_disk(image_new(), &disk, 0, 0, "overlay", &fs, why, sizeof(why));
	if (ret < 0) {
		control_say(CTL_FAIL, 125, "the disk cannot be read: %s", why);
		_exit(125);
	}
	return fs;
}

/* ---- the list ---- */

static char type_char(uint32_t mode)
{
	static const char types[16] = { 0, 'p', 'c', 0, 'd', 0, 'b', 0, 'f', 0, 'l', 0, 's' };

	return types[(mode & S_IFMT) >> 12];
}

/* One side of a difference, and its content if that is asked for. */
static int side_put(struct outstream *o, struct inode *i, bool same)
{
	static char target[PATH_MAX_LEN];
	struct content_id id = { -2, 0 };
	uint64_t size = i->size;
	char number[24] = "-", content = '-';
	int fd = -1, r = 0;

	if (inode_is_dir(i))
		size = 0;
	else if (type_char(i->mode) == 'c' || type_char(i->mode) == 'b')
		size = i->rdev;
	if (inode_is_reg(i))
		id = layer_content_id(i);
	if (id.number != UINT64_MAX)
		snprintf(number, sizeof(number), "%llu", (unsigned long long)id.number);
	if (cell.spec.mode == MODE_CONTENTS && inode_is_reg(i)) {
		content = same ? '=' : size > TELL_CONTENT_MAX ? '!' : '+';
		if (content == '+' && size && id.layer != -2)
			fd = r = CHECKED(i->ops)->hostfd(i, false);
		if (r == -EACCES && id.layer == -1) {
			content = '!';
			r = 0;
		}
	} else if (cell.spec.mode == MODE_CONTENTS && inode_is_lnk(i)) {
		content = '+';
		r = CHECKED(i->ops)->readlink(i, NULL, target, sizeof(target));
		size = (uint64_t)r;
	}
	if (r < 0)
		return r;
	r = outstream_printf(o, "%c %o %u %u %llu %d %s %lld.%09ld %c", type_char(i->mode),
			     i->mode & 07777, i->uid, i->gid, (unsigned long long)size, id.layer,
			     number, (long long)i->mtime.tv_sec, i->mtime.tv_nsec, content);
	if (r == 0)
		r = outstream_put(o, NULL, 1);
	if (r < 0 || content != '+')
		return r;
	if (inode_is_lnk(i))
		return outstream_put(o, target, size);
	return fd < 0 ? outstream_put(o, NULL, size) : outstream_copy(o, fd, 0, size);
}

static int list_one(void *arg, const struct tree_visit *v)
{
	struct inode *sides[2] = { v->from, v->kind == 'D' ? NULL : v->inode };
	bool same = sides[0] && sides[1] && inode_is_reg(sides[0]) && inode_is_reg(sides[1]) &&
		    layer_content_is_same(sides[0], sides[1]);
	struct outstream *o = arg;
	int r = outstream_put(o, "/", 1);

	if (r == 0)
		r = outstream_put(o, v->path, v->path_len);
	if (r == 0)
		r = outstream_put(o, NULL, 1);
	for (unsigned i = 0; i < 2 && r == 0; i++)
		r = sides[i] ? side_put(o, sides[i], same) : outstream_put(o, "-", 2);
	return r;
}

static int list(struct fs *from, struct fs *to)
{
	struct outstream o;
	int r = outstream_init(&o, cell.spec.out_fd);

	if (r == 0)
		r = tree_diff(from, to, list_one, &o);
	return r < 0 ? r : outstream_flush(&o);
}

/* ---- tar ---- */

struct tarring {
	struct tar *t;
	int closed;
};

/* What the host image cannot show has no place in an image of the cell either. */
static int tar_one(void *arg, const struct tree_visit *v)
{
	struct tarring *a = arg;
	int r = tar_entry(a->t, v);

	if (r != -EACCES)
		return r;
	a->closed++;
	return 0;
}

static int tar(struct fs *from, struct fs *to)
{
	struct tar_options o = { .fd = cell.spec.out_fd,
				 .objects = cell.spec.tar_objects,
				 .whiteouts = from != NULL };
	struct tarring a = { 0 };
	int r = tar_begin(&o, &a.t), last;

	if (r < 0)
		return r;
	r = tree_diff(from, to, tar_one, &a);
	if (r < 0)
		return r;
	last = tar_end(a.t);
	if (last == 0 && a.closed + r > 0)
		control_say(CTL_LOG, 0,
			    "left out what the host does not let everybody read: "
			    "%d files, and what is in %d directories",
			    a.closed, r);
	return last;
}

/* ---- check ---- */

static void check_one(void *arg, uint32_t layer, uint64_t number)
{
	(void)arg;
	control_say(CTL_LOG, 1, "layer %u: content %llx is missing or incomplete", layer,
		    (unsigned long long)number);
}

/* ---- one layer of many ---- */

static int merge_content(void *arg, uint32_t index, uint64_t number)
{
	return outstream_printf(arg, "%x %llx\n", index, (unsigned long long)number);
}

static int merge(struct fs *from, struct fs *to)
{
	struct outstream o;
	int r = outstream_init(&o, cell.spec.out_fd);

	if (r == 0)
		r = layer_merge(from, cell.spec.log_fd, cell.spec.log_layer, merge_content, &o);
	if (r == -ESTALE)
		return 1;
	if (r == 0)
		r = layer_contents(to, cell.spec.from_layers, from, merge_content, &o);
	return r < 0 ? r : outstream_flush(&o);
}

_Noreturn void maintain(void)
{
	const struct bootspec *s = &cell.spec;
	struct fs *to = tree_open(s->disk.nsealed), *from = NULL;
	int64_t r;

	if (s->mode == MODE_LIST || s->mode == MODE_CONTENTS || s->mode == MODE_MERGE ||
	    (s->mode == MODE_TAR && !s->tar_whole))
		from = tree_open(s->from_layers);
	switch (s->mode) {
	case MODE_LIST:
	case MODE_CONTENTS:
		r = list(from, to);
		break;
	case MODE_TAR:
		r = tar(from, to);
		break;
	case MODE_CHECK:
		r = layer_check(to, check_one, NULL);
		break;
	case MODE_MERGE:
		r = merge(from, to);
		break;
	default:
		r = -EINVAL;
	}
	if (r < 0)
		fail("the disk cannot be told", (int)r);
	end(r > 0 ? 1 : 0);
}
