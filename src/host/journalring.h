/* The ring of a journal: between a writer that may have been broken into (viv-kernel, viv-gate) and
 * the keeper. wire/journal.h has its form.
 *
 * One writer, one reader, one file that both map. The writer closes its descriptor after that, so
 * that a process which is broken into later cannot cut the file short under its reader. */
#ifndef VIV_HOST_JOURNALRING_H
#define VIV_HOST_JOURNALRING_H

#include "wire/journal.h"
#include "wire/journalraw.h"

/* What the reader says in struct journal_ring.sleeping. */
enum {
	RING_AWAKE, /* it will look, or has been rung for */
	RING_ASLEEP, /* ring at the next frame */
	RING_GATHERS, /* it has heard of frames and waits for more: ring when half of the ring is
			 full */
};

struct ring_writer {
	struct journal_ring *ring; /* NULL: there is none */
	uint8_t *data;
	uint64_t head;
	int bell;
};

struct ring_reader {
	struct journal_ring *ring; /* NULL: there is none */
	const uint8_t *data;
	uint64_t position; /* of what is taken next; tail is what the writer may overwrite up to */
	uint64_t spoiled; /* the writer's head when it was damaged last: there is nothing before it
			   */
	uint64_t kinds; /* bits of enum journal_kind that this writer may write */
};

#define JOURNAL_KIND_BIT(kind) (1ull << (kind))
_Static_assert(J_KINDS <= 64, "a set of kinds is one number");

/* By enum journal_source: the file of a ring in the journal's directory, and what its writer may
 * write. */
extern const struct ring_source {
	const char *file;
	uint64_t kinds;
} ring_sources[JOURNAL_KEEPER];

/* Makes an empty file the ring of nobody yet, with room on its disk. 0 or -errno. */
int must_check journal_ring_make(int fd, uint64_t id);
/* Was that done, to its end? */
bool journal_ring_is_made(int fd);

/* Maps it. Takes neither descriptor. 0 or -errno. */
int must_check ring_writer_init(struct ring_writer *w, int fd, int bell);
/* Puts a frame of n bytes, and waits as long as there is no room for it. */
void ring_writer_put(struct ring_writer *w, const void *frame, size_t n);

/* Maps it; begins at its tail, which is a claim of the writer if the ring is an old one. */
int must_check ring_reader_init(struct ring_reader *r, int fd, uint64_t kinds);
void ring_reader_fini(struct ring_reader *r);
/* Copies frames that are there and fit into room bytes to "to", which is aligned to 8, and checks
 * them there. Stops before one that is later than until; INT64_MAX: takes all. Returns their bytes;
 * *ret_count: how many; *ret_damage: what is wrong with the ring, after which it goes on where the
 * writer claims to be, or NULL. */
size_t ring_reader_take(struct ring_reader *r, void *to, size_t room, int64_t until,
			uint32_t *ret_count, const char **ret_damage);
/* When what is taken next was written, by its writer's claim; INT64_MAX: there is nothing,
 * INT64_MIN: it is damaged. */
int64_t ring_reader_next(const struct ring_reader *r);
/* Is that later than until? A claim that is far from it counts as a lie: no. */
bool ring_is_later(int64_t mono, int64_t until);
/* What was taken is in a file: the writer may use the room again. */
void ring_reader_done(struct ring_reader *r);
/* Says how it waits; false: there is something to take, and it is awake. RING_GATHERS is always
 * taken. */
bool ring_reader_wait(struct ring_reader *r, uint32_t how);
/* Is something there to be taken? */
bool ring_reader_has(const struct ring_reader *r);

#endif
