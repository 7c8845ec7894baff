/* Packing the records of a block (wire/journalblock.h) and unpacking them.
 *
 * The packed data is zstd of: five sizes (4 bytes each), the columns that they are of, and the
 * bodies. A column has a LEB128 number for each record:
 *
 *   time      mono, difference to the record before, zigzag
 *   offset    wall - mono, difference to the record before, zigzag
 *   process   pid, difference to the record before, zigzag
 *   kind
 *   size      of the body: the frame without its head and padding
 *
 * Bodies are sorted by kind, as those of one kind are alike; within a kind they are in order.
 * Behind them stands the table of processes (table.h), in blocks that have one. */
#ifndef VIV_JOURNAL_BLOCK_H
#define VIV_JOURNAL_BLOCK_H

#include "base/buf.h"
#include "base/err.h"
#include "journal/journal.h"
#include "wire/journalblock.h"

/* What a head can be, whoever wrote it: sizes are within their limits. */
bool head_is_plausible(const struct journal_head *h);
void head_hash(const struct journal_head *h, uint8_t out[JOURNAL_HASH]);

/* ---- packing ---- */

struct packer {
	struct buf time, offset, process, kind, size;
	struct buf bodies[J_KINDS];
	struct buf leaves;
	uint64_t seq;
	uint32_t count;
	int64_t mono, shift, earliest, latest;
	int32_t pid;
};

void packer_init(struct packer *p, uint64_t seq);
/* A frame that journal_decode takes. */
void packer_add(struct packer *p, const void *frame, size_t n);
/* Fills the head but for number, cell and prev, and data with what follows it. The table, if it is
 * not empty, is left out where it would make the block too large. */
int must_check packer_finish(struct packer *p, const struct buf *table, struct journal_head *h,
			     struct buf *data, struct err *e);
void packer_fini(struct packer *p);

/* ---- unpacking ---- */

struct unpacker {
	struct buf data;
	struct column {
		const uint8_t *p, *end;
	} columns[5];
	struct column bodies[J_KINDS];
	struct column table; /* empty: the block has none */
	uint64_t seq, number;
	uint32_t left;
	int64_t mono, shift;
	int32_t pid;
	uint8_t *frame; /* JOURNAL_FRAME_MAX */
	union journal_record record;
};

void unpacker_init(struct unpacker *u);
void unpacker_fini(struct unpacker *u);
/* data: head.packed bytes, whose hash was compared. -1: they are not the records of a block. */
int must_check unpacker_start(struct unpacker *u, const struct journal_head *h, const void *data);
/* 1 and the next record, 0 at the end, -1: the block is damaged. */
int must_check unpacker_next(struct unpacker *u, struct journal_entry *ret);

#endif
