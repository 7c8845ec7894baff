/* See tally.h. The texts of an item stand one after the other, each after its length. */
#include "journal/tally.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/siphash.h"

void tally_init(struct tally *t)
{
	*t = (struct tally){ .nbuckets = 256 };
	t->buckets = xalloc(t->nbuckets * sizeof(*t->buckets));
	if (getrandom(t->key, sizeof(t->key), 0) != sizeof(t->key))
		t->key[0] = (uint64_t)(uintptr_t)t->buckets;
}

void tally_fini(struct tally *t)
{
	buf_free(&t->items);
	buf_free(&t->texts);
	free(t->buckets);
	*t = (struct tally){ 0 };
}

static void buckets_grow(struct tally *t)
{
	if (tally_count(t) < t->nbuckets)
		return;
	free(t->buckets);
	t->nbuckets *= 4;
	t->buckets = xalloc(t->nbuckets * sizeof(*t->buckets));
	for (size_t i = 0; i < tally_count(t); i++) {
		uint32_t *b = &t->buckets[tally_at(t, i)->hash & (t->nbuckets - 1)];

		tally_at(t, i)->next = *b;
		*b = (uint32_t)i + 1;
	}
}

struct tally_item *tally_get(struct tally *t, const struct jtext *parts, size_t n, uint64_t seq)
{
	size_t at = t->texts.len, size;
	struct tally_item *it;
	uint64_t hash;

	/* The texts are put behind the others, and taken away again if they are known. */
	for (size_t i = 0; i < n; i++) {
		buf_add(&t->texts, &parts[i].n, sizeof(parts[i].n));
		buf_add(&t->texts, parts[i].p, parts[i].n);
	}
	size = t->texts.len - at;
	hash = siphash(t->key, t->texts.p + at, size);
	for (uint32_t i = t->buckets[hash & (t->nbuckets - 1)]; i; i = it->next) {
		it = tally_at(t, i - 1);
		if (it->hash == hash && it->n == size &&
		    !memcmp(t->texts.p + it->text, t->texts.p + at, size)) {
			t->texts.len = at;
			return it;
		}
	}
	if (tally_count(t) >= TALLY_MAX) {
		t->texts.len = at;
		t->left_out++;
		return NULL;
	}
	buckets_grow(t);
	it = buf_more(&t->items, sizeof(*it));
	it->hash = hash;
	it->text = at;
	it->n = (uint32_t)size;
	it->seq = seq;
	it->next = t->buckets[hash & (t->nbuckets - 1)];
	t->buckets[hash & (t->nbuckets - 1)] = (uint32_t)tally_count(t);
	return it;
}

struct jtext tally_part(const struct tally *t, const struct tally_item *it, unsigned i)
{
	const uint8_t *p = t->texts.p + it->text, *end = p + it->n;
	uint32_t n;

	for (; p < end; i--) {
		memcpy(&n, p, sizeof(n));
		p += sizeof(n);
		if (!i)
			return (struct jtext){ (const char *)p, n };
		p += n;
	}
	return (struct jtext){ "", 0 };
}

struct order {
	uint64_t count;
	uint32_t i;
};

static int order_compare(const void *a, const void *b)
{
	const struct order *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return x->i < y->i ? -1 : x->i > y->i;
}

uint32_t *tally_sorted(const struct tally *t, unsigned which)
{
	size_t n = tally_count(t);
	struct order *o = xalloc(n * sizeof(*o));
	uint32_t *sorted = xalloc(n * sizeof(*sorted));

	for (size_t i = 0; i < n; i++)
		o[i] = (struct order){ tally_at(t, i)->counts[which], (uint32_t)i };
	qsort(o, n, sizeof(*o), order_compare);
	for (size_t i = 0; i < n; i++)
		sorted[i] = o[i].i;
	free(o);
	return sorted;
}
