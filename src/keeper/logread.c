/* See log.h. The files are read where they lie, with descriptors of the reader's own. A file that
 * was made the old one meanwhile is read to its end first; when the keeper has replaced both since,
 * the position of the next record tells how much was missed. */
#include "keeper/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "keeper/client.h"

#define SKIP_MAX 2000 /* records in one step */

static int head_next(int fd, uint64_t at, struct log_head *h)
{
	ssize_t n = pread(fd, h, sizeof(*h), (off_t)at);

	if (n < 0)
		return -1;
	if (n < (ssize_t)sizeof(*h))
		return 0;
	return h->magic == LOG_MAGIC && h->len <= LOG_CHUNK_MAX ? 1 : -1;
}

int log_next(int fd, uint64_t *at, struct log_head *h, char *buf)
{
	int some = head_next(fd, *at, h);
	ssize_t n;

	if (some <= 0)
		return some;
	n = pread(fd, buf, h->len, (off_t)(*at + sizeof(*h)));
	if (n < (ssize_t)h->len)
		return n < 0 ? -1 : 0;
	*at += sizeof(*h) + h->len;
	return 1;
}

static int file_open(const struct log_reader *r, bool old)
{
	char name[KEEP_ID_LEN + 32];
	struct err e;
	int dir = keep_cells_dir(&e), fd;

	if (dir < 0)
		return -1;
	snprintf(name, sizeof(name), "%s.%u.log%s", r->id, r->proc, old ? ".old" : "");
	fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	close(dir);
	return fd;
}

static bool is_same(int a, int b)
{
	struct stat x, y;

	return a >= 0 && b >= 0 && fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_ino == y.st_ino;
}

/* Both files, the current one first: if it becomes the old one meanwhile, that is seen, and no file
 * is missed in between. seen: the one that was read last, and needs not be read again; -1: none.
 * False: there is no current one but seen. */
static bool files_open(struct log_reader *r, int seen)
{
	int now = file_open(r, false), old;

	if (now < 0 || is_same(now, seen)) {
		if (now >= 0)
			close(now);
		return false;
	}
	old = file_open(r, true);
	if (is_same(old, now) || is_same(old, seen)) {
		close(old);
		old = -1;
	}
	r->files[0] = old;
	r->files[1] = now;
	r->at[0] = r->at[1] = 0;
	r->opened++;
	return true;
}

int log_reader_open(struct log_reader *r, const char *id, uint32_t proc, uint64_t position)
{
	snprintf(r->id, sizeof(r->id), "%s", id);
	r->proc = proc;
	r->position = position;
	r->files[0] = r->files[1] = -1;
	if (!files_open(r, -1))
		return -ENOENT;
	if (position != LOG_OLDEST)
		return 0;
	r->position = 0;
	for (int i = 0; i < 2; i++)
		if (r->files[i] >= 0 && head_next(r->files[i], 0, &r->head) == 1) {
			r->position = r->head.at;
			break;
		}
	return 0;
}

void log_reader_close(struct log_reader *r)
{
	for (int i = 0; i < 2; i++)
		if (r->files[i] >= 0)
			close(r->files[i]);
	r->files[0] = r->files[1] = -1;
}

/* The record in data, as far as it is at or after the position. False: it is before it. */
static bool record_cut(struct log_reader *r)
{
	uint64_t end = r->head.at + r->head.len;

	if (end <= r->position)
		return false;
	r->len = r->head.len;
	r->given = r->head.at < r->position ? (size_t)(r->position - r->head.at) : 0;
	if (r->head.at > r->position)
		r->dropped += r->head.at - r->position;
	r->position = r->head.at + r->given;
	return true;
}

/* Of one file. */
static int file_next(struct log_reader *r, int i)
{
	for (int n = 0; n < SKIP_MAX; n++) {
		int some = head_next(r->files[i], r->at[i], &r->head);

		if (some <= 0)
			return 0;
		if (r->head.at + r->head.len <= r->position) {
			r->at[i] += sizeof(r->head) + r->head.len;
			continue;
		}
		some = log_next(r->files[i], &r->at[i], &r->head, r->data);
		return some == 1 && record_cut(r) ? 1 : 0;
	}
	return LOG_AGAIN;
}

static int files_next(struct log_reader *r)
{
	int some;

	if (r->files[0] >= 0) {
		some = file_next(r, 0);
		if (some)
			return some;
		close(r->files[0]);
		r->files[0] = -1;
	}
	return r->files[1] >= 0 ? file_next(r, 1) : 0;
}

/* The current file was made the old one. */
static bool is_rotated(const struct log_reader *r)
{
	int now = file_open(r, false);
	bool other = now >= 0 && !is_same(now, r->files[1]);

	if (now >= 0)
		close(now);
	return other;
}

int log_reader_next(struct log_reader *r)
{
	int some, seen = r->files[1];

	r->given = r->len = 0;
	some = files_next(r);
	if (some || !is_rotated(r))
		return some;
	/* It may have been written to until then. */
	some = files_next(r);
	if (some || !files_open(r, seen))
		return some;
	if (seen >= 0)
		close(seen);
	return files_next(r);
}

void log_reader_take(struct log_reader *r, size_t n)
{
	r->given += n;
	r->position += n;
}
