/* Sealing (journal.h): raw files become blocks at the end of the last segment.
 *
 * In the order in which a power cut or a SIGKILL finds it: the block is appended, the segment is
 * synced, the raw file is removed. So a block that is not complete has its raw file still, and is
 * cut off; a raw file whose block is complete is only removed. What is wrong otherwise was not done
 * by us: a block that is not complete and has no raw file is left as it is, for 'verify'. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "journal/files.h"
#include "journal/journal.h"
#include "journal/key.h"

struct sealer {
	int dir;
	struct journal_key key;
	struct journal_names names;
	int segment; /* the last one, for writing; -1: none */
	uint64_t first; /* its first block */
	off_t end; /* of its last block */
	bool torn; /* something behind it */
	bool any; /* there is a last block */
	struct journal_block last;
	uint8_t hash[JOURNAL_HASH]; /* of its head */
};

/* ---- where the journal ends ---- */

/* Goes through a segment up to its last whole block. */
static int segment_walk(struct sealer *s, int fd, struct err *e)
{
	s->end = 0;
	s->torn = false;
	for (;;) {
		struct journal_block b;

		switch (block_head_at(fd, s->end, &b)) {
		case BLOCK_HERE:
			s->last = b;
			s->any = true;
			s->end += BLOCK_SIZE(&b.head);
			continue;
		case BLOCK_NONE:
			return 0;
		case BLOCK_TORN:
		case BLOCK_WRONG:
			s->torn = true;
			return 0;
		case BLOCK_FAILED:
			return err_set(e, ERR_FAILED,
				       "cannot read the journal's " SEGMENT_NAME ": %s",
				       (unsigned long long)s->first, strerror(errno));
		}
	}
}

/* The last block can have its size and not its data, after a power cut. */
static int last_check(struct sealer *s, int fd, struct err *e)
{
	off_t at = s->end - BLOCK_SIZE(&s->last.head);
	struct buf data = { 0 };
	int rc = block_data_at(fd, at, &s->last.head, &data);

	buf_free(&data);
	if (rc < 0)
		return err_set(e, ERR_FAILED, "cannot read the journal's " SEGMENT_NAME ": %s",
			       (unsigned long long)s->first, strerror(errno));
	if (rc || !journal_numbered_exists(s->dir, RAW_NAME, s->last.head.number))
		return 0;
	/* Once more, for the one before it. */
	if (ftruncate(fd, at) < 0)
		return err_set(e, ERR_FAILED, "cannot cut the journal's " SEGMENT_NAME ": %s",
			       (unsigned long long)s->first, strerror(errno));
	s->any = false;
	return segment_walk(s, fd, e);
}

static int tail_find(struct sealer *s, int flags, struct err *e)
{
	size_t n = BUF_COUNT(&s->names.segments, uint64_t);

	for (size_t i = n; i > 0 && !s->any; i--) {
		off_t end = s->end;
		bool torn = s->torn;
		int fd, rc;

		s->first = *BUF_ITEM(&s->names.segments, uint64_t, i - 1);
		fd = journal_numbered_open(s->dir, SEGMENT_NAME, s->first, flags, e);
		if (fd < 0)
			return -1;
		rc = segment_walk(s, fd, e);
		if (!rc && s->any && flags != O_RDONLY)
			rc = last_check(s, fd, e);
		if (s->segment < 0) {
			s->segment = fd;
		} else {
			/* The last one has no whole block: it is where we go on. */
			close(fd);
			s->end = end;
			s->torn = torn;
		}
		if (rc < 0)
			return -1;
	}
	if (n)
		s->first = *BUF_ITEM(&s->names.segments, uint64_t, n - 1);
	if (s->any)
		head_hash(&s->last.head, s->hash);
	return 0;
}

/* A block that was being written when its sealer died. */
static int torn_cut(struct sealer *s, struct err *e)
{
	uint64_t number = s->any ? s->last.head.number + 1 : s->first;

	if (!s->torn)
		return 0;
	if (!journal_numbered_exists(s->dir, RAW_NAME, number))
		return err_set(e, ERR_FAILED,
			       "block %llu of the journal, in " SEGMENT_NAME
			       ", is not complete, and its raw file is not there" REMEDY
			       "'viv journal verify' says what is wrong; records are kept in raw "
			       "files until the segment is repaired from a copy",
			       (unsigned long long)number, (unsigned long long)s->first);
	if (ftruncate(s->segment, s->end) < 0)
		return err_set(e, ERR_FAILED, "cannot cut the journal's " SEGMENT_NAME ": %s",
			       (unsigned long long)s->first, strerror(errno));
	s->torn = false;
	return 0;
}

/* ---- one block ---- */

static int write_at(int fd, const void *data, size_t n, off_t at)
{
	for (size_t done = 0; done < n;) {
		ssize_t put = pwrite(fd, (const char *)data + done, n - done, at + (off_t)done);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return -1;
		done += (size_t)put;
	}
	return 0;
}

static int block_append(struct sealer *s, const struct journal_block *b, const struct buf *data,
			struct err *e)
{
	struct buf all = { 0 };
	bool fresh = s->segment < 0 || s->end >= (off_t)JOURNAL_SEGMENT_MAX;
	int rc, err;

	if (fresh) {
		if (s->segment >= 0)
			close(s->segment);
		s->first = b->head.number;
		s->end = 0;
		s->segment = journal_numbered_open(s->dir, SEGMENT_NAME, s->first,
						   O_RDWR | O_CREAT | O_EXCL, e);
		if (s->segment < 0)
			return -1;
	}
	buf_add(&all, b, sizeof(*b));
	buf_add(&all, data->p, data->len);
	rc = write_at(s->segment, all.p, all.len, s->end);
	if (!rc)
		rc = fdatasync(s->segment);
	if (!rc && fresh)
		rc = fsync(s->dir);
	err = errno;
	if (rc < 0) {
		/* What stays is cut off by the next sealer. */
		if (ftruncate(s->segment, s->end) < 0)
			err = errno;
		err_set(e, err == ENOSPC || err == EDQUOT ? ERR_NO_SPACE : ERR_FAILED,
			"cannot write block %llu of the journal: %s" REMEDY
			"its records stay in raw."
			"%08llu until there is room",
			(unsigned long long)b->head.number, strerror(err),
			(unsigned long long)b->head.number);
	} else {
		s->end += (off_t)all.len;
		s->last = *b;
		s->any = true;
		head_hash(&b->head, s->hash);
	}
	buf_free(&all);
	return rc;
}

static int raw_remove(struct sealer *s, uint64_t number, bool damaged, struct err *e)
{
	char name[JOURNAL_NAME_MAX], aside[JOURNAL_NAME_MAX];

	snprintf(name, sizeof(name), RAW_NAME, (unsigned long long)number);
	snprintf(aside, sizeof(aside), "damaged.%08llu", (unsigned long long)number);
	if ((damaged ? renameat(s->dir, name, s->dir, aside) : unlinkat(s->dir, name, 0)) < 0)
		return err_set(e, ERR_FAILED, "cannot remove the journal's %s: %s", name,
			       strerror(errno));
	return 0;
}

/* Reads all batches into the packer. */
static int raw_pack(struct raw *r, struct packer *p, bool *ret_damaged, struct err *e)
{
	for (;;) {
		switch (raw_next(r, e)) {
		case RAW_FAILED:
			return -1;
		case RAW_BATCH:
			break;
		case RAW_DAMAGED:
			*ret_damaged = true;
			return 0;
		case RAW_END:
		case RAW_TORN:
			return 0;
		}
		for (size_t at = 0; at < r->frames.len;) {
			struct journal_frame f = frame_at(&r->frames, at);

			packer_add(p, r->frames.p + at, f.size);
			at += f.size;
		}
	}
}

/* The head of a block by its number. False: it is not there. */
static bool head_find(struct sealer *s, uint64_t number, struct journal_head *ret)
{
	bool found = false;

	for (size_t i = BUF_COUNT(&s->names.segments, uint64_t); i > 0 && !found; i--) {
		uint64_t first = *BUF_ITEM(&s->names.segments, uint64_t, i - 1);
		struct journal_block b;
		struct err e;
		int fd;

		if (first > number)
			continue;
		fd = journal_numbered_open(s->dir, SEGMENT_NAME, first, O_RDONLY, &e);
		for (off_t at = 0; fd >= 0 && !found && block_head_at(fd, at, &b) == BLOCK_HERE;
		     at += BLOCK_SIZE(&b.head))
			found = b.head.number == number;
		if (fd >= 0)
			close(fd);
		*ret = b.head;
	}
	return found;
}

/* A raw file whose block is there already: its sealer died before it removed it. */
static int sealed_remove(struct sealer *s, struct raw *r, const struct packer *p, bool damaged,
			 struct err *e)
{
	struct journal_head h = s->last.head;

	if ((r->number != h.number && !head_find(s, r->number, &h)) || p->count != h.count ||
	    r->head.seq != h.seq || memcmp(r->head.cell, h.cell, sizeof(h.cell)) != 0)
		return err_set(e, ERR_CONFLICT,
			       "raw."
			       "%08llu of the journal has other records than block %llu" REMEDY
			       "two programs may have written to it; 'viv journal verify' says "
			       "more",
			       (unsigned long long)r->number, (unsigned long long)r->number);
	if (fdatasync(s->segment) < 0 || fsync(s->dir) < 0)
		return err_set(e, ERR_FAILED, "cannot sync the journal: %s", strerror(errno));
	return raw_remove(s, r->number, damaged, e);
}

static int block_make(struct sealer *s, const struct raw *r, struct packer *p, bool damaged,
		      struct err *e)
{
	struct journal_block b = { 0 };
	struct buf data = { 0 };
	struct stat st;
	int rc = packer_finish(p, &b.head, &data, e);

	if (rc < 0)
		goto out;
	b.head.number = r->number;
	memcpy(b.head.cell, r->head.cell, sizeof(b.head.cell));
	if (s->any)
		memcpy(b.head.prev, s->hash, sizeof(b.head.prev));
	rc = key_sign(&s->key, &b, e);
	if (!rc && !damaged && !fstat(r->fd, &st) && st.st_size > r->at) {
		/* A torn batch stays as it is; a keeper that writes goes on. */
		struct raw again = *r;

		again.frames = (struct buf){ 0 };
		if (raw_next(&again, e) == RAW_BATCH)
			rc = err_set(e, ERR_BUSY,
				     "raw."
				     "%08llu of the journal is being written" REMEDY
				     "seal it when its cell has ended",
				     (unsigned long long)r->number);
		buf_free(&again.frames);
	}
	if (!rc)
		rc = block_append(s, &b, &data, e);
	if (!rc)
		rc = raw_remove(s, r->number, damaged, e);
out:
	buf_free(&data);
	return rc;
}

static int raw_seal(struct sealer *s, uint64_t number, struct err *e)
{
	struct raw r = RAW_INIT;
	struct packer p;
	bool damaged = false;
	int rc = -1;

	packer_init(&p, 1);
	switch (raw_open(&r, s->dir, number, e)) {
	case RAW_BATCH:
		break;
	case RAW_TORN:
		/* Its keeper died before it wrote the head: there is nothing in it. The number is
		 * not left out, as a block that is missing is another matter. */
		if (!s->any) {
			rc = 0;
			goto out;
		}
		r.head.seq = s->last.head.seq + s->last.head.count;
		memcpy(r.head.cell, s->last.head.cell, sizeof(r.head.cell));
		break;
	default:
		goto out;
	}
	p.seq = r.head.seq;
	if (r.at && raw_pack(&r, &p, &damaged, e) < 0)
		goto out;
	if (s->any && number <= s->last.head.number)
		rc = sealed_remove(s, &r, &p, damaged, e);
	else
		rc = block_make(s, &r, &p, damaged, e);
out:
	raw_close(&r);
	packer_fini(&p);
	return rc;
}

/* ---- all of it ---- */

static int seal_lock(int dir, struct err *e)
{
	int fd = journal_file_open(dir, "seal.lock", O_RDWR | O_CREAT, e);

	while (fd >= 0 && flock(fd, LOCK_EX) < 0) {
		if (errno == EINTR)
			continue;
		close(fd);
		return err_set(e, ERR_FAILED, "cannot lock the journal's seal.lock: %s",
			       strerror(errno));
	}
	return fd;
}

static int seal_all(struct sealer *s, bool all, struct err *e)
{
	size_t n;

	if (journal_names_read(&s->names, s->dir, e) < 0)
		return -1;
	n = BUF_COUNT(&s->names.raws, uint64_t);
	if (!all && n)
		n--;
	if (!n)
		return 0;
	if (tail_find(s, O_RDWR, e) < 0 || torn_cut(s, e) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (raw_seal(s, *BUF_ITEM(&s->names.raws, uint64_t, i), e) < 0)
			return -1;
	return 0;
}

int journal_seal(int dir, bool all, struct err *e)
{
	struct sealer s = { .dir = dir, .segment = -1 };
	int lock, journals, rc;

	lock = seal_lock(dir, e);
	if (lock < 0)
		return -1;
	journals = openat(dir, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (journals < 0) {
		close(lock);
		return err_set(e, ERR_FAILED, "cannot open the directory of journals: %s",
			       strerror(errno));
	}
	rc = key_open(&s.key, journals, true, e);
	if (!rc)
		rc = seal_all(&s, all, e);
	key_close(&s.key);
	journal_names_free(&s.names);
	if (s.segment >= 0)
		close(s.segment);
	close(journals);
	close(lock);
	return rc;
}

int journal_tip_read(int dir, struct journal_tip *ret, struct err *e)
{
	struct sealer s = { .dir = dir, .segment = -1 };
	int rc;

	memset(ret, 0, sizeof(*ret));
	if (journal_names_read(&s.names, dir, e) < 0)
		return -1;
	rc = tail_find(&s, O_RDONLY, e);
	if (!rc && s.any) {
		ret->block = s.last.head.number;
		ret->records = s.last.head.seq + s.last.head.count - 1;
		memcpy(ret->hash, s.hash, sizeof(ret->hash));
		memcpy(ret->cell, s.last.head.cell, sizeof(ret->cell));
	}
	journal_names_free(&s.names);
	if (s.segment >= 0)
		close(s.segment);
	return rc;
}
