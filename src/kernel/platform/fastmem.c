/* See fastmem.h. The region is filled from its start, so only what is used of it is memory: the
 * first page has the first thousand stamps, the index starts with one page and doubles when it is
 * three quarters full.
 *
 * Stamps are handed out in turn and used again when all have an owner: two things with one stamp
 * only forget more than they had to. A stamp that comes round to a value it had is 2^32 changes
 * later; by then everything was forgotten. */
#include "kernel/platform/fastmem.h"

#include <string.h>

/* A cell that looks up less than this has no use for a memory of it, and should not have one. */
#define ASKED_BEFORE 24

struct fast_region *fastmem;
struct fast_notes fast_notes;

static uint32_t stamp_last;
static uint32_t area_used; /* words */
static uint32_t records; /* in the index */
static bool shared_by_users; /* see fastmem_purge */
static uint32_t asked;
static bool started; /* memory is used */

static void epoch_set(uint32_t epoch)
{
	__atomic_store_n(&fastmem->epoch, epoch, __ATOMIC_SEQ_CST);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static void reset(bool erase)
{
	uint32_t epoch;

	if (!started)
		return;
	epoch = fastmem->epoch;
	epoch_set(epoch | 1);
	memset(fastmem->index, 0, ((size_t)fastmem->mask + 1) * sizeof(fastmem->index[0]));
	if (erase)
		memset(fastmem->area, 0, (size_t)area_used * 8);
	area_used = 1; /* place 0 means none */
	records = 0;
	epoch_set((epoch | 1) + 1);
}

void fastmem_init(void *region)
{
	fastmem = region;
}

void fast_note_begin(void)
{
	fast_notes.on = false;
	if (!fastmem)
		return;
	if (!started) {
		if (++asked < ASKED_BEFORE)
			return;
		fastmem->mask = FAST_INDEX_FIRST - 1;
		epoch_set(2);
		area_used = 1;
		started = true;
	}
	fast_notes.on = true;
	fast_notes.bad = fast_notes.closed = false;
	fast_notes.n = 0;
}

void fastmem_flush(void)
{
	if (fastmem)
		reset(false);
}

void fastmem_purge(void)
{
	shared_by_users = true;
	if (fastmem)
		reset(true);
}

void stamp_count(uint16_t stamp)
{
	uint32_t value;

	if (!started)
		return;
	value = fastmem->stamps[stamp] + 1;
	__atomic_store_n(&fastmem->stamps[stamp], value, __ATOMIC_RELEASE);
	if (value == 0)
		reset(false);
}

void fast_note_stamp_do(uint16_t *stamp)
{
	struct fast_notes *n = &fast_notes;

	for (uint32_t i = 0; *stamp && i < n->n; i++) /* a path with ".." meets names again */
		if (n->dep[i].stamp == *stamp)
			return;
	if (n->n == FAST_DEPS) {
		n->bad = true;
		return;
	}
	if (!*stamp) {
		stamp_last = stamp_last % (FAST_STAMPS - 1) + 1;
		*stamp = (uint16_t)stamp_last;
	}
	n->dep[n->n++] = (struct fast_dep){ *stamp, fastmem->stamps[*stamp] };
}

/* ---- records ---- */

static uint32_t key_hash(const struct fast_key *k)
{
	uint32_t h = FAST_HASH_START;

	for (uint32_t i = 0; i < k->len; i++)
		h = fast_hash_byte(h, (uint8_t)k->path[i]);
	return fast_hash_end(h, k->ctx, k->kind);
}

static struct fast_rec *rec_at(uint32_t at)
{
	return (struct fast_rec *)&fastmem->area[at];
}

static bool rec_is_valid(uint32_t at)
{
	const struct fast_rec *rec = rec_at(at);
	const struct fast_found f = { .rec = rec, .ndeps = rec->ndeps };

	return fast_is_valid(fastmem, &f);
}

/* The first free slot for the key, or that of a record that no longer counts, or else its first. */
static void index_put(uint32_t hash, uint32_t at)
{
	uint32_t slot = hash & fastmem->mask;

	for (uint32_t i = 0; i < FAST_PROBES; i++) {
		uint32_t s = (hash + i) & fastmem->mask, there = fastmem->index[s];

		if (there && rec_is_valid(there))
			continue;
		records += !there;
		slot = s;
		break;
	}
	__atomic_store_n(&fastmem->index[slot], at, __ATOMIC_RELEASE);
}

static void index_double(void)
{
	uint32_t epoch = fastmem->epoch, at, words;

	epoch_set(epoch | 1);
	fastmem->mask = fastmem->mask * 2 + 1;
	memset(fastmem->index, 0, ((size_t)fastmem->mask + 1) * sizeof(fastmem->index[0]));
	records = 0;
	for (at = 1; at < area_used; at += words) {
		const struct fast_rec *rec = rec_at(at);

		words = fast_words(rec->kind, rec->result, rec->ndeps, rec->len);
		if (rec_is_valid(at))
			index_put(rec->hash, at);
	}
	epoch_set((epoch | 1) + 1);
}

static uint32_t said_size(uint32_t kind, int32_t result)
{
	if (kind <= FAST_LSTAT)
		return result == 0 ? sizeof(struct fast_stat) : 0;
	return kind == FAST_READLINK && result > 0 ? (uint32_t)result : 0;
}

static void rec_add(const struct fast_key *k, uint32_t hash, int32_t result, const void *said)
{
	const struct fast_notes *n = &fast_notes;
	uint32_t words = fast_words(k->kind, result, n->n, k->len);
	struct fast_rec *rec;

	if (area_used + words > FAST_WORDS)
		reset(false);
	if (records > fastmem->mask / 4 * 3 && fastmem->mask < FAST_INDEX - 1)
		index_double();
	rec = rec_at(area_used);
	memset(&fastmem->area[area_used + words - (k->len + 7) / 8], 0, (k->len + 7) / 8 * 8);
	*rec = (struct fast_rec){
		.hash = hash,
		.ctx = k->ctx,
		.result = result,
		.len = (uint16_t)k->len,
		.kind = (uint8_t)k->kind,
		.ndeps = (uint8_t)n->n,
	};
	memcpy(rec->dep, n->dep, n->n * sizeof(rec->dep[0]));
	if (said_size(k->kind, result))
		memcpy(&rec->dep[n->n], said, said_size(k->kind, result));
	memcpy(&fastmem->area[area_used + words - (k->len + 7) / 8], k->path, k->len);
	index_put(hash, area_used);
	area_used += words;
}

enum fast_put fast_note_put(const struct fast_key *k, int32_t result, const void *said)
{
	const struct fast_notes *n = &fast_notes;
	struct fast_found f;
	uint32_t hash;

	if (!n->on)
		return FAST_NOT_PUT;
	fast_notes.on = false;
	if (n->bad || !k->ctx || !k->len || k->len > FAST_PATH || result > FAST_TEXT ||
	    (n->closed && shared_by_users))
		return FAST_NOT_PUT;
	hash = key_hash(k);
	if (fast_find(fastmem, hash, k->ctx, k->kind, k->path, k->len, &f) &&
	    fast_is_valid(fastmem, &f)) {
		if (f.result == result &&
		    (!said_size(k->kind, result) ||
		     !memcmp(fast_said(f.rec, f.ndeps), said, said_size(k->kind, result))))
			return FAST_WAS_THERE;
		reset(false);
		return FAST_DIFFERED;
	}
	rec_add(k, hash, result, said);
	return FAST_NEW;
}
