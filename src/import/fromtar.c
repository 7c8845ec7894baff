/* A tar stream as a source, plain or compressed, by libarchive. Entries go into the tree in memory
 * and their contents into objects: no name of an archive is ever a name of the host's. The last of
 * several entries of one name counts. A layer of a container image is a tar stream as well; its
 * whiteouts (.wh.NAME, .wh..wh..opq) take away what earlier layers put. */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "import/container.h"
#include "import/gunzip.h"
#include "import/import.h"
#include "import/progress.h"

#define READ_SIZE (1u << 20)
#define XATTRS_MAX 256
#define TAR_OBJECT_XATTR "VIVARIUM.object" /* kernel/fs/layer/tar.c */

struct tar {
	struct import *im;
	const struct tar_source *src;
	uint8_t *block;
	size_t ahead; /* bytes in block that were read to see what the stream is */
	uint64_t done;
	struct gunzip *gunzip; /* NULL: libarchive does what has to be done */
	bool seen; /* the first file */
};

/* ---- the stream ---- */

/* Into the block from an offset on: -1 with errno. */
static ssize_t block_read(struct tar *t, size_t at)
{
	ssize_t n;

	do {
		if (interrupted()) {
			errno = EINTR;
			return -1;
		}
		n = read(t->src->fd, t->block + at, READ_SIZE - at);
	} while (n < 0 && errno == EINTR);
	if (n <= 0)
		return n;
	if (t->src->hash)
		hash_add(t->src->hash, t->block + at, (size_t)n);
	t->done += (uint64_t)n;
	progress_source(t->done, t->src->size);
	progress_show();
	return n;
}

/* The stream as it is. */
static ssize_t source_read(void *arg, const void **block)
{
	struct tar *t = arg;
	ssize_t n = (ssize_t)t->ahead;

	*block = t->block;
	t->ahead = 0;
	return n ? n : block_read(t, 0);
}

/* For libarchive; 0 only when the source has ended. */
static ssize_t stream_read(struct archive *a, void *data, const void **block)
{
	struct tar *t = data;
	const char *why = NULL;
	ssize_t n = t->gunzip ? gunzip_read(t->gunzip, block, &why) : source_read(t, block);

	if (n >= 0)
		return n;
	if (why)
		archive_set_error(a, EBADMSG, "%s", why);
	else
		archive_set_error(a, errno, "cannot read it: %s", strerror(errno));
	return -1;
}

/* Looks at the first bytes. */
static void stream_start(struct tar *t)
{
	while (t->ahead < GUNZIP_MAGIC) {
		ssize_t n = block_read(t, t->ahead);

		if (n <= 0)
			return; /* the next one who reads meets it again */
		t->ahead += (size_t)n;
	}
	if (gunzip_is(t->block))
		t->gunzip = gunzip_new(source_read, t);
}

static int archive_failed(struct archive *a, struct err *e)
{
	const char *why = archive_error_string(a);

	if (interrupted())
		return err_set(e, ERR_FAILED, "interrupted");
	return err_set(e, ERR_FAILED, "%s", why ? why : "broken archive");
}

/* When not even the first header can be read. */
static int no_archive(struct err *e)
{
	return err_wrap(e, "it is not a tar archive, or a broken one");
}

/* ---- entries ---- */

static int attr_of(struct tar *t, struct archive_entry *ae, const char *path,
		   struct tree_attr *attr, struct err *e)
{
	int64_t uid = archive_entry_uid(ae), gid = archive_entry_gid(ae);
	uint64_t major = (uint64_t)archive_entry_rdevmajor(ae);
	uint64_t minor = (uint64_t)archive_entry_rdevminor(ae);

	if (uid < 0 || gid < 0 || uid >= UINT32_MAX || gid >= UINT32_MAX)
		return err_set(e, ERR_FAILED,
			       "'%.200s' has an owner that does not exist: %lld:%lld", path,
			       (long long)uid, (long long)gid);
	*attr = (struct tree_attr){ .mode = archive_entry_mode(ae) & (S_IFMT | 07777),
				    .uid = (uint32_t)uid,
				    .gid = (uint32_t)gid,
				    .mtime = (uint32_t)archive_entry_mtime(ae) };
	import_owner(t->im, attr);
	if (S_ISCHR(attr->mode) || S_ISBLK(attr->mode)) {
		if (major >= 1u << 12 || minor >= 1u << 20)
			return err_set(e, ERR_FAILED, "'%.200s' is a device that does not exist",
				       path);
		attr->rdev = (minor & 0xff) | major << 8 | (minor & ~0xffull) << 12;
	}
	if (S_ISLNK(attr->mode))
		attr->link = archive_entry_symlink(ae);
	return 0;
}

static int xattrs_of(struct tar *t, struct archive_entry *ae, uint32_t node, struct err *e)
{
	struct tree_xattr list[XATTRS_MAX];
	size_t n = 0, len;
	const char *name;
	const void *value;

	archive_entry_xattr_reset(ae);
	while (n < XATTRS_MAX && archive_entry_xattr_next(ae, &name, &value, &len) == ARCHIVE_OK)
		if (name)
			list[n++] = (struct tree_xattr){ name, value, len };
	return tree_set_xattrs(&t->im->tree, node, list, n, e);
}

static int content_of(struct tar *t, struct archive *a, struct archive_entry *ae, uint32_t node,
		      bool pyc, struct err *e)
{
	int64_t size = archive_entry_size_is_set(ae) ? archive_entry_size(ae) : 0;
	struct objects *o = &t->im->objects;
	int64_t pyc_time;
	uint32_t object;
	uint64_t end = 0;

	if (size < 0)
		return err_set(e, ERR_FAILED, "a file of negative size");
	if (object_start(o, (uint64_t)size, pyc, e) < 0)
		return -1;
	for (;;) {
		const void *data;
		size_t n;
		int64_t at;
		int r = archive_read_data_block(a, &data, &n, &at);

		if (r == ARCHIVE_EOF)
			break;
		if (r != ARCHIVE_OK)
			return archive_failed(a, e);
		if (at < 0)
			return err_set(e, ERR_FAILED, "a part of a file at a negative place");
		if (n && object_write(o, data, n, (uint64_t)at, e) < 0)
			return -1;
		if (n)
			end = (uint64_t)at + n;
	}
	end = MAX(end, (uint64_t)size);
	if (object_end(o, end, &object, &pyc_time, e) < 0)
		return -1;
	import_content(t->im, node, object, end, pyc_time);
	return 0;
}

/* A content that is named by its number in the index of the base, as viv's own kernel does it when
 * a cell becomes an image: true with the number. Nobody's word but a number is taken, and what it
 * stands for is looked up in that index: an object of that image, whatever the sender wants. */
static bool object_named(const struct tar *t, struct archive_entry *ae, uint64_t *ret)
{
	const char *name;
	const void *value;
	char text[24];
	size_t len;

	if (!t->src->base)
		return false;
	archive_entry_xattr_reset(ae);
	while (archive_entry_xattr_next(ae, &name, &value, &len) == ARCHIVE_OK) {
		char *end;

		if (!name || strcmp(name, TAR_OBJECT_XATTR))
			continue;
		*ret = UINT64_MAX;
		if (!len || len >= sizeof(text))
			return true;
		memcpy(text, value, len);
		text[len] = 0;
		*ret = strtoull(text, &end, 10);
		if (*end || text[0] < '0' || text[0] > '9')
			*ret = UINT64_MAX;
		return true;
	}
	return false;
}

static int object_of(struct tar *t, uint64_t n, uint32_t node, bool pyc, struct err *e)
{
	struct index_object object;
	int64_t pyc_time;
	uint32_t number;

	if (index_object(&t->src->base->ix, n, &object))
		return err_set(e, ERR_FAILED,
			       "a file names a content that its image does not have");
	if (object_take(&t->im->objects, &object, pyc, &number, &pyc_time, e) < 0)
		return -1;
	import_content(t->im, node, number, object.size, pyc_time);
	return 0;
}

/* A whiteout: true when the entry was one and is done with. */
static bool whiteout(struct tar *t, uint32_t dir, const char *name, size_t len)
{
	if (!t->src->layer || len < 5 || memcmp(name, ".wh.", 4))
		return false;
	if (len == 12 && !memcmp(name, ".wh..wh..opq", 12))
		tree_drop_below(&t->im->tree, dir);
	else if (len < 8 || memcmp(name, ".wh..wh.", 8))
		tree_drop(&t->im->tree, dir, name + 4, len - 4);
	return true;
}

/* A directory that is there, the root for example: only what it is changes. */
static int dir_set(struct tar *t, struct archive_entry *ae, const char *path, uint32_t dir,
		   struct err *e)
{
	struct tree_node *node = tree_node(&t->im->tree, dir);
	struct tree_attr attr;

	if (attr_of(t, ae, path, &attr, e) < 0)
		return -1;
	if (!S_ISDIR(attr.mode))
		return err_set(e, ERR_FAILED, "the directory '%.200s' is something else", path);
	node->mode = attr.mode;
	node->uid = attr.uid;
	node->gid = attr.gid;
	return xattrs_of(t, ae, dir, e);
}

static int hardlink_put(struct tar *t, const char *path, const char *target, uint32_t dir,
			const char *name, size_t len, struct err *e)
{
	char last[INDEX_NAME_MAX + 1];
	uint32_t node;

	memcpy(last, name, len);
	node = tree_find_path(&t->im->tree, target, strlen(target));
	if (node == TREE_NONE)
		return err_set(e, ERR_FAILED,
			       "'%.200s' is a hard link to '%.200s', which is not in the archive "
			       "before it",
			       path, target);
	progress_add(0, 1);
	return tree_link(&t->im->tree, dir, last, len, node, e);
}

static int entry_put(struct tar *t, struct archive *a, struct archive_entry *ae, struct err *e)
{
	const char *path = archive_entry_pathname(ae), *target = archive_entry_hardlink(ae), *name;
	struct tree_attr attr;
	uint32_t dir, node;
	uint64_t object;
	size_t len;
	bool pyc;

	if (!path || !*path)
		return err_set(e, ERR_FAILED, "an entry without a name");
	if (tree_walk(&t->im->tree, path, strlen(path), &dir, &name, &len, e) < 0)
		return -1;
	if (!name)
		return dir_set(t, ae, path, dir, e);
	if (len > INDEX_NAME_MAX)
		return err_set(e, ERR_FAILED, "a name is too long: '%.200s'", path);
	if (whiteout(t, dir, name, len))
		return 0;
	if (target)
		return hardlink_put(t, path, target, dir, name, len, e);
	if (attr_of(t, ae, path, &attr, e) < 0)
		return -1;
	if (S_ISSOCK(attr.mode) || !(attr.mode & S_IFMT)) {
		import_warn(t->im, "'%.200s' is %s; it is left out", path,
			    S_ISSOCK(attr.mode) ? "a socket" : "of an unknown kind");
		return 0;
	}
	pyc = import_is_pyc(name, len);
	node = tree_put(&t->im->tree, dir, name, len, &attr, e);
	if (node == TREE_NONE || xattrs_of(t, ae, node, e) < 0)
		return -1;
	if (S_ISREG(attr.mode) && object_named(t, ae, &object))
		return object_of(t, object, node, pyc, e);
	if (S_ISREG(attr.mode))
		return content_of(t, a, ae, node, pyc, e);
	progress_add(0, 1);
	return 0;
}

/* Whether the archive turns out to hold a container image, at its first file. */
static bool container_found(struct tar *t, struct archive_entry *ae)
{
	const char *path = archive_entry_pathname(ae);

	if (t->src->container)
		return true;
	if (!t->src->detect || t->seen || !path || !strcmp(path, "./") || !strcmp(path, "."))
		return false;
	t->seen = true;
	return container_is(path);
}

/* A header with a fault. One that is not in UTF-8 is taken as it is. Of one with attributes that
 * cannot be read nobody knows which file it is. Others are parts that are not kept. */
static int header_warned(struct tar *t, struct archive *a, struct archive_entry *ae, struct err *e)
{
	const char *why = archive_error_string(a), *path = archive_entry_pathname(ae);

	if (archive_errno(a) == EILSEQ || !why)
		return 0;
	if (strstr(why, "pax extended attribute"))
		return err_set(e, ERR_FAILED, "the header of '%.200s' is damaged: %s",
			       path ? path : "", why);
	import_warn(t->im, "'%.200s': %s", path ? path : "", why);
	return 0;
}

static int entries_read(struct tar *t, struct archive *a, struct err *e)
{
	for (;;) {
		struct archive_entry *ae;
		int r = archive_read_next_header(a, &ae);

		if (r == ARCHIVE_EOF)
			break;
		if (r != ARCHIVE_OK && r != ARCHIVE_WARN) {
			archive_failed(a, e);
			if (!archive_file_count(a) && !interrupted())
				return no_archive(e);
			return -1;
		}
		if (r == ARCHIVE_WARN && header_warned(t, a, ae, e) < 0)
			return -1;
		if (container_found(t, ae)) {
			/* What "./" said is about the archive, not about the image in it. */
			tree_reset_root(&t->im->tree);
			return import_container(t->im, a, ae, t->src->ref, e);
		}
		if (t->seen && t->src->ref)
			break;
		if (entry_put(t, a, ae, e) < 0)
			return -1;
		if (interrupted())
			return err_set(e, ERR_FAILED, "interrupted");
	}
	if (t->src->container || t->src->ref)
		return err_set(e, ERR_FAILED, "it is not a container image; %s does not fit",
			       t->src->ref ? "--ref" : "this --format");
	/* The end of a tar file is marked; libarchive does not ask for it. */
	if (t->src->strict && archive_filter_bytes(a, 0) <= archive_read_header_position(a))
		return err_set(e, ERR_FAILED, "the archive is cut off: its end is missing");
	return 0;
}

static struct archive *tar_open(struct tar *t, struct err *e)
{
	struct archive *a = archive_read_new();

	if (!a) {
		err_set(e, ERR_FAILED, "out of memory");
		return NULL;
	}
	stream_start(t);
	/* Only what needs no other program. */
	archive_read_support_filter_gzip(a);
	archive_read_support_filter_bzip2(a);
	archive_read_support_filter_xz(a);
	archive_read_support_filter_zstd(a);
	archive_read_support_format_tar(a);
	if (archive_read_open(a, t, NULL, stream_read, NULL) == ARCHIVE_OK)
		return a;
	archive_failed(a, e);
	if (!interrupted())
		no_archive(e);
	archive_read_free(a);
	return NULL;
}

int import_tar(struct import *im, const struct tar_source *src, struct err *e)
{
	struct tar t = { .im = im, .src = src, .block = xalloc(READ_SIZE) };
	struct archive *a = tar_open(&t, e);
	const void *block;
	ssize_t n = 1;
	int result = -1;

	if (a) {
		result = entries_read(&t, a, e);
		/* What comes behind the end counts for the hash and the checksum, and the sender of
		 * a pipe expects that somebody reads it. */
		while (!result && n > 0) {
			n = stream_read(a, &t, &block);
			if (n < 0)
				result = archive_failed(a, e);
		}
		archive_read_free(a);
	}
	gunzip_free(t.gunzip);
	free(t.block);
	return result;
}
