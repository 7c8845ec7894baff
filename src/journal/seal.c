/* Sealing (journal.h): raw files become blocks at the end of the last segment.
 *
 * In the order in which a power cut or a SIGKILL finds it: blocks are appended, the segment is
 * synced, their raw files are removed. So a block that is not complete has its raw file still, and
 * is cut off; a raw file whose block is complete is only removed. What is wrong otherwise was not
 * done by us: a block that is not complete and has no raw file is left as it is, for 'verify'.
 *
 * Now and then a block gets a table of the processes at its start (table.h), so that readers can
 * begin there. What it says is found from the table before it and the records since then: so tables
 * are as far apart as makes that and their own size a small part of the work. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "journal/files.h"
#include "journal/journal.h"
#include "journal/key.h"
#include "journal/table.h"

/* Bytes of blocks between two tables: at least these, and twice the size of the first one before
 * packing. Where none can be made, because the processes do not fit or a block is damaged, it is
 * tried again when the distance has doubled, up to TABLE_FAR. */
#define TABLE_NEAR (256u << 10)
#define TABLE_FAR JOURNAL_SEGMENT_MAX

/* A raw file whose block is written, and not synced yet. */
struct written {
	uint64_t number;
	bool damaged;
};

struct sealer {
	int dir, lock;
	struct journal_key key;
	struct journal_names names;
	int segment; /* the last one, for writing; -1: none */
	uint64_t first; /* its first block */
	off_t end; /* of its last block */
	bool fresh; /* a segment was made */
	struct buf written; /* struct written */
	bool torn; /* something behind it */
	bool any; /* there is a last block */
	struct journal_block last;
	uint8_t hash[JOURNAL_HASH]; /* of its head */
	uint32_t table; /* bytes of the last table; 0: there is none */
	off_t since; /* bytes of the blocks from it on, or from the beginning */
};

/* ---- where the journal ends ---- */

static void since_add(struct sealer *s, const struct journal_head *h)
{
	if (h->table) {
		s->table = h->table;
		s->since = 0;
	}
	s->since += BLOCK_SIZE(h);
}

/* Goes through a segment up to its last whole block. */
static int segment_walk(struct sealer *s, int fd, struct err *e)
{
	s->end = s->since = 0;
	s->table = 0;
	s->torn = false;
	for (;;) {
		struct journal_block b;

		switch (block_head_at(fd, s->end, &b)) {
		case BLOCK_HERE:
			s->last = b;
			s->any = true;
			s->end += BLOCK_SIZE(&b.head);
			since_add(s, &b.head);
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

/* ---- tables ---- */

/* The last table may be in a segment before the last one. */
static void table_find(struct sealer *s)
{
	for (size_t i = BUF_COUNT(&s->names.segments, uint64_t); i > 0; i--) {
		uint64_t first = *BUF_ITEM(&s->names.segments, uint64_t, i - 1);
		struct sealer before = { .dir = s->dir };
		struct journal_block b;
		struct err e;
		int fd;

		if (s->table || s->since > (off_t)TABLE_FAR)
			return;
		if (first >= s->first)
			continue;
		fd = journal_numbered_open(s->dir, SEGMENT_NAME, first, O_RDONLY, &e);
		for (off_t at = 0; fd >= 0 && block_head_at(fd, at, &b) == BLOCK_HERE;
		     at += BLOCK_SIZE(&b.head))
			since_add(&before, &b.head);
		if (fd >= 0)
			close(fd);
		s->since += before.since;
		s->table = before.table;
	}
}

/* Is it time for one? The last block has brought us so far. */
static bool table_is_due(const struct sealer *s)
{
	off_t before = s->any ? s->since - BLOCK_SIZE(&s->last.head) : 0;

	for (off_t at = MAX(TABLE_NEAR, 2 * s->table); at <= (off_t)TABLE_FAR; at *= 2)
		if (before < at && at <= s->since)
			return true;
	return false;
}

struct state {
	struct processes processes;
	struct buf start; /* the frame of the cell's last start */
};

static void start_keep(void *arg, const struct journal_entry *j)
{
	struct state *x = arg;

	x->start.len = 0;
	buf_add(&x->start, j->frame, ALIGN_UP(j->nframe, 8));
}

static bool state_take(void *arg, const void *data, size_t n)
{
	struct state *x = arg;

	x->start.len = 0;
	return table_read(&x->processes, data, n, start_keep, x);
}

/* The table for the block that begins with a record. It stays empty if there can be none. */
static void table_make(struct sealer *s, uint64_t seq, struct buf *out)
{
	struct state x = { 0 };
	const struct journal_seek seek = { .first = seq,
					   .earliest = INT64_MIN,
					   .latest = INT64_MAX,
					   .table = state_take,
					   .arg = &x };
	struct journal_reader *r;
	struct journal_entry j;
	uint64_t last = 0;
	struct err e;

	if (journal_reader_new(s->dir, 1, &r, &e) < 0)
		return;
	processes_init(&x.processes, NULL, NULL);
	journal_reader_seek(r, &seek);
	while (journal_reader_next(r, &j, &e) > 0 && j.seq < seq) {
		last = j.seq;
		if (j.kind == J_START)
			start_keep(&x, &j);
		processes_follow(&x.processes, &j);
	}
	if (last + 1 != seq || !table_write(&x.processes, &x.start, out))
		out->len = 0;
	journal_reader_free(r);
	processes_fini(&x.processes);
	buf_free(&x.start);
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
	int rc, err;

	if (s->segment < 0 || s->end >= (off_t)JOURNAL_SEGMENT_MAX) {
		if (s->segment >= 0 && fdatasync(s->segment) < 0)
			return err_set(e, ERR_FAILED, "cannot sync the journal: %s",
				       strerror(errno));
		if (s->segment >= 0)
			close(s->segment);
		s->fresh = true;
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
		since_add(s, &b->head);
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
	const struct written w = { r->number, damaged };
	struct journal_block b = { 0 };
	struct buf data = { 0 }, table = { 0 };
	struct stat st;
	int rc;

	if (table_is_due(s))
		table_make(s, r->head.seq, &table);
	rc = packer_finish(p, &table, &b.head, &data, e);
	buf_free(&table);
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
		buf_add(&s->written, &w, sizeof(w));
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

/* Raw files go when their blocks are on the disk. */
static int written_end(struct sealer *s, struct err *e)
{
	size_t n = BUF_COUNT(&s->written, struct written);
	int rc = 0;

	if (n && (fdatasync(s->segment) < 0 || (s->fresh && fsync(s->dir) < 0)))
		rc = err_set(e, ERR_FAILED, "cannot sync the journal: %s", strerror(errno));
	for (size_t i = 0; i < n && !rc; i++) {
		const struct written *w = BUF_ITEM(&s->written, struct written, i);

		rc = raw_remove(s, w->number, w->damaged, e);
	}
	s->written.len = 0;
	s->fresh = false;
	return rc;
}

/* ---- all of it ---- */

/* ERR_BUSY: another one has it, and shall not be waited for. */
static int seal_lock(int dir, bool wait, struct err *e)
{
	int fd = journal_file_open(dir, "seal.lock", O_RDWR | O_CREAT, e);

	while (fd >= 0 && flock(fd, LOCK_EX | (wait ? 0 : LOCK_NB)) < 0) {
		if (errno == EINTR)
			continue;
		close(fd);
		if (errno == EWOULDBLOCK)
			return err_set(e, ERR_BUSY, "another process seals the journal");
		return err_set(e, ERR_FAILED, "cannot lock the journal's seal.lock: %s",
			       strerror(errno));
	}
	return fd;
}

static int seal_all(struct sealer *s, uint64_t through, struct err *e)
{
	size_t n;

	if (journal_names_read(&s->names, s->dir, e) < 0)
		return -1;
	n = BUF_COUNT(&s->names.raws, uint64_t);
	if (through == SEAL_COMPLETE && n)
		n--;
	while (through != SEAL_COMPLETE && n &&
	       *BUF_ITEM(&s->names.raws, uint64_t, n - 1) > through)
		n--;
	if (!n)
		return 0;
	if (tail_find(s, O_RDWR, e) < 0 || torn_cut(s, e) < 0)
		return -1;
	table_find(s);
	for (size_t i = 0; i < n; i++) {
		uint64_t number = *BUF_ITEM(&s->names.raws, uint64_t, i);
		int rc = raw_seal(s, number, e);

		/* What can go by now makes room. */
		if (rc < 0 && e->kind == ERR_NO_SPACE && s->written.len)
			rc = written_end(s, e) < 0 ? -1 : raw_seal(s, number, e);
		if (rc < 0)
			return -1;
	}
	return 0;
}

static void sealer_free(struct sealer *s)
{
	key_close(&s->key);
	journal_names_free(&s->names);
	buf_free(&s->written);
	if (s->segment >= 0)
		close(s->segment);
	if (s->lock >= 0)
		close(s->lock);
	free(s);
}

int journal_seal_begin(int dir, uint64_t through, bool wait, struct sealer **ret, struct err *e)
{
	struct sealer *s = xalloc(sizeof(*s));
	int journals, rc = -1;

	s->dir = dir;
	s->segment = -1;
	s->lock = seal_lock(dir, wait, e);
	if (s->lock >= 0) {
		journals = openat(dir, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		rc = journals < 0
			     ? err_set(e, ERR_FAILED, "cannot open the directory of journals: %s",
				       strerror(errno))
			     : key_open(&s->key, journals, true, e);
		if (journals >= 0)
			close(journals);
	}
	if (!rc) {
		struct err unused;

		rc = seal_all(s, through, e);
		/* On its way while others are written. */
		if (!rc && s->written.len)
			(void)sync_file_range(s->segment, 0, 0, SYNC_FILE_RANGE_WRITE);
		else if (rc < 0)
			(void)!written_end(s, &unused);
	}
	if (rc < 0) {
		sealer_free(s);
		s = NULL;
	}
	*ret = s;
	return rc;
}

int journal_seal_end(struct sealer *s, struct err *e)
{
	int rc = written_end(s, e);

	sealer_free(s);
	return rc;
}

int journal_seal(int dir, uint64_t through, struct err *e)
{
	struct sealer *s;

	return journal_seal_begin(dir, through, true, &s, e) < 0 ? -1 : journal_seal_end(s, e);
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
