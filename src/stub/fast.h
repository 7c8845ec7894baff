/* Answers that a runner finds for itself: the format of the memory that the kernel shares with its
 * runners, and how it is read. The kernel writes it (kernel/platform/fastmem.c), the stub reads it
 * (stub/fast.c); both use what is below.
 *
 * One region for each cell, mapped read-only in every runner. It holds results of path look-ups as
 * records:
 *   key      the context (who asks, from which directories: a number that the kernel gives out),
 *            the kind of question, the path as the program wrote it
 *   result   an errno, what stat says, or the text of a link
 *   deps     pairs of a stamp's number and its value. The kernel has a stamp for each name and
 *            each inode that a record was made from, and counts it up before it answers the call
 *            that changed one of them
 * A record counts while all its stamps have the values noted in it. Records are appended and never
 * changed; the index, a hash table of their places, is the only way to them. When there is no room
 * left, all are dropped at once.
 *
 * A reader looks at the epoch first: odd means that the index is being rearranged. It takes the
 * record, checks it, copies what it needs and looks at the epoch again: if it is another, what it
 * copied may be anything, and it asks the kernel instead. So every number is checked against its
 * bounds before it is used. */
#ifndef VIV_STUB_FAST_H
#define VIV_STUB_FAST_H

#include "stub/stub.h"

#define FAST_BASE (STUB_BASE + 0x100000)
#define FAST_SIZE 0x300000

/* At its end, programs of guests' seccomp filters on their way to the host (kernel/sys/seccomp.c).
 * The stub seals this part of the address space, so that what the kernel wrote there is what the
 * host reads. */
#define FILTER_SLOTS 8
#define FILTER_ROOM 0x9000 /* bytes of one: struct filter_slot */
#define FILTER_SIZE (FILTER_SLOTS * FILTER_ROOM)
#define FILTER_BASE (FAST_BASE + FAST_SIZE - FILTER_SIZE)
#define FILTER_INSNS 4096

#ifndef __ASSEMBLER__
#include <stdint.h>

#define FAST_STAMPS 16368
#define FAST_INDEX 32768 /* slots at most */
#define FAST_INDEX_FIRST 1024 /* ... and at first */
#define FAST_WORDS ((FAST_SIZE - FILTER_SIZE - 64 - 4 * FAST_STAMPS - 4 * FAST_INDEX) / 8)
#define FAST_PROBES 8 /* slots that a key may be in */
#define FAST_DEPS 28 /* of one record */
#define FAST_PATH 512 /* longest path, without its end */
#define FAST_TEXT 256 /* longest text of a link */

/* As seccomp(2) takes it: struct sock_fprog and what it points to. */
struct filter_slot {
	uint16_t len, pad[3];
	uint64_t filter;
	uint64_t insns[FILTER_INSNS];
	uint8_t unused[FILTER_ROOM - 16 - 8 * FILTER_INSNS];
};
_Static_assert(sizeof(struct filter_slot) == FILTER_ROOM, "filter_slot");

struct fast_region {
	uint32_t epoch; /* odd: being rearranged */
	uint32_t mask; /* slots of the index in use, less one */
	/* the kernel looks at the boxes (stub/post.h), on this processor, counted from 1; 0: it
	 * does not */
	uint32_t awake;
	uint32_t unused[13];
	uint32_t stamps[FAST_STAMPS]; /* 0 is nobody's */
	uint32_t index[FAST_INDEX]; /* places of records in area, 0 none */
	uint64_t area[FAST_WORDS];
	struct filter_slot filters[FILTER_SLOTS];
};
_Static_assert(sizeof(struct fast_region) == FAST_SIZE, "fast_region");

/* Kinds of questions. */
#define FAST_STAT 0 /* of what a final link leads to */
#define FAST_LSTAT 1
#define FAST_READLINK 2
#define FAST_ACCESS 0x20 /* or-ed: R_OK, W_OK, X_OK and the two below */
#define FAST_EACCESS 8 /* with the effective ids */
#define FAST_NOFOLLOW 16

struct fast_dep {
	uint32_t stamp, value;
};

/* Followed by its deps, then what it says (struct fast_stat, or the text padded to words), then the
 * path padded to words. */
struct fast_rec {
	uint32_t hash;
	uint32_t ctx;
	int32_t result; /* -errno, 0, or the length of a link's text */
	uint16_t len; /* of the path */
	uint8_t kind;
	uint8_t ndeps;
	struct fast_dep dep[];
};

struct fast_time {
	int64_t sec;
	uint32_t nsec;
} __attribute__((packed));

struct fast_stat {
	uint64_t ino, size, blocks, rdev;
	uint32_t dev, mode, uid, gid, nlink, mnt_id;
	uint32_t attributes; /* of statx */
	uint32_t has_btime;
	struct fast_time atime, mtime, ctime, btime;
};
_Static_assert(sizeof(struct fast_stat) == 112, "fast_stat");

/* What a runner has for itself: how its address space is known to the kernel, which writes it. 0:
 * ask the kernel. */
struct fast_own {
	uint32_t abs,
		rel; /* contexts for absolute paths and for those from the working directory */
	uint32_t ids; /* the four below are good */
	uint32_t uid, euid, gid, egid;
	uint32_t opens; /* open of what is not there gives ENOENT, never EMFILE */
	uint32_t post; /* there is a box for it (stub/post.h) */
};

static inline uint32_t fast_load(const uint32_t *p)
{
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

static inline uint32_t fast_words(uint32_t kind, int32_t result, uint32_t ndeps, uint32_t len)
{
	uint32_t said = 0;

	if (kind <= FAST_LSTAT && result == 0)
		said = sizeof(struct fast_stat) / 8;
	else if (kind == FAST_READLINK && result > 0)
		said = ((uint32_t)result + 7) / 8;
	return sizeof(struct fast_rec) / 8 + ndeps + said + (len + 7) / 8;
}

/* Of one byte after the other, then of the rest of the key. */
#define FAST_HASH_START 0x811c9dc5u
static inline uint32_t fast_hash_byte(uint32_t h, uint8_t c)
{
	return (h ^ c) * 0x01000193u;
}
static inline uint32_t fast_hash_end(uint32_t h, uint32_t ctx, uint32_t kind)
{
	h ^= ctx * 0x9e3779b1u + kind * 0x85ebca6bu;
	h ^= h >> 15;
	h *= 0x2c1b3c6du;
	return h ^ h >> 13;
}

/* What the record says, and behind it its path; both inside of the area once fast_find() has
 * returned it. */
static inline const void *fast_said(const struct fast_rec *rec, uint32_t ndeps)
{
	return &rec->dep[ndeps];
}

/* The record for a key, as fields that were checked: a reader never takes them from the record
 * again. NULL: none. */
struct fast_found {
	const struct fast_rec *rec;
	uint32_t ndeps;
	int32_t result;
};

static inline int fast_find(const struct fast_region *r, uint32_t hash, uint32_t ctx, uint32_t kind,
			    const char *path, uint32_t len, struct fast_found *out)
{
	uint32_t mask = fast_load(&r->mask) & (FAST_INDEX - 1);

	for (uint32_t i = 0; i < FAST_PROBES; i++) {
		uint32_t at = fast_load(&r->index[(hash + i) & mask]), words, n;
		const struct fast_rec *rec;
		const char *text;

		if (at == 0)
			return 0;
		if (at >= FAST_WORDS - 2)
			continue;
		rec = (const struct fast_rec *)&r->area[at];
		if (rec->hash != hash || rec->ctx != ctx || rec->kind != kind || rec->len != len)
			continue;
		out->ndeps = *(const volatile uint8_t *)&rec->ndeps;
		out->result = *(const volatile int32_t *)&rec->result;
		if (out->ndeps > FAST_DEPS || out->result > FAST_TEXT)
			continue;
		words = fast_words(kind, out->result, out->ndeps, len);
		if (words > FAST_WORDS - at)
			continue;
		text = (const char *)&r->area[at + words - (len + 7) / 8];
		for (n = 0; n < len && text[n] == path[n]; n++)
			;
		if (n < len)
			continue;
		out->rec = rec;
		return 1;
	}
	return 0;
}

/* Nothing that it was made from has changed. */
static inline int fast_is_valid(const struct fast_region *r, const struct fast_found *f)
{
	for (uint32_t i = 0; i < f->ndeps; i++) {
		uint32_t s = *(const volatile uint32_t *)&f->rec->dep[i].stamp;

		if (s >= FAST_STAMPS || fast_load(&r->stamps[s]) != f->rec->dep[i].value)
			return 0;
	}
	return 1;
}
#endif

#endif
