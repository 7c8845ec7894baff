/* Writing the memory that runners read answers from (stub/fast.h).
 *
 * What is remembered hangs on stamps. A thing that answers depend on (a name, an inode) has a field
 * for the number of its stamp, 0 until an answer was remembered that depends on it; whoever changes
 * the thing calls stamp_bump() on that field before the call is answered. For one that nobody
 * remembered anything of, that is a test of a field.
 *
 * How an answer is noted: fast_note_begin(), the path walk tells of each name and directory it
 * meets (fast_note_stamp(), fast_note_dir()), the handler computes its result, fast_note_put().
 * Everything is a no-op while fastmem is NULL. */
#ifndef VIV_KERNEL_PLATFORM_FASTMEM_H
#define VIV_KERNEL_PLATFORM_FASTMEM_H

#include "base/base.h"
#include "stub/fast.h"

/* NULL: off. */
extern struct fast_region *fastmem;

void fastmem_init(void *region);
/* Everything is forgotten. */
void fastmem_flush(void);
/* The same, and nothing of it can be read any more. From now on only what every user could find out
 * is remembered. */
void fastmem_purge(void);

/* ---- stamps ---- */
void stamp_count(uint16_t stamp);
static inline void stamp_bump(uint16_t stamp)
{
	if (stamp)
		stamp_count(stamp);
}

/* ---- noting ---- */
struct fast_notes {
	bool on; /* a walk is being noted */
	bool bad; /* it met something that can change unseen, or too much */
	bool closed; /* it went through a directory that not everybody may search */
	uint32_t n;
	struct fast_dep dep[FAST_DEPS];
};
extern struct fast_notes fast_notes;

void fast_note_begin(void);
void fast_note_stamp_do(uint16_t *stamp);
static inline void fast_note_stamp(uint16_t *stamp, bool stable)
{
	if (!fast_notes.on)
		return;
	if (stable)
		fast_note_stamp_do(stamp);
	else
		fast_notes.bad = true;
}
static inline void fast_note_dir(uint32_t mode)
{
	if (!(mode & 0001))
		fast_notes.closed = true;
}

struct fast_key {
	uint32_t ctx, kind;
	const char *path;
	uint32_t len;
};

/* Remembers the result: said is a struct fast_stat, a link's text, or nothing, as kind and result
 * say. Ends the noting. */
enum fast_put {
	FAST_NOT_PUT, /* cannot be remembered */
	FAST_NEW,
	FAST_WAS_THERE, /* a runner could have found it */
	/* ... and would have found something else: a change was not noted. It is put right */
	FAST_DIFFERED,
};
enum fast_put fast_note_put(const struct fast_key *k, int32_t result, const void *said);

#endif
