/* What the kernel remembers for runners and how they read it: keys, stamps, the index as it grows,
 * the end of the memory, and a region full of nonsense, which a reader must survive. */
/* objects: src/kernel/platform/fastmem.c */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/platform/fastmem.h"
#include "tap.h"

static struct fast_region *region;

/* As the stub does it. 1: found and counts. */
static int find(uint32_t ctx, uint32_t kind, const char *path, struct fast_found *f)
{
	uint32_t h = FAST_HASH_START, len = (uint32_t)strlen(path);

	for (uint32_t i = 0; i < len; i++)
		h = fast_hash_byte(h, (uint8_t)path[i]);
	return fast_find(region, fast_hash_end(h, ctx, kind), ctx, kind, path, len, f) && fast_is_valid(region, f);
}

static enum fast_put put(uint32_t ctx, uint32_t kind, const char *path, int result, const void *said, uint16_t *a,
			 uint16_t *b)
{
	struct fast_key k = { ctx, kind, path, (uint32_t)strlen(path) };

	fast_note_begin();
	if (a)
		fast_note_stamp(a, true);
	if (b)
		fast_note_stamp(b, true);
	return fast_note_put(&k, result, said);
}

static void test_keys(void)
{
	struct fast_stat st = { .ino = 7, .size = 9 };
	struct fast_found f;
	uint16_t a = 0, b = 0;

	ok(put(1, FAST_STAT, "/a/b", 0, &st, &a, &b) == FAST_NEW, "a stat is remembered");
	ok(a && b && a != b, "each thing gets a stamp");
	ok(find(1, FAST_STAT, "/a/b", &f) && f.result == 0 && !memcmp(fast_said(f.rec, f.ndeps), &st, sizeof(st)),
	   "and found");
	ok(!find(2, FAST_STAT, "/a/b", &f) && !find(1, FAST_LSTAT, "/a/b", &f) && !find(1, FAST_STAT, "/a/c", &f) &&
		   !find(1, FAST_STAT, "/a/", &f) && !find(1, FAST_STAT, "/a/bb", &f),
	   "but for no other context, kind or path");
	ok(put(1, FAST_STAT, "/a/b", 0, &st, &a, &b) == FAST_WAS_THERE, "the same again was there");
	stamp_bump(b);
	ok(!find(1, FAST_STAT, "/a/b", &f), "a change ends it");
	st.size = 10;
	ok(put(1, FAST_STAT, "/a/b", 0, &st, &a, &b) == FAST_NEW, "it is remembered anew");
	ok(find(1, FAST_STAT, "/a/b", &f) && ((const struct fast_stat *)fast_said(f.rec, f.ndeps))->size == 10,
	   "with the new result");
	st.size = 11;
	ok(put(1, FAST_STAT, "/a/b", 0, &st, &a, &b) == FAST_DIFFERED, "an unnoted change is noticed");
	ok(!find(1, FAST_STAT, "/a/b", &f), "and everything forgotten");
}

static void test_results(void)
{
	char text[FAST_TEXT + 1], path[FAST_PATH + 2];
	struct fast_found f;
	uint16_t a = 0;

	memset(text, 'x', sizeof(text));
	ok(put(1, FAST_READLINK, "l", 3, "abc", &a, NULL) == FAST_NEW && find(1, FAST_READLINK, "l", &f) &&
		   f.result == 3 && !memcmp(fast_said(f.rec, f.ndeps), "abc", 3),
	   "a link's text");
	ok(put(1, FAST_READLINK, "m", FAST_TEXT, text, &a, NULL) == FAST_NEW && find(1, FAST_READLINK, "m", &f) &&
		   f.result == FAST_TEXT,
	   "a long text");
	ok(put(1, FAST_READLINK, "n", FAST_TEXT + 1, text, &a, NULL) == FAST_NOT_PUT, "one that is too long");
	ok(put(1, FAST_STAT, "none", -2, NULL, &a, NULL) == FAST_NEW && find(1, FAST_STAT, "none", &f) && f.result == -2,
	   "an errno");
	memset(path, 'p', sizeof(path));
	path[FAST_PATH + 1] = 0;
	ok(put(1, FAST_STAT, path, -2, NULL, &a, NULL) == FAST_NOT_PUT, "a path that is too long");
	path[FAST_PATH] = 0;
	ok(put(1, FAST_STAT, path, -2, NULL, &a, NULL) == FAST_NEW && find(1, FAST_STAT, path, &f), "the longest path");
	ok(put(0, FAST_STAT, "x", -2, NULL, &a, NULL) == FAST_NOT_PUT && put(1, FAST_STAT, "", -2, NULL, &a, NULL) == FAST_NOT_PUT,
	   "no context, no path");
	fast_note_begin();
	fast_note_stamp(&a, false);
	ok(fast_note_put(&(struct fast_key){ 1, FAST_STAT, "u", 1 }, -2, NULL) == FAST_NOT_PUT, "something unstable was met");
	fast_note_begin();
	uint16_t many[FAST_DEPS + 1] = { 0 };
	for (int i = 0; i <= FAST_DEPS; i++)
		fast_note_stamp(&many[i], true);
	ok(fast_note_put(&(struct fast_key){ 1, FAST_STAT, "u", 1 }, -2, NULL) == FAST_NOT_PUT, "too many things were met");
}

static void test_many(void)
{
	struct fast_stat st = { 0 };
	uint32_t epoch = region->epoch, mask = region->mask, found = 0, total = 60000, last = 0;
	struct fast_found f;
	uint16_t a = 0;
	char path[64];

	for (uint32_t i = 0; i < total; i++) {
		snprintf(path, sizeof(path), "/some/where/f%u", i);
		st.ino = i;
		if (put(1, FAST_STAT, path, 0, &st, &a, NULL) != FAST_NEW || !find(1, FAST_STAT, path, &f))
			break;
		last = i + 1;
	}
	ok(last == total, "each of many records is found right after");
	ok(region->epoch != epoch && !(region->epoch & 1) && region->mask > mask, "the index grew, the memory was used up");
	for (uint32_t i = 0; i < total; i++) {
		snprintf(path, sizeof(path), "/some/where/f%u", i);
		if (!find(1, FAST_STAT, path, &f))
			continue;
		found++;
		if (((const struct fast_stat *)fast_said(f.rec, f.ndeps))->ino != i)
			break;
		last = i;
	}
	ok(last == total - 1, "what is found is what was put");
	ok(found > 2000, "the last ones are still there");
	stamp_bump(a);
	ok(!find(1, FAST_STAT, path, &f), "they all hang on one stamp");
}

static void test_users(void)
{
	static const char secret[] = "not-for-all";
	struct fast_found f;
	uint16_t a = 0;
	size_t hits = 0;

	ok(put(1, FAST_STAT, secret, -2, NULL, &a, NULL) == FAST_NEW, "one user");
	fastmem_purge();
	for (size_t i = 0; i + sizeof(secret) < sizeof(region->area); i++)
		hits += !memcmp((const char *)region->area + i, secret, sizeof(secret) - 1);
	ok(hits == 0 && !find(1, FAST_STAT, secret, &f), "nothing is left for the next");
	fast_note_begin();
	fast_note_stamp(&a, true);
	fast_note_dir(040700);
	ok(fast_note_put(&(struct fast_key){ 1, FAST_STAT, "c", 1 }, -2, NULL) == FAST_NOT_PUT, "a closed directory");
	fast_note_begin();
	fast_note_stamp(&a, true);
	fast_note_dir(040711);
	ok(fast_note_put(&(struct fast_key){ 1, FAST_STAT, "c", 1 }, -2, NULL) == FAST_NEW, "an open directory");
}

/* A reader that races with the kernel sees anything at all. */
static void test_nonsense(void)
{
	struct fast_found f;
	uint32_t found = 0, bad = 0;
	char path[8];

	srandom(1);
	for (int round = 0; round < 40; round++) {
		for (size_t i = 0; i < FAST_SIZE / 4; i++)
			((uint32_t *)region)[i] = round & 1 ? (uint32_t)random() : (uint32_t)random() % 0x5ffff;
		for (uint32_t i = 0; i < FAST_INDEX; i++) {
			/* Keys that match what is there, as far as the record's own numbers go. */
			uint32_t at = region->index[i];
			if (at == 0 || at >= FAST_WORDS - 2)
				continue;
			struct fast_rec *rec = (struct fast_rec *)&region->area[at];
			rec->len = (uint16_t)(rec->len % 7 + 1);
			rec->kind = rec->kind % 3;
			rec->ndeps %= 40;
			rec->result = rec->result % 400 - 50;
			uint32_t words = fast_words(rec->kind, rec->result, rec->ndeps, rec->len);
			memset(path, 0, sizeof(path));
			if (words <= FAST_WORDS - at)
				memcpy(path, &region->area[at + words - (rec->len + 7) / 8], rec->len);
			region->index[rec->hash & region->mask & (FAST_INDEX - 1)] = at;
			if (!fast_find(region, rec->hash, rec->ctx, rec->kind, path, rec->len, &f))
				continue;
			found++;
			const char *said = fast_said(f.rec, f.ndeps);
			bad += f.ndeps > FAST_DEPS || f.result > FAST_TEXT || said > (const char *)(region + 1);
			(void)fast_is_valid(region, &f);
		}
	}
	ok(found > 1000, "some of it looks like records");
	ok(bad == 0, "nothing out of bounds is believed");
}

int main(void)
{
	region = calloc(1, sizeof(*region));
	fastmem_init(region);
	ok(put(1, FAST_STAT, "x", -2, NULL, NULL, NULL) == FAST_NOT_PUT && region->epoch == 0, "at first nothing is touched");
	for (int i = 0; i < 100; i++)
		fast_note_begin();
	test_keys();
	test_results();
	test_many();
	test_users();
	test_nonsense();
	return tap_end();
}
