/* The arena: counts, limits, reuse, clearing, blobs. */
/* objects: src/base/arena.c */
#include <string.h>

#include "base/arena.h"
#include "tap.h"

struct thing {
	long a, b, c;
};
OBJ_TYPE(thing_type, struct thing, 10);

static int warnings;

static void count_warning(const struct obj_type *type)
{
	warnings += type == &thing_type;
}

static void test_objects(void)
{
	struct thing *things[10];

	arena_warn = count_warning;
	for (int i = 0; i < 10; i++) {
		things[i] = obj_new(&thing_type);
		things[i]->a = things[i]->c = i + 1;
	}
	ok(strcmp(thing_type.name, "thing") == 0, "the name of a type");
	ok(obj_new(&thing_type) == NULL, "no more than the limit");
	eq(warnings, 1, "one warning at 80 %");
	eq(thing_type.count, 10, "count");
	struct thing *again = things[4];
	bool reused = false;
	/* At once; after a while with the address sanitizer. */
	for (int i = 0; i < 1000 && !reused; i++) {
		obj_free(&thing_type, again);
		again = obj_new(&thing_type);
		reused = again == things[4];
	}
	ok(reused, "freed memory is used again");
	ok(again->a == 0 && again->c == 0, "and is cleared");
	ok(things[3]->c == 4 && things[5]->a == 6, "neighbours are untouched");
	for (int i = 0; i < 10; i++)
		obj_free(&thing_type, things[i]);
	eq(thing_type.count, 0, "all freed");
	eq(thing_type.peak, 10, "peak");
	ok(obj_type_find("thing") == &thing_type, "found by name");
}

static void test_blobs(void)
{
	struct arena_stats before, after;

	arena_stats_get(&before);
	char *s = blob_strndup("hello, world", 5);
	ok(strcmp(s, "hello") == 0, "blob_strndup cuts");
	s = blob_resize(s, 6, 100000);
	ok(s && strcmp(s, "hello") == 0, "growing keeps the content");
	ok(((uintptr_t)s & (PAGE_SIZE - 1)) == 0, "large blobs begin at a page");
	memset(s, 'x', 100000);
	s = blob_resize(s, 100000, 20);
	ok(s && s[19] == 'x', "shrinking keeps the content");
	blob_free(s, 20);
	ok(blob_new(BLOB_MAX + 1) == NULL, "too large");
	ok(blob_new(SIZE_MAX) == NULL, "much too large");
	char *zero = blob_new(0);
	ok(zero != NULL, "an empty blob is one");
	blob_free(zero, 0);
	arena_stats_get(&after);
	eq((long long)after.blob_bytes, (long long)before.blob_bytes, "all given back");
	/* The region ends, and that is an error like any other. */
	int n = 0;
	while (blob_new(BLOB_MAX))
		n++;
#ifdef __SANITIZE_ADDRESS__
	n *= 2; /* each has a fence, so it takes the next power of two */
#endif
	ok(n >= 60 && n < 64, "the region is used up");
}

int main(void)
{
	struct arena_stats stats;

	eq(arena_init(), 0, "arena_init");
	arena_stats_get(&stats);
	eq((long long)stats.used_bytes, 0, "nothing is touched at first");
	test_objects();
	test_blobs();
	return tap_end();
}
