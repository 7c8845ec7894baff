/* Writing objects; see object.h. */
#include "import/object.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "import/progress.h"

#define SMALL (1u << 20)
#define HOLE_STEP (64ull << 20)
#define PYC_HEADER 16
#define LINK_TRIES 100

void objects_init(struct objects *o, const struct store *s, int work, uint64_t max_total)
{
	*o = (struct objects){ .store = s, .work = work, .max_total = max_total, .fd = -1 };
	memset(o->dirs, 0xff, sizeof(o->dirs));
	o->nslots = 4096;
	o->slots = xalloc(o->nslots * sizeof(uint32_t));
	memset(o->slots, 0xff, o->nslots * sizeof(uint32_t));
	o->small = xalloc(SMALL);
	hash_init(&o->hash);
}

void objects_fini(struct objects *o)
{
	for (unsigned i = 0; i < ARRAY_LEN(o->dirs); i++)
		if (o->dirs[i] >= 0)
			close(o->dirs[i]);
	if (o->fd >= 0)
		close(o->fd);
	buf_free(&o->list);
	free(o->slots);
	free(o->small);
	hash_fini(&o->hash);
}

void objects_drop(struct objects *o)
{
	for (size_t i = 0; i < BUF_COUNT(&o->list, struct index_object); i++) {
		const struct index_object *object = BUF_ITEM(&o->list, struct index_object, i);
		int dir = o->dirs[object->hash[0]];
		char name[HASH_TEXT];
		struct stat st;

		hash_text(object->hash, name);
		if (dir >= 0 && fstatat(dir, name + 2, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(st.st_mode) && st.st_nlink == 1)
			unlinkat(dir, name + 2, 0);
	}
}

static int write_failed(struct objects *o, struct err *e)
{
	return err_set(e, ERR_FAILED, "cannot write to '%s': %s", o->store->path, strerror(errno));
}

static int write_all(int fd, const uint8_t *data, size_t n, uint64_t offset)
{
	while (n) {
		ssize_t done = pwrite(fd, data, n, (off_t)offset);

		if (done < 0 && errno == EINTR && !interrupted())
			continue;
		if (done <= 0) {
			errno = done ? errno : EIO;
			return -1;
		}
		data += done;
		offset += (uint64_t)done;
		n -= (size_t)done;
	}
	return 0;
}

static int too_large(struct objects *o, struct err *e)
{
	bool small = o->max_total < 1 << 20;

	return err_set(e, ERR_FAILED,
		       "the contents are larger than %llu %s" REMEDY "--max-size SIZE allows more",
		       (unsigned long long)(small ? o->max_total : o->max_total >> 20),
		       small ? "bytes" : "MiB");
}

int object_start(struct objects *o, uint64_t size, bool pyc, struct err *e)
{
	o->small_len = 0;
	o->pos = 0;
	o->pyc = pyc;
	o->pyc_time = PYC_NONE;
	return size > o->max_total - o->total ? too_large(o, e) : 0;
}

/* The header of a .pyc file of Python 3.7 and later: magic (u16, CR LF), flags, time, size. With no
 * flag set it is valid for a source of that time. */
static int64_t pyc_time_of(const uint8_t *p, size_t len)
{
	uint32_t flags, time;
	uint16_t magic;

	if (len < PYC_HEADER)
		return PYC_NONE;
	memcpy(&magic, p, 2);
	memcpy(&flags, p + 4, 4);
	memcpy(&time, p + 8, 4);
	return magic < 3390 || magic >= 20000 || p[2] != '\r' || p[3] != '\n' || flags ? PYC_NONE
										       : time;
}

static void pyc_normalise(struct objects *o)
{
	const uint32_t now = INDEX_TIME;

	o->pyc_time = o->pyc ? pyc_time_of(o->small, o->small_len) : PYC_NONE;
	if (o->pyc_time != PYC_NONE)
		memcpy(o->small + 8, &now, 4);
}

/* The file that becomes the next object. The content of one that the store had already may still be
 * there, so the mode given here is not the one that counts: see object_keep(). */
static int work_open(struct objects *o)
{
	o->fd = openat(o->work, "w", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	return o->fd;
}

/* What has become too large for memory goes to a file. */
static int spill(struct objects *o, struct err *e)
{
	if (o->fd >= 0)
		return 0;
	pyc_normalise(o);
	if (work_open(o) < 0 || write_all(o->fd, o->small, o->small_len, 0) < 0)
		return write_failed(o, e);
	hash_start(&o->hash);
	hash_add(&o->hash, o->small, o->small_len);
	o->pos = o->small_len;
	return 0;
}

/* Zeros up to an offset. */
static int hole(struct objects *o, uint64_t end, struct err *e)
{
	if (end > o->max_total - o->total)
		return too_large(o, e);
	if (o->fd < 0 && end <= SMALL) {
		memset(o->small + o->small_len, 0, end - o->small_len);
		o->small_len = end;
		return 0;
	}
	if (spill(o, e) < 0)
		return -1;
	while (o->pos < end) {
		uint64_t n = MIN(end - o->pos, HOLE_STEP);

		if (interrupted())
			return err_set(e, ERR_FAILED, "interrupted");
		hash_add_zeros(&o->hash, n);
		o->pos += n;
		progress_show();
	}
	return 0;
}

int object_write(struct objects *o, const void *data, size_t n, uint64_t offset, struct err *e)
{
	uint64_t pos = o->fd < 0 ? o->small_len : o->pos;

	if (offset < pos || offset > INT64_MAX - n)
		return err_set(e, ERR_FAILED, "the parts of a sparse file are not in order");
	if (offset > pos && hole(o, offset, e) < 0)
		return -1;
	if (offset + n > o->max_total - o->total)
		return too_large(o, e);
	if (o->fd < 0 && n <= SMALL - o->small_len) {
		memcpy(o->small + o->small_len, data, n);
		o->small_len += n;
		return 0;
	}
	if (spill(o, e) < 0)
		return -1;
	if (write_all(o->fd, data, n, offset) < 0)
		return write_failed(o, e);
	hash_add(&o->hash, data, n);
	o->pos += n;
	return 0;
}

/* ---- by hash ---- */

static uint32_t *slot_find(struct objects *o, const uint8_t hash[INDEX_HASH])
{
	uint32_t i;

	memcpy(&i, hash, sizeof(i));
	for (;; i++) {
		uint32_t *slot = &o->slots[i & (o->nslots - 1)];

		if (*slot == OBJECT_NONE ||
		    !memcmp(BUF_ITEM(&o->list, struct index_object, *slot)->hash, hash, INDEX_HASH))
			return slot;
	}
}

static uint32_t object_number(struct objects *o, const uint8_t hash[INDEX_HASH], uint64_t size)
{
	uint32_t n = (uint32_t)BUF_COUNT(&o->list, struct index_object);
	struct index_object *object = buf_more(&o->list, sizeof(*object));

	memcpy(object->hash, hash, INDEX_HASH);
	object->size = size;
	if (n * 2 >= o->nslots) {
		free(o->slots);
		o->nslots *= 2;
		o->slots = xalloc(o->nslots * sizeof(uint32_t));
		memset(o->slots, 0xff, o->nslots * sizeof(uint32_t));
		for (uint32_t i = 0; i < n; i++)
			*slot_find(o, BUF_ITEM(&o->list, struct index_object, i)->hash) = i;
	}
	*slot_find(o, hash) = n;
	return n;
}

static int object_dir(struct objects *o, uint8_t first)
{
	char name[16];

	if (o->dirs[first] < 0) {
		snprintf(name, sizeof(name), "objects/%02x", first);
		o->dirs[first] = store_dir(o->store, name);
	}
	return o->dirs[first];
}

/* Whether a file holds just what is in small. */
static bool small_is(const struct objects *o, int dir, const char *name)
{
	uint8_t block[16384];
	size_t at = 0;
	ssize_t n = -1;
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

	while (fd >= 0 && (n = read(fd, block, sizeof(block))) > 0) {
		if ((size_t)n > o->small_len - at || memcmp(block, o->small + at, (size_t)n))
			break;
		at += (size_t)n;
	}
	if (fd >= 0)
		close(fd);
	return !n && at == o->small_len;
}

/* Gives the finished content (in small or in "w") its name. */
static int object_keep(struct objects *o, const uint8_t hash[INDEX_HASH], uint64_t size,
		       struct err *e)
{
	char name[HASH_TEXT];
	int dir = object_dir(o, hash[0]);
	struct stat st;

	hash_text(hash, name);
	if (dir < 0)
		return write_failed(o, e);
	/* With one link it is what an interrupted import left: what is whole needs not be written
	 * again. */
	if (fstatat(dir, name + 2, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
	    (uint64_t)st.st_size == size &&
	    (st.st_nlink > 1 || (o->fd < 0 && small_is(o, dir, name + 2)))) {
		if (!object_readable(&st) && fchmodat(dir, name + 2, OBJECT_MODE, 0) < 0)
			return write_failed(o, e);
		return 0;
	}
	if (o->fd < 0) {
		if (work_open(o) < 0 || write_all(o->fd, o->small, o->small_len, 0) < 0)
			return write_failed(o, e);
	} else {
		if (ftruncate(o->fd, (off_t)size) < 0)
			return write_failed(o, e);
		/* The disk can start while we read on; it has to be done at the end anyway. */
		sync_file_range(o->fd, 0, 0, SYNC_FILE_RANGE_WRITE);
	}
	if (fchmod(o->fd, OBJECT_MODE) < 0 || renameat(o->work, "w", dir, name + 2) < 0)
		return write_failed(o, e);
	return 0;
}

int object_end(struct objects *o, uint64_t size, uint32_t *number, int64_t *pyc_time, struct err *e)
{
	uint64_t pos = o->fd < 0 ? o->small_len : o->pos;
	uint8_t hash[INDEX_HASH];
	int result = 0;

	*number = OBJECT_NONE;
	if (size < pos)
		return err_set(e, ERR_FAILED, "a file is longer than its header says");
	if (size > pos && hole(o, size, e) < 0)
		return -1;
	if (o->fd < 0) {
		pyc_normalise(o);
		hash_start(&o->hash);
		hash_add(&o->hash, o->small, o->small_len);
	}
	if (pyc_time)
		*pyc_time = o->pyc_time;
	hash_end(&o->hash, hash);
	if (size) {
		*number = *slot_find(o, hash);
		if (*number == OBJECT_NONE) {
			result = object_keep(o, hash, size, e);
			if (!result)
				*number = object_number(o, hash, size);
		}
		o->total += size;
	}
	if (o->fd >= 0)
		close(o->fd);
	o->fd = -1;
	return result;
}

/* One that was no .pyc file where it was: it is read and normalised. */
static int object_read(struct objects *o, int fd, uint64_t size, uint32_t *number,
		       int64_t *pyc_time, struct err *e)
{
	uint8_t block[16384];
	uint64_t at = 0;
	ssize_t n;

	if (object_start(o, size, true, e) < 0)
		return -1;
	while ((n = pread(fd, block, sizeof(block), (off_t)at)) > 0) {
		if (object_write(o, block, (size_t)n, at, e) < 0)
			return -1;
		at += (uint64_t)n;
	}
	if (n < 0 || at != size)
		return err_set(e, ERR_FAILED, "cannot read an object again");
	return object_end(o, size, number, pyc_time, e);
}

int object_take(struct objects *o, const struct index_object *object, bool pyc, uint32_t *number,
		int64_t *pyc_time, struct err *e)
{
	uint8_t head[PYC_HEADER];
	int fd, r = 0;
	ssize_t n;

	*pyc_time = PYC_NONE;
	if (object->size > o->max_total - o->total)
		return too_large(o, e);
	*number = *slot_find(o, object->hash);
	if (*number == OBJECT_NONE)
		*number = object_number(o, object->hash, object->size);
	o->total += object->size;
	if (!pyc)
		return 0;
	fd = object_open(o, *number);
	n = fd < 0 ? -1 : pread(fd, head, sizeof(head), 0);
	if (n < 0)
		r = err_set(e, ERR_FAILED, "cannot read an object again: %s", strerror(errno));
	else
		*pyc_time = pyc_time_of(head, (size_t)n);
	if (*pyc_time != PYC_NONE && *pyc_time != INDEX_TIME)
		r = object_read(o, fd, object->size, number, pyc_time, e);
	if (fd >= 0)
		close(fd);
	return r;
}

int object_add(struct objects *o, const void *data, size_t n, uint32_t *number, struct err *e)
{
	if (object_start(o, n, false, e) < 0 || object_write(o, data, n, 0, e) < 0)
		return -1;
	return object_end(o, n, number, NULL, e);
}

int object_open(struct objects *o, uint32_t number)
{
	const struct index_object *object = BUF_ITEM(&o->list, struct index_object, number);
	char name[HASH_TEXT];

	hash_text(object->hash, name);
	return openat(object_dir(o, object->hash[0]), name + 2, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
}

/* For a file system that allows an object no more links. */
static int object_copy(struct objects *o, uint32_t number, int dir, const char *path)
{
	int from = object_open(o, number), to = -1;
	ssize_t n = -1;

	if (from >= 0)
		to = openat(dir, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, OBJECT_MODE);
	if (to >= 0)
		while ((n = copy_file_range(from, NULL, to, NULL, 1 << 30, 0)) > 0)
			;
	if (from >= 0)
		close(from);
	if (to >= 0)
		close(to);
	return n < 0 ? -1 : 0;
}

int object_link(struct objects *o, uint32_t number, int dir, const char *path, struct err *e)
{
	const struct index_object *object = BUF_ITEM(&o->list, struct index_object, number);
	char name[HASH_TEXT];

	hash_text(object->hash, name);
	/* Another import may put its own copy in the place of this one between the host's look at
	 * the name and its link: the name is there all the time, but the file it stood for has no
	 * links any more. */
	for (int tries = 0; tries < LINK_TRIES; tries++) {
		if (linkat(object_dir(o, object->hash[0]), name + 2, dir, path, 0) == 0)
			return 0;
		if (errno != ENOENT)
			break;
	}
	if (errno == EMLINK && object_copy(o, number, dir, path) == 0)
		return 0;
	return err_set(e, ERR_FAILED, "cannot link the object %.12s: %s", name, strerror(errno));
}
