/* Raw files of a journal: what the keeper has taken out of the rings, before it is sealed
 * (docs/decisions/0049-journal.md).
 *
 * A raw file is a struct journal_raw and then batches: a struct journal_batch and nbytes of frames
 * (wire/journal.h), each padded to 8, whose sequence numbers follow each other from batch.seq on.
 * The first batch of a file goes on where the file (or block) before it ended. A batch is written
 * by one write(); one that is cut or whose sum is wrong was being written when the keeper died, and
 * is where the file ends: what was in it is still in its ring, since tail moves after the write. */
#ifndef VIV_WIRE_JOURNALRAW_H
#define VIV_WIRE_JOURNALRAW_H

#include "wire/journal.h"

#define JOURNAL_RAW_MAGIC 0x31574152564a4956ull
#define JOURNAL_BATCH_MAGIC 0x48435442u
#define JOURNAL_RAW_MAX (4u << 20) /* a file that has reached this is complete */
#define JOURNAL_RAW_AGE (5 * NSEC_PER_SEC)
#define JOURNAL_BATCH_MAX (JOURNAL_RING_DATA + JOURNAL_FRAME_MAX)

/* In the directory of all journals. */
#define JOURNAL_QUEUE ".queue" /* lines "ID NUMBER": journals of cells that have ended */
/* Directories 0, 1, ... each with an empty raw.00000001, an empty meta.json and an unused
 * ring.kernel: a new journal is one of them, renamed. */
#define JOURNAL_SPARE ".spare"
#define JOURNAL_SPARES 4

struct journal_raw {
	uint64_t magic;
	uint64_t number; /* of the block that it becomes */
	uint64_t seq; /* of its first record */
	char cell[40]; /* the id, with its NUL */
};
_Static_assert(sizeof(struct journal_raw) == 64, "one head");

enum journal_source { JOURNAL_KERNEL, JOURNAL_GATE, JOURNAL_KEEPER };

struct journal_batch {
	uint32_t magic;
	uint32_t crc; /* CRC-32C of the rest of this struct and the frames */
	uint32_t nbytes, count; /* of frames */
	uint64_t seq; /* of the first */
	uint32_t source; /* enum journal_source */
	uint32_t zero;
	uint64_t position; /* of a ring: tail after it */
	uint64_t ring; /* which ring: random, made with it (struct journal_ring.id) */
};
_Static_assert(sizeof(struct journal_batch) == 48, "one head");

#endif
