/* Sealed blocks of a journal, as they lie in a segment one after the other: head, signature, packed
 * records (docs/decisions/0049-journal.md; journal/block.h has the packing). Numbers are
 * little-endian. A segment is the file SEGMENT_NAME of the number of its first block. */
#ifndef VIV_WIRE_JOURNALBLOCK_H
#define VIV_WIRE_JOURNALBLOCK_H

#include "wire/journal.h"

/* Numbers of blocks have 8 digits at least. */
#define SEGMENT_NAME "%08llu.vjs"
#define RAW_NAME "raw.%08llu"

#define JOURNAL_BLOCK_MAGIC 0x314b4c42564a4956ull
#define JOURNAL_BLOCK_VERSION 1
#define JOURNAL_BLOCK_TABLE 2 /* the version of a block that has a table of processes */
#define JOURNAL_TABLE_MAX (2u << 20) /* its bytes, before packing */
#define JOURNAL_BLOCK_MAX (16u << 20) /* bytes of the records of a block, packed and unpacked */
#define JOURNAL_SEGMENT_MAX (64u << 20) /* a segment that has reached this is complete */
#define JOURNAL_CELL 40 /* the id with its NUL */
#define JOURNAL_SIGNATURE 64
#define JOURNAL_KEY_ID 8

struct journal_head {
	uint64_t magic;
	uint32_t version, zero;
	uint64_t number; /* from 1 on */
	uint64_t seq; /* of its first record */
	uint32_t count; /* of records */
	uint32_t packed, unpacked; /* bytes of the data */
	uint32_t table; /* bytes of the table at its end; 0: it has none */
	int64_t earliest, latest; /* wall clock of its records; both 0: it has none */
	char cell[JOURNAL_CELL];
	uint8_t prev[JOURNAL_HASH]; /* of the head before; zeros: it is the first */
	uint8_t data[JOURNAL_HASH]; /* of the packed data */
	uint8_t root[JOURNAL_HASH]; /* of the tree over its records */
};
_Static_assert(sizeof(struct journal_head) == 200, "no holes");

struct journal_block {
	struct journal_head head;
	uint8_t signature[JOURNAL_SIGNATURE]; /* of the SHA-256 of the head */
	uint8_t key[JOURNAL_KEY_ID]; /* which one: see key.h */
};
_Static_assert(sizeof(struct journal_block) == 272, "no holes");

/* A block is so many bytes, with its data. */
#define BLOCK_SIZE(h) ((int64_t)sizeof(struct journal_block) + (int64_t)(h)->packed)

#endif
