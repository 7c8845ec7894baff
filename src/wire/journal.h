/* Records of a journal on their way: as structs, as bytes, and in the ring between a writer that
 * may have been broken into (viv-kernel, viv-gate) and the keeper (docs/decisions/0049-journal.md).
 *
 * As bytes, a record is a *frame*: a struct journal_frame and the fields in the order of the table
 * (journal.tbl.h). NUMBER is a LEB128 number in its shortest form, SIGNED the same in zigzag form,
 * TEXT and WORDS a LEB128 length and the bytes, HASH one byte 0 or 32 and as many bytes. A frame
 * may end before a field that was added later than it was written (LATER). A frame in memory begins
 * at a multiple of 8 and is padded with zeros to one.
 *
 * The ring is a file in the journal's directory, mapped by both, so that what a writer has put
 * there outlives it and the keeper. There is one writer and one reader. The reader believes
 * nothing: it keeps its own position, takes head as a claim, copies a frame once and then checks
 * it. */
#ifndef VIV_WIRE_JOURNAL_H
#define VIV_WIRE_JOURNAL_H

#include "base/base.h"

#define JOURNAL_TEXT_MAX 4096
#define JOURNAL_FRAME_MAX 16384 /* bytes of a whole frame */
#define JOURNAL_HASH 32

struct jtext {
	const char *p;
	uint32_t n;
};

enum journal_kind {
	J_PAD = 0, /* in the ring only: nothing up to its end */
#define RECORD(ID, name, group, meaning) J_##ID,
#define FIELD(ID, type, name, meaning)
#define END(ID)
#include "wire/journal.tbl.h"
	J_KINDS
};

/* struct journal_EXEC and so on. */
#define RECORD(ID, name, group, meaning) struct journal_##ID {
#define FIELD(ID, type, name, meaning) JOURNAL_C_##type name;
#define END(ID) \
	}       \
	;
#define JOURNAL_C_NUMBER uint64_t
#define JOURNAL_C_SIGNED int64_t
#define JOURNAL_C_TEXT struct jtext
#define JOURNAL_C_WORDS struct jtext
#define JOURNAL_C_HASH const uint8_t *
#include "wire/journal.tbl.h"

enum journal_type { JT_NUMBER, JT_SIGNED, JT_TEXT, JT_WORDS, JT_HASH };

struct journal_field {
	const char *name, *meaning;
	uint8_t type; /* enum journal_type */
	bool later; /* older journals do not have it */
	uint16_t offset; /* in the struct of its kind */
};

struct journal_desc {
	const char *name, *group, *meaning;
	uint16_t size; /* of the struct */
	uint8_t nfields;
	const struct journal_field *fields;
};

/* By kind; J_PAD has no name. */
extern const struct journal_desc journal_kinds[J_KINDS];
/* A path in the cell: what a filter by path looks at, and what keeps its end when it is cut. */
bool journal_field_is_path(const struct journal_field *f);

struct journal_frame {
	uint32_t size; /* of all, padding included */
	uint16_t kind;
	uint16_t pad; /* bytes of padding at the end: 0 to 7 */
	int32_t pid; /* of the process in the cell; 0: none */
	uint32_t zero;
	int64_t mono, wall; /* nanoseconds; wall: since 1970 */
};
_Static_assert(sizeof(struct journal_frame) == 32, "frames have one head");

/* Makes a frame of a record (a struct of its kind) in out, which has JOURNAL_FRAME_MAX bytes. Texts
 * that are longer than JOURNAL_TEXT_MAX, or than their share where all of them would make the frame
 * too large, are cut: of a path its end stays, of others the beginning. Returns the size; 0: kind
 * is not one. */
size_t journal_encode(enum journal_kind kind, const void *record, int32_t pid, int64_t mono,
		      int64_t wall, void *out);
/* Reads the fields of a frame (n: its size, already checked to be there) into record, a union of
 * the structs of all kinds; texts point into the frame. False: it is not a frame, or not of this
 * version: kind, sizes, every field and the padding are checked. Fields that an older frame does
 * not have are zero. */
union journal_record {
#define RECORD(ID, name, group, meaning) struct journal_##ID ID;
#define FIELD(ID, type, name, meaning)
#define END(ID)
#include "wire/journal.tbl.h"
};
bool journal_decode(const void *frame, size_t n, union journal_record *record);

/* ---- the ring ---- */

#define JOURNAL_RING_DATA (256u << 10) /* a power of two */
#define JOURNAL_RING_HEAD 4096u
#define JOURNAL_RING_SIZE (JOURNAL_RING_HEAD + JOURNAL_RING_DATA)
#define JOURNAL_RING_MAGIC 0x31474e52564a4956ull

/* head and tail only grow; data of position p is at JOURNAL_RING_HEAD + p % JOURNAL_RING_DATA. A
 * frame never goes over the end of the data: a J_PAD frame fills it. */
struct journal_ring {
	uint64_t magic;
	uint64_t head; /* the writer's: so much was put */
	uint64_t tail; /* the reader's: so much was taken and is in a file */
	uint32_t sleeping; /* the reader waits for the bell (an eventfd) */
	uint32_t waiting; /* the writer waits for room, in a futex on moved */
	uint32_t moved; /* the reader counts it up with tail */
	uint32_t zero;
	uint64_t id; /* random, made with the ring */
};

#endif
