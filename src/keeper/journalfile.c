/* The files of a journal: its directory, which is the lock, raw files, meta.json (journal.h).
 *
 * A directory that is a link, another user's, or open to others is refused: somebody could have put
 * it there. Where a new run goes on is what the files say: the last raw file, else the last sealed
 * block. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/crc32c.h"
#include "base/jsontext.h"
#include "keeper/journal.h"
#include "keeper/keeper.h"
#include "wire/journalblock.h"

#define OWN_ROOM (256u << 10) /* bytes */
#define LOCK_WAIT (3 * NSEC_PER_SEC) /* for the keeper of the run before */
#define LOOKS 16
#define META_MAX 8192
#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE 1 /* linux/fs.h, which has other names of ours */
#endif

/* ---- directories ---- */

/* Opens a directory of ours, and makes it. *ret_fresh (may be NULL): it was made. -1 with an error.
 */
static int dir_open(int at, const char *name, bool *ret_fresh, struct err *e)
{
	bool made = mkdirat(at, name, 0700) == 0;
	int fd = made || errno == EEXIST
			 ? openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
			 : -1;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0) {
		if (errno == ELOOP || errno == ENOTDIR)
			err_set(e, ERR_FAILED,
				"the journal's directory '%s' is a link or a file" REMEDY
				"remove it, or start the cell with --journal off",
				name);
		else
			err_set(e, ERR_FAILED, "cannot open the journal's directory '%s': %s", name,
				strerror(errno));
		if (fd >= 0)
			close(fd);
		return -1;
	}
	if (st.st_uid != geteuid() || st.st_mode & 022) {
		close(fd);
		return err_set(e, ERR_FAILED,
			       "the journal's directory '%s' belongs to another user, or others "
			       "can write to "
			       "it" REMEDY "remove it, or start the cell with --journal off",
			       name);
	}
	if (ret_fresh)
		*ret_fresh = made;
	return fd;
}

int jfile_store(struct jfile *f, const struct rootfs *p, struct err *e)
{
	struct store s;

	*f = (struct jfile){ .dirs = -1, .dir = -1, .raw = -1 };
	if (!p->used && store_open(&s, e) < 0)
		return -1;
	f->dirs = dir_open(p->used ? p->store.fd : s.fd, "journals", NULL, e);
	if (!p->used)
		store_close(&s);
	return f->dirs < 0 ? -1 : 0;
}

/* The directory itself is locked, by this descriptor. */
static int lock_take(struct jfile *f, struct err *e)
{
	int64_t until = clock_mono() + LOCK_WAIT;

	while (flock(f->dir, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return err_set(e, ERR_FAILED, "cannot lock the cell's journal: %s",
				       strerror(errno));
		if (clock_mono() >= until)
			return err_set(e, ERR_CONFLICT,
				       "another process writes to the journal of cell '%s'" REMEDY
				       "wait until it has ended",
				       f->id);
		usleep(5000);
	}
	return 0;
}

/* ---- where it goes on ---- */

/* The highest numbers of segments and raw files; 0: there is none. */
static int numbers_find(struct jfile *f, uint64_t *ret_segment, uint64_t *ret_raw, struct err *e)
{
	int fd = openat(f->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *de;

	*ret_segment = *ret_raw = 0;
	if (!d) {
		if (fd >= 0)
			close(fd);
		return err_set(e, ERR_FAILED, "cannot read the cell's journal: %s",
			       strerror(errno));
	}
	while ((de = readdir(d))) {
		unsigned long long n;
		char end[8] = "";

		if (sscanf(de->d_name, "raw.%20llu%1s", &n, end) == 1)
			*ret_raw = MAX(*ret_raw, n);
		else if (sscanf(de->d_name, "%20llu.%7s", &n, end) == 2 && !strcmp(end, "vjs"))
			*ret_segment = MAX(*ret_segment, n);
	}
	closedir(d);
	return 0;
}

static int file_open(const struct jfile *f, bool segment, uint64_t n)
{
	char name[40];

	if (segment)
		snprintf(name, sizeof(name), SEGMENT_NAME, (unsigned long long)n);
	else
		snprintf(name, sizeof(name), RAW_NAME, (unsigned long long)n);
	return openat(f->dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
}

/* The last block of the last segment: the next number and sequence number. */
static void segment_read(struct jfile *f, uint64_t segment)
{
	int fd = file_open(f, true, segment);
	struct journal_head h;
	int64_t at = 0;
	struct stat st;

	if (fd < 0)
		return;
	if (fstat(fd, &st) < 0)
		st.st_size = 0;
	while (pread(fd, &h, sizeof(h), at) == sizeof(h) && h.magic == JOURNAL_BLOCK_MAGIC &&
	       h.packed <= JOURNAL_BLOCK_MAX && at + BLOCK_SIZE(&h) <= st.st_size) {
		f->number = MAX(f->number, h.number);
		f->seq = MAX(f->seq, h.seq + h.count);
		at += BLOCK_SIZE(&h);
	}
	close(fd);
}

static uint32_t batch_crc(const struct journal_batch *b, const void *frames)
{
	uint32_t crc = crc32c(0, (const char *)b + 8, sizeof(*b) - 8);

	return crc32c(crc, frames, b->nbytes);
}

/* Its batches, up to one that is not whole: that one is still in its ring. False: it is gone. */
static bool raw_read(struct jfile *f, uint64_t number, struct jbatch *room)
{
	int fd = file_open(f, false, number);
	struct journal_raw head;
	struct journal_batch *b = &room->head;
	int64_t at = sizeof(head);

	if (fd < 0)
		return false;
	f->number = MAX(f->number, number);
	if (pread(fd, &head, sizeof(head), 0) == sizeof(head) && head.magic == JOURNAL_RAW_MAGIC) {
		f->seq = MAX(f->seq, head.seq);
		while (pread(fd, b, sizeof(*b), at) == sizeof(*b) &&
		       b->magic == JOURNAL_BATCH_MAGIC && b->nbytes <= JOURNAL_BATCH_MAX &&
		       pread(fd, room->frames, b->nbytes, at + (int64_t)sizeof(*b)) ==
			       (ssize_t)b->nbytes &&
		       batch_crc(b, room->frames) == b->crc) {
			f->seq = MAX(f->seq, b->seq + b->count);
			if (b->source < JOURNAL_KEEPER)
				f->places[b->source] = (struct jplace){ b->ring, b->position };
			at += (int64_t)sizeof(*b) + b->nbytes;
		}
	}
	close(fd);
	return true;
}

/* What the files say now. 1: the last one has become a block meanwhile. */
static int place_look(struct jfile *f, struct jbatch *room, struct err *e)
{
	uint64_t segment, raw;
	bool there = true;

	f->number = 0;
	f->seq = 1;
	if (numbers_find(f, &segment, &raw, e) < 0)
		return -1;
	if (segment)
		segment_read(f, segment);
	/* One whose head was not written says nothing of where it goes on: the one before does. */
	for (uint64_t n = raw > f->number + 64 ? raw - 64 : f->number + 1; n <= raw; n++)
		there = raw_read(f, n, room);
	return raw && !there;
}

/* A sealer of the run before may be at work: nobody waits for it. */
static int place_find(struct jfile *f, struct err *e)
{
	struct jbatch *room;
	int rc = 1;

	f->number = 0;
	f->seq = 1;
	if (f->fresh)
		return 0;
	room = malloc(sizeof(*room));
	if (!room)
		return err_set(e, ERR_FAILED, "out of memory");
	for (int i = 0; i < LOOKS && rc > 0; i++)
		rc = place_look(f, room, e);
	free(room);
	return rc > 0 ? err_set(e, ERR_FAILED,
				"the last file of the cell's journal cannot be read" REMEDY
				"'viv journal verify' says more")
		      : rc;
}

/* A new journal from those that are ready: making its files takes longer than all the rest. False:
 * there is one of that id, or there is none ready. */
static bool spare_take(struct jfile *f, const char *id)
{
	for (unsigned i = 0; i < JOURNAL_SPARES; i++) {
		char name[24];

		/* Those that start at the same time begin at different ones. */
		snprintf(name, sizeof(name), JOURNAL_SPARE "/%u",
			 ((unsigned)getpid() + i) % JOURNAL_SPARES);
		/* The system call, since musl has no function. */
		if (syscall(SYS_renameat2, f->dirs, name, f->dirs, id, RENAME_NOREPLACE) == 0)
			return true;
		if (errno != ENOENT)
			return false;
	}
	return false;
}

int jfile_open(struct jfile *f, const char *id, struct err *e)
{
	int err;

	snprintf(f->id, sizeof(f->id), "%s", id);
	f->spare = spare_take(f, id);
	for (int i = 0; i < LOOKS; i++) {
		struct stat st;

		f->dir = dir_open(f->dirs, id, &f->fresh, e);
		if (f->dir < 0 || lock_take(f, e) < 0)
			return -1;
		if (fstat(f->dir, &st) < 0 || st.st_nlink)
			break;
		/* It was removed before we had the lock. */
		close(f->dir);
		f->dir = -1;
		f->spare = false;
	}
	f->fresh |= f->spare;
	if (f->dir < 0)
		return err_set(e, ERR_FAILED, "the journal of cell '%s' is removed again and again",
			       id);
	if (place_find(f, e) < 0)
		return -1;
	err = jfile_rotate(f);
	if (err)
		return err_set(e, err == -ENOSPC || err == -EDQUOT ? ERR_NO_SPACE : ERR_FAILED,
			       "cannot write the cell's journal: %s" REMEDY
			       "make room, or start the cell with --journal off",
			       strerror(-err));
	return 0;
}

/* ---- writing ---- */

int jfile_rotate(struct jfile *f)
{
	struct journal_raw head = { .magic = JOURNAL_RAW_MAGIC,
				    .number = f->number + 1,
				    .seq = f->seq };
	char name[40];
	int fd;

	snprintf(head.cell, sizeof(head.cell), "%s", f->id);
	snprintf(name, sizeof(name), RAW_NAME, (unsigned long long)head.number);
	fd = openat(f->dir, name,
		    O_WRONLY | O_CREAT | (f->spare && !f->number ? 0 : O_EXCL) | O_CLOEXEC |
			    O_NOFOLLOW,
		    0600);
	if (fd < 0)
		return -errno;
	if (pwrite(fd, &head, sizeof(head), 0) != sizeof(head)) {
		int err = errno ? errno : EIO;

		unlinkat(f->dir, name, 0);
		close(fd);
		return -err;
	}
	if (f->raw >= 0)
		close(f->raw);
	f->raw = fd;
	f->number = head.number;
	f->bytes = 0;
	f->since = 0;
	jfile_measure(f);
	return 0;
}

void jfile_measure(struct jfile *f)
{
	int fd = f->max ? openat(f->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *de;
	char current[40];
	struct stat st;

	if (!d) {
		if (fd >= 0)
			close(fd);
		return;
	}
	snprintf(current, sizeof(current), RAW_NAME, (unsigned long long)f->number);
	f->used = 0;
	while ((de = readdir(d)))
		if (strcmp(de->d_name, current) != 0 && strncmp(de->d_name, "ring.", 5) != 0 &&
		    fstatat(f->dir, de->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(st.st_mode))
			f->used += (uint64_t)st.st_size;
	closedir(d);
}

bool jfile_has_room(const struct jfile *f, size_t n)
{
	return !f->max || f->used + f->bytes + n <= f->max;
}

int jfile_write(struct jfile *f, struct jbatch *b)
{
	int64_t at = (int64_t)(sizeof(struct journal_raw) + f->bytes);
	size_t n = sizeof(b->head) + b->head.nbytes;
	ssize_t put;

	/* What this process has to say of the limit and the end has a place of its own behind it.
	 */
	if (!jfile_has_room(f, b->head.source == JOURNAL_KEEPER ? 0 : n) &&
	    (b->head.source != JOURNAL_KEEPER || f->used + f->bytes > f->max + OWN_ROOM))
		return -EDQUOT;
	b->head.magic = JOURNAL_BATCH_MAGIC;
	b->head.seq = f->seq;
	b->head.crc = batch_crc(&b->head, b->frames);
	do
		put = pwrite(f->raw, b, n, at);
	while (put < 0 && errno == EINTR);
	if (put != (ssize_t)n) {
		int err = put < 0 ? errno : ENOSPC;

		(void)!ftruncate(f->raw, at);
		return -err;
	}
	f->bytes += n;
	f->seq += b->head.count;
	if (!f->since)
		f->since = clock_mono();
	return 0;
}

/* ---- the rest ---- */

void jfile_meta(struct jfile *f, bool ended)
{
	const struct rootfs *p = keeper.rootfs;
	struct buf b = { 0 };
	struct stat st;
	int fd = openat(f->dir, "meta.json", O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	buf_add_text(&b, "{");
	json_member_text(&b, "id", f->id);
	if (p->kept)
		json_member_text(&b, "name", p->cell.name);
	json_member_text(&b, "image",
			 p->kept	   ? p->cell.image
			 : keeper.o->image ? keeper.o->image
					   : "host");
	json_member_number(&b, "started", (uint64_t)keeper.started);
	if (ended)
		json_member_number(&b, "ended", (uint64_t)clock_real());
	buf_add_text(&b, "}");
	/* Over what was there, by one call: what is longer than it was before becomes space. */
	if (fd < 0 || fstat(fd, &st) < 0 || st.st_size > META_MAX)
		st.st_size = 0;
	while (b.len + 1 < (size_t)st.st_size)
		buf_add_text(&b, " ");
	buf_add_text(&b, "\n");
	if (fd >= 0)
		(void)!pwrite(fd, b.p, b.len, 0);
	if (fd >= 0)
		close(fd);
	buf_free(&b);
}

void jfile_close(struct jfile *f)
{
	int *all[] = { &f->raw, &f->dir, &f->dirs };

	for (unsigned i = 0; i < ARRAY_LEN(all); i++) {
		if (*all[i] >= 0)
			close(*all[i]);
		*all[i] = -1;
	}
}

void jfile_drop(struct jfile *f)
{
	char name[40];

	snprintf(name, sizeof(name), RAW_NAME, (unsigned long long)f->number);
	if (f->raw >= 0 && !f->since)
		(void)!unlinkat(f->dir, name, 0);
	if (f->dir >= 0 && f->fresh) {
		(void)!unlinkat(f->dir, "ring.kernel", 0);
		(void)!unlinkat(f->dir, "meta.json", 0);
		(void)!unlinkat(f->dirs, f->id, AT_REMOVEDIR);
	}
	jfile_close(f);
}
