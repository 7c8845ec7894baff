/* The names of a directory: a chained hash table that doubles, and a list in order of age for
 * listings. The hash is keyed by the cell's random number, so a guest cannot choose names that fall
 * into one chain. */
#include <string.h>

#include "base/arena.h"
#include "kernel/fs/layer/node.h"
#include "kernel/platform/cell.h"

#define TABLE_MIN 8

static uint32_t name_hash(const char *name, size_t len)
{
	uint64_t h, w;

	memcpy(&h, cell.random_id, sizeof(h));
	h ^= len * 0x9e3779b97f4a7c15ULL;
	while (len > 0) {
		size_t n = MIN(len, sizeof(w));

		w = 0;
		memcpy(&w, name, n);
		h = (h ^ w) * 0xff51afd7ed558ccdULL;
		h ^= h >> 32;
		name += n;
		len -= n;
	}
	return (uint32_t)((h * 0xc4ceb9fe1a85ec53ULL) >> 32);
}

void ltable_init(struct ltable *t)
{
	memset(t, 0, sizeof(*t));
	list_init(&t->order);
}

static size_t entry_size(size_t len)
{
	return sizeof(struct lentry) + len + 1;
}

void ltable_fini(struct ltable *t)
{
	struct lentry *e, *tmp;

	if (!t->order.next) /* never used: not a directory */
		return;
	list_for_each_safe(e, tmp, &t->order, order) {
		list_remove(&e->order);
		blob_free(e, entry_size(e->len));
	}
	if (t->buckets)
		blob_free(t->buckets, t->size * sizeof(*t->buckets));
	ltable_init(t);
}

struct lentry *ltable_find(const struct ltable *t, const char *name, size_t len)
{
	struct lentry *e;
	uint32_t hash;

	if (t->count == 0)
		return NULL;
	hash = name_hash(name, len);
	for (e = t->buckets[hash & (t->size - 1)]; e; e = e->hash_next)
		if (e->hash == hash && e->len == len && memcmp(e->str, name, len) == 0)
			return e;
	return NULL;
}

/* Growing may fail: then the chains get longer, which is only slower. */
static void table_grow(struct ltable *t)
{
	uint32_t size = t->size ? t->size * 2 : TABLE_MIN;
	struct lentry **buckets, *e;

	if (size * sizeof(*buckets) > BLOB_MAX)
		return;
	buckets = blob_new(size * sizeof(*buckets));
	if (!buckets)
		return;
	memset(buckets, 0, size * sizeof(*buckets));
	list_for_each(e, &t->order, order) {
		e->hash_next = buckets[e->hash & (size - 1)];
		buckets[e->hash & (size - 1)] = e;
	}
	if (t->buckets)
		blob_free(t->buckets, t->size * sizeof(*t->buckets));
	t->buckets = buckets;
	t->size = size;
}

struct lentry *ltable_add(struct ltable *t, const char *name, size_t len)
{
	struct lentry *e;

	if (t->count >= t->size)
		table_grow(t);
	if (!t->buckets)
		return NULL;
	e = blob_new(entry_size(len));
	if (!e)
		return NULL;
	memset(e, 0, sizeof(*e));
	memcpy(e->str, name, len);
	e->str[len] = '\0';
	e->len = (uint8_t)len;
	e->hash = name_hash(name, len);
	e->kind = ENTRY_WHITEOUT;
	e->hash_next = t->buckets[e->hash & (t->size - 1)];
	t->buckets[e->hash & (t->size - 1)] = e;
	list_append(&t->order, &e->order);
	t->count++;
	return e;
}

void ltable_remove(struct ltable *t, struct lentry *e)
{
	struct lentry **at = &t->buckets[e->hash & (t->size - 1)];

	while (*at != e)
		at = &(*at)->hash_next;
	*at = e->hash_next;
	list_remove(&e->order);
	blob_free(e, entry_size(e->len));
	t->count--;
	if (t->count == 0) {
		blob_free(t->buckets, t->size * sizeof(*t->buckets));
		t->buckets = NULL;
		t->size = 0;
	}
}
