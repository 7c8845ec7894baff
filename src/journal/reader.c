/* Reading a journal (journal.h): blocks, and where they end raw files.
 *
 * What comes next is block r->block, or raw.NUMBER if that is not sealed yet. A block can appear,
 * and its raw file vanish, between any two looks. So a raw file that is not there is looked for in
 * the segments once more, and one that is open is read to its end whatever becomes of its name.
 * r->want decides which records were shown: what is below it is passed over.
 *
 * Seeking goes by the heads alone: from a block that is not wanted they are read up to the next one
 * that is, and if one of them has a table, reading goes on with the last of these. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "journal/files.h"
#include "journal/journal.h"

struct journal_reader {
	int dir;
	uint64_t want; /* the next record */
	uint64_t block; /* the next block or raw file */
	int64_t earliest, latest;
	struct journal_seek seek; /* table is NULL: none */
	uint64_t looked; /* heads up to this block were read: there is no better table */
	bool table_next; /* it is to be taken from the next block that is loaded */
	bool dead; /* nothing more can be read */
	struct err why;

	int segment; /* -1: none is open */
	uint64_t first; /* its first block */
	off_t at; /* the next block in it */
	bool torn; /* there is only the beginning of one */
	struct buf data;
	struct unpacker unpacker;
	bool unpacking;

	struct raw raw;
	size_t frame; /* the next one in raw.frames */
	uint64_t frame_seq;
	union journal_record record;
};

int journal_reader_new(int dir, uint64_t from, struct journal_reader **ret, struct err *e)
{
	struct journal_reader *r = xalloc(sizeof(*r));

	(void)e;
	*r = (struct journal_reader){ .dir = dir,
				      .want = MAX(from, 1),
				      .block = 1,
				      .earliest = INT64_MIN,
				      .latest = INT64_MAX,
				      .segment = -1,
				      .raw = RAW_INIT };
	unpacker_init(&r->unpacker);
	*ret = r;
	return 0;
}

void journal_reader_range(struct journal_reader *r, int64_t earliest, int64_t latest)
{
	r->earliest = earliest;
	r->latest = latest;
}

void journal_reader_seek(struct journal_reader *r, const struct journal_seek *s)
{
	r->seek = *s;
}

void journal_reader_free(struct journal_reader *r)
{
	if (!r)
		return;
	if (r->segment >= 0)
		close(r->segment);
	raw_close(&r->raw);
	unpacker_fini(&r->unpacker);
	buf_free(&r->data);
	free(r);
}

/* From here on it fails. */
static int reader_dies(struct journal_reader *r, const struct err *e)
{
	r->dead = true;
	r->why = *e;
	return -1;
}

static int block_wrong(struct journal_reader *r, struct err *e, const char *why)
{
	err_set(e, ERR_FAILED,
		"block %llu of the journal, in " SEGMENT_NAME " at byte %lld, %s" REMEDY
		"'viv journal verify' says what else is wrong",
		(unsigned long long)r->block, (unsigned long long)r->first, (long long)r->at, why);
	return reader_dies(r, e);
}

static int record_wrong(struct journal_reader *r, struct err *e)
{
	err_set(e, ERR_FAILED,
		"block %llu of the journal has a record that cannot be decoded, number %llu" REMEDY
		"'viv journal verify --deep' says what else is wrong",
		(unsigned long long)r->unpacker.number, (unsigned long long)r->unpacker.seq);
	return reader_dies(r, e);
}

/* Records that are not there are an error once; then it goes on behind them. */
static int gap(struct journal_reader *r, uint64_t seq, struct err *e)
{
	err_set(e, ERR_FAILED,
		"records %llu to %llu of the journal are missing" REMEDY
		"'viv journal verify' says what else is wrong",
		(unsigned long long)r->want, (unsigned long long)(seq - 1));
	r->want = seq;
	return -1;
}

/* ---- sealed blocks ---- */

/* Opens the segment that has r->block, or the first one behind it. 0: there is none. */
static int segment_find(struct journal_reader *r, struct err *e)
{
	struct journal_names names;
	uint64_t found = 0;

	if (journal_names_read(&names, r->dir, e) < 0)
		return -1;
	for (size_t i = 0; i < BUF_COUNT(&names.segments, uint64_t); i++) {
		uint64_t first = *BUF_ITEM(&names.segments, uint64_t, i);

		if (!found || first <= r->block)
			found = first;
	}
	journal_names_free(&names);
	if (!found)
		return 0;
	r->segment = journal_numbered_open(r->dir, SEGMENT_NAME, found, O_RDONLY, e);
	r->first = found;
	r->at = 0;
	return r->segment < 0 ? -1 : 1;
}

/* Goes on at a block of a segment. */
static int segment_open(struct journal_reader *r, uint64_t first, off_t at, struct err *e)
{
	int fd = journal_numbered_open(r->dir, SEGMENT_NAME, first, O_RDONLY, e);

	if (fd < 0)
		return -1;
	close(r->segment);
	r->segment = fd;
	r->first = first;
	r->at = at;
	return 1;
}

/* At the end of a segment: 1 if there is another one, which is open now. */
static int segment_next(struct journal_reader *r, uint64_t number, struct err *e)
{
	if (number == r->first || !journal_numbered_exists(r->dir, SEGMENT_NAME, number))
		return 0;
	return segment_open(r, number, 0, e);
}

static bool block_is_wanted(const struct journal_reader *r, const struct journal_head *h)
{
	return h->seq + h->count > r->want && h->latest >= r->earliest && h->earliest <= r->latest;
}

static int block_load(struct journal_reader *r, const struct journal_head *h, struct err *e)
{
	int rc = block_data_at(r->segment, r->at, h, &r->data);

	if (rc < 0)
		return block_wrong(r, e, strerror(errno));
	if (!rc)
		return block_wrong(r, e, "was changed: the hash of its data is another");
	if (unpacker_start(&r->unpacker, h, r->data.p) < 0)
		return block_wrong(r, e, "cannot be unpacked");
	if (r->table_next) {
		const struct column *t = &r->unpacker.table;

		r->table_next = false;
		if (!r->seek.table(r->seek.arg, t->p, (size_t)(t->end - t->p)))
			return block_wrong(r, e, "has a table of processes that is not one");
	}
	r->unpacking = true;
	return 1;
}

static bool seek_wants(const struct journal_reader *r, const struct journal_head *h)
{
	const struct journal_seek *s = &r->seek;

	return h->count && h->seq + h->count > s->first && h->latest >= s->earliest &&
	       h->earliest <= s->latest;
}

/* From a block that is not wanted, to the last one with a table up to the next that is. */
static int table_seek(struct journal_reader *r, const struct journal_head *from, struct err *e)
{
	struct journal_reader ahead = { .dir = r->dir, .first = r->first, .at = r->at };
	uint64_t found = 0, found_first = 0, found_seq = 0, seq = from->seq, number = from->number;
	off_t found_at = 0;
	int rc = 1;

	ahead.segment = fcntl(r->segment, F_DUPFD_CLOEXEC, 0);
	while (ahead.segment >= 0 && rc > 0) {
		struct journal_block b;
		enum block_at what = block_head_at(ahead.segment, ahead.at, &b);

		if (what == BLOCK_NONE) {
			rc = segment_next(&ahead, number, e);
			continue;
		}
		/* What is wrong is told when it is read. */
		if (what != BLOCK_HERE || b.head.seq != seq || b.head.number != number)
			break;
		if (b.head.table) {
			found = number;
			found_first = ahead.first;
			found_at = ahead.at;
			found_seq = seq;
		}
		if (seek_wants(r, &b.head))
			break;
		seq += b.head.count;
		number++;
		ahead.at += BLOCK_SIZE(&b.head);
	}
	if (ahead.segment >= 0)
		close(ahead.segment);
	r->looked = MAX(number, from->number + 1);
	if (found <= from->number)
		return 0;
	rc = segment_open(r, found_first, found_at, e);
	if (rc < 0)
		return rc;
	r->block = found;
	r->want = MAX(r->want, found_seq);
	r->table_next = true;
	return 1;
}

/* 1: the next block with something in it is unpacked; 0: there is none yet. */
static int sealed_next(struct journal_reader *r, struct err *e)
{
	int rc;

	r->torn = false;
	if (r->segment < 0 && (rc = segment_find(r, e)) <= 0)
		return rc;
	for (;;) {
		struct journal_block b;
		const struct journal_head *h = &b.head;

		switch (block_head_at(r->segment, r->at, &b)) {
		case BLOCK_NONE:
			rc = segment_next(r, r->block, e);
			if (rc <= 0)
				return rc;
			continue;
		case BLOCK_TORN:
			r->torn = true;
			return 0;
		case BLOCK_FAILED:
			return block_wrong(r, e, strerror(errno));
		case BLOCK_WRONG:
			return block_wrong(r, e, "was changed: this is no head of a block");
		case BLOCK_HERE:
			break;
		}
		if (h->seq > r->want) {
			/* Not moved on: the block is next. */
			r->block = MAX(r->block, h->number);
			return gap(r, h->seq, e);
		}
		if (r->seek.table && h->number >= r->looked) {
			if (!seek_wants(r, h)) {
				rc = table_seek(r, h, e);
				if (rc < 0)
					return reader_dies(r, e);
				if (rc)
					continue;
			} else if (r->seek.once) {
				r->looked = UINT64_MAX;
			}
		}
		if (block_is_wanted(r, h)) {
			rc = block_load(r, h, e);
			if (rc < 0)
				return rc;
		}
		r->at += BLOCK_SIZE(h);
		r->block = MAX(r->block, h->number + 1);
		if (r->unpacking)
			return 1;
		r->want = MAX(r->want, h->seq + h->count);
	}
}

/* ---- raw files ---- */

/* Nobody adds to the raw file that is open: it was sealed and removed, or there is the next one. */
static bool raw_is_complete(const struct journal_reader *r)
{
	struct stat st;

	return (!fstat(r->raw.fd, &st) && !st.st_nlink) ||
	       journal_numbered_exists(r->dir, RAW_NAME, r->raw.number + 1);
}

/* 1: there are frames; 0: no more now; 2: the file is done. */
static int raw_read(struct journal_reader *r, struct err *e)
{
	bool complete = raw_is_complete(r);

	for (;;) {
		switch (raw_next(&r->raw, e)) {
		case RAW_FAILED:
			return reader_dies(r, e);
		case RAW_BATCH:
			if (r->raw.seq <= r->want)
				continue;
			r->frame = 0;
			r->frame_seq = r->raw.batch.seq;
			return r->frame_seq > r->want ? gap(r, r->frame_seq, e) : 1;
		case RAW_END:
		case RAW_TORN:
		case RAW_DAMAGED:
			/* What is missing is missed when the next file begins. */
			return complete ? 2 : 0;
		}
	}
}

/* There is neither r->block nor its raw file. Is there something behind it? */
static int look_behind(struct journal_reader *r, struct err *e)
{
	struct journal_names names;
	uint64_t next = 0, n;
	int rc;

	if (journal_names_read(&names, r->dir, e) < 0)
		return reader_dies(r, e);
	for (size_t i = BUF_COUNT(&names.raws, uint64_t); i > 0; i--)
		if ((n = *BUF_ITEM(&names.raws, uint64_t, i - 1)) > r->block)
			next = n;
	for (size_t i = BUF_COUNT(&names.segments, uint64_t); i > 0; i--)
		if ((n = *BUF_ITEM(&names.segments, uint64_t, i - 1)) > r->block &&
		    (!next || n < next))
			next = n;
	journal_names_free(&names);
	/* It was being sealed while we looked. */
	rc = sealed_next(r, e);
	if (!rc && r->torn) {
		/* A sealer at work has the raw file. */
		if (journal_numbered_exists(r->dir, RAW_NAME, r->block))
			return 2;
		rc = sealed_next(r, e);
		if (!rc && r->torn)
			return block_wrong(r, e, "is cut, and its raw file is not there");
	}
	if (rc || !next || next <= r->block)
		return rc;
	/* The records that are missing are told when the next ones are there. */
	r->block = next;
	if (r->segment >= 0)
		close(r->segment);
	r->segment = -1;
	return 2;
}

/* 1: there is something in the unpacker or in raw.frames. */
static int more(struct journal_reader *r, struct err *e)
{
	for (;;) {
		int rc;

		if (r->raw.fd < 0) {
			rc = sealed_next(r, e);
			if (rc)
				return rc;
			switch (raw_open(&r->raw, r->dir, r->block, e)) {
			case RAW_BATCH:
				break;
			case RAW_END:
				rc = look_behind(r, e);
				if (rc != 2)
					return rc;
				continue;
			case RAW_TORN:
				/* Its head is being written, or never was. */
				if (!raw_is_complete(r)) {
					raw_close(&r->raw);
					return 0;
				}
				raw_close(&r->raw);
				r->block++;
				continue;
			default:
				return reader_dies(r, e);
			}
		}
		rc = raw_read(r, e);
		if (rc != 2)
			return rc;
		raw_close(&r->raw);
		r->block++;
	}
}

/* The next frame of the batch that was read. */
static bool frame_next(struct journal_reader *r, struct journal_entry *ret)
{
	struct journal_frame f;

	if (r->raw.fd < 0 || r->frame >= r->raw.frames.len)
		return false;
	f = frame_at(&r->raw.frames, r->frame);
	/* It was decoded when it was read. */
	if (!journal_decode(r->raw.frames.p + r->frame, f.size, &r->record))
		return false;
	*ret = (struct journal_entry){ .seq = r->frame_seq++,
				       .mono = f.mono,
				       .wall = f.wall,
				       .pid = f.pid,
				       .kind = (enum journal_kind)f.kind,
				       .record = &r->record,
				       .frame = r->raw.frames.p + r->frame,
				       .nframe = f.size - f.pad };
	r->frame += f.size;
	return true;
}

int journal_reader_next(struct journal_reader *r, struct journal_entry *ret, struct err *e)
{
	for (;;) {
		int rc = 0;

		if (r->dead) {
			*e = r->why;
			return -1;
		}
		if (r->unpacking) {
			rc = unpacker_next(&r->unpacker, ret);
			if (rc < 0)
				return record_wrong(r, e);
			r->unpacking = rc;
		} else {
			rc = frame_next(r, ret);
		}
		if (rc && ret->seq >= r->want) {
			r->want = ret->seq + 1;
			return 1;
		}
		if (!rc && (rc = more(r, e)) <= 0)
			return rc;
	}
}
