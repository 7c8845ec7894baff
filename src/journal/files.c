/* See files.h. */
#include "journal/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "journal/hash.h"

int journal_dir_open(const char *path, struct err *e)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0) {
		int err = errno;

		return err_set(e, err == ENOENT ? ERR_NOT_FOUND : ERR_FAILED,
			       "cannot open the journal '%s': %s", path,
			       err == ELOOP || err == ENOTDIR
				       ? "it is a symbolic link or not a directory"
				       : strerror(err));
	}
	if (fstat(fd, &st) < 0 || st.st_uid != geteuid() || st.st_mode & 022) {
		close(fd);
		return err_set(
			e, ERR_DENIED,
			"the journal '%s' is not a directory that only you can write to" REMEDY
			"check its owner and mode",
			path);
	}
	return fd;
}

int journal_dir_open_at(int journals, const char *id)
{
	int fd = openat(journals, id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd >= 0 && (fstat(fd, &st) < 0 || st.st_uid != geteuid() || st.st_mode & 022)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

int journal_file_open(int dir, const char *name, int flags, struct err *e)
{
	int fd = openat(dir, name, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	struct stat st;

	if (fd < 0) {
		int err = errno;

		return err_set(e, err == ENOENT ? ERR_NOT_FOUND : ERR_FAILED,
			       "cannot open the journal's file %s: %s", name,
			       err == ELOOP ? "it is a symbolic link" : strerror(err));
	}
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
	    st.st_nlink > 1) {
		close(fd);
		return err_set(e, ERR_DENIED,
			       "the journal's file %s is not a regular file of yours with one "
			       "name" REMEDY "somebody may have put it there: check where it "
			       "came from",
			       name);
	}
	return fd;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void name_of(char name[JOURNAL_NAME_MAX], const char *format, uint64_t number)
{
	snprintf(name, JOURNAL_NAME_MAX, format, (unsigned long long)number);
}
#pragma GCC diagnostic pop

int journal_numbered_open(int dir, const char *format, uint64_t number, int flags, struct err *e)
{
	char name[JOURNAL_NAME_MAX];

	name_of(name, format, number);
	return journal_file_open(dir, name, flags, e);
}

bool journal_numbered_exists(int dir, const char *format, uint64_t number)
{
	char name[JOURNAL_NAME_MAX];
	struct stat st;

	name_of(name, format, number);
	return !fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW);
}

ssize_t read_at(int fd, void *to, size_t n, off_t at)
{
	size_t done = 0;

	while (done < n) {
		ssize_t got = pread(fd, (char *)to + done, n - done, at + (off_t)done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (!got)
			break;
		done += (size_t)got;
	}
	return (ssize_t)done;
}

/* ---- names ---- */

/* The number in a name of this format; 0: it is another name. */
static uint64_t number_of(const char *name, const char *format)
{
	char again[JOURNAL_NAME_MAX];
	const char *digits = name + strcspn(format, "%");
	unsigned long long n;

	if (strlen(name) <= (size_t)(digits - name) || *digits < '0' || *digits > '9')
		return 0;
	n = strtoull(digits, NULL, 10);
	name_of(again, format, n);
	return strcmp(name, again) ? 0 : n;
}

static int number_compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

int journal_names_read(struct journal_names *n, int dir, struct err *e)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	memset(n, 0, sizeof(*n));
	if (!d) {
		int err = errno;

		if (fd >= 0)
			close(fd);
		return err_set(e, ERR_FAILED, "cannot read the journal's directory: %s",
			       strerror(err));
	}
	while ((entry = readdir(d))) {
		uint64_t segment = number_of(entry->d_name, SEGMENT_NAME);
		uint64_t raw = number_of(entry->d_name, RAW_NAME);

		if (segment)
			buf_add(&n->segments, &segment, sizeof(segment));
		if (raw)
			buf_add(&n->raws, &raw, sizeof(raw));
	}
	closedir(d);
	if (n->segments.len)
		qsort(n->segments.p, BUF_COUNT(&n->segments, uint64_t), sizeof(uint64_t),
		      number_compare);
	if (n->raws.len)
		qsort(n->raws.p, BUF_COUNT(&n->raws, uint64_t), sizeof(uint64_t), number_compare);
	return 0;
}

void journal_names_free(struct journal_names *n)
{
	buf_free(&n->segments);
	buf_free(&n->raws);
}

/* ---- blocks ---- */

enum block_at block_head_at(int fd, off_t at, struct journal_block *ret)
{
	ssize_t n;
	struct stat st;

	memset(ret, 0, sizeof(*ret));
	n = read_at(fd, ret, sizeof(*ret), at);
	if (n < 0)
		return BLOCK_FAILED;
	if (!n)
		return BLOCK_NONE;
	if ((size_t)n < sizeof(ret->head))
		return BLOCK_TORN;
	if (!head_is_plausible(&ret->head))
		return BLOCK_WRONG;
	if ((size_t)n < sizeof(*ret))
		return BLOCK_TORN;
	if (fstat(fd, &st) < 0)
		return BLOCK_FAILED;
	return st.st_size - at < BLOCK_SIZE(&ret->head) ? BLOCK_TORN : BLOCK_HERE;
}

int block_data_at(int fd, off_t at, const struct journal_head *h, struct buf *b)
{
	uint8_t hash[JOURNAL_HASH];
	ssize_t n;

	b->len = 0;
	n = read_at(fd, buf_more(b, h->packed), h->packed,
		    at + (off_t)sizeof(struct journal_block));
	if (n < 0)
		return -1;
	hash_bytes(b->p, (size_t)n, hash);
	return n == h->packed && !memcmp(hash, h->data, sizeof(hash));
}

/* ---- raw files ---- */

static enum raw_rc raw_wrong(const struct raw *r, struct err *e, const char *why)
{
	err_set(e, ERR_FAILED,
		"raw."
		"%08llu of the journal is damaged at byte %lld: %s" REMEDY
		"its records from there on are lost unless there is a copy of the file",
		(unsigned long long)r->number, (long long)r->at, why);
	return RAW_FAILED;
}

static enum raw_rc raw_unreadable(const struct raw *r, struct err *e)
{
	err_set(e, ERR_FAILED, "cannot read raw.%08llu of the journal: %s",
		(unsigned long long)r->number, strerror(errno));
	return RAW_FAILED;
}

enum raw_rc raw_open(struct raw *r, int dir, uint64_t number, struct err *e)
{
	ssize_t n;

	raw_close(r);
	r->number = number;
	r->at = 0;
	r->fd = journal_numbered_open(dir, RAW_NAME, number, O_RDONLY, e);
	if (r->fd < 0)
		return e->kind == ERR_NOT_FOUND ? RAW_END : RAW_FAILED;
	n = read_at(r->fd, &r->head, sizeof(r->head), 0);
	if (n < 0)
		return raw_unreadable(r, e);
	if (n < (ssize_t)sizeof(r->head))
		return RAW_TORN;
	if (r->head.magic != JOURNAL_RAW_MAGIC || r->head.number != number || !r->head.seq ||
	    !memchr(r->head.cell, '\0', sizeof(r->head.cell)) || !*r->head.cell)
		return raw_wrong(r, e, "its head is not one");
	r->seq = r->head.seq;
	r->at = sizeof(r->head);
	return RAW_BATCH;
}

void raw_close(struct raw *r)
{
	if (r->fd >= 0)
		close(r->fd);
	r->fd = -1;
	buf_free(&r->frames);
}

static bool frames_are_good(const struct raw *r)
{
	union journal_record record;
	uint32_t count = 0;

	for (size_t at = 0; at < r->frames.len; count++) {
		struct journal_frame f;

		if (r->frames.len - at < sizeof(f))
			return false;
		f = frame_at(&r->frames, at);
		if (f.size > r->frames.len - at ||
		    !journal_decode(r->frames.p + at, f.size, &record))
			return false;
		at += f.size;
	}
	return count == r->batch.count;
}

enum raw_rc raw_next(struct raw *r, struct err *e)
{
	struct journal_batch *b = &r->batch;
	struct stat st;
	ssize_t n;
	bool last;

	r->frames.len = 0;
	if (fstat(r->fd, &st) < 0)
		return raw_unreadable(r, e);
	n = read_at(r->fd, b, sizeof(*b), r->at);
	if (n < 0)
		return raw_unreadable(r, e);
	if (n < (ssize_t)sizeof(*b))
		return n ? RAW_TORN : RAW_END;
	if (b->magic != JOURNAL_BATCH_MAGIC || b->nbytes > JOURNAL_BATCH_MAX)
		return RAW_DAMAGED;
	last = st.st_size - r->at <= (off_t)sizeof(*b) + (off_t)b->nbytes;
	n = read_at(r->fd, buf_more(&r->frames, b->nbytes), b->nbytes, r->at + (off_t)sizeof(*b));
	if (n < 0)
		return raw_unreadable(r, e);
	if (n != b->nbytes ||
	    crc32c(crc32c(0, (uint8_t *)b + offsetof(struct journal_batch, nbytes),
			  sizeof(*b) - offsetof(struct journal_batch, nbytes)),
		   r->frames.p, b->nbytes) != b->crc) {
		r->frames.len = 0;
		return last ? RAW_TORN : RAW_DAMAGED;
	}
	if (b->seq != r->seq || b->seq > UINT64_MAX - b->count || !b->count ||
	    b->source > JOURNAL_KEEPER || b->zero || !frames_are_good(r)) {
		r->frames.len = 0;
		return raw_wrong(r, e, "a batch is not as a keeper writes it");
	}
	r->seq += b->count;
	r->at += (off_t)sizeof(*b) + (off_t)b->nbytes;
	return RAW_BATCH;
}
