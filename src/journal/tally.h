/* Counts by a text: how often a program was started, how many bytes went to a host. Items stay in
 * the order in which they were first met. */
#ifndef VIV_JOURNAL_TALLY_H
#define VIV_JOURNAL_TALLY_H

#include "base/buf.h"
#include "wire/journal.h"

#define TALLY_MAX (1u << 20) /* different texts; more are counted in left_out */
#define TALLY_COUNTS 9

struct tally_item {
	uint64_t hash;
	size_t text; /* in tally.texts */
	uint32_t n;
	uint32_t next; /* in its bucket, from 1 on */
	uint64_t seq; /* of the first record */
	uint64_t counts[TALLY_COUNTS];
};

struct tally {
	struct buf items, texts;
	uint32_t *buckets;
	size_t nbuckets;
	uint64_t left_out;
	uint64_t key[2];
};

void tally_init(struct tally *t);
void tally_fini(struct tally *t);
/* The item of some texts together, made if there is none. Borrows: valid until the next call.
 * NULL: there are too many. */
struct tally_item *tally_get(struct tally *t, const struct jtext *parts, size_t n, uint64_t seq);

static inline size_t tally_count(const struct tally *t)
{
	return BUF_COUNT(&t->items, struct tally_item);
}

static inline struct tally_item *tally_at(const struct tally *t, size_t i)
{
	return BUF_ITEM(&t->items, struct tally_item, i);
}

/* Part i of an item's texts; empty: there is none. */
struct jtext tally_part(const struct tally *t, const struct tally_item *it, unsigned i);
/* The numbers of the items, the largest of counts[which] first. To be freed. */
uint32_t *must_check tally_sorted(const struct tally *t, unsigned which);

#endif
