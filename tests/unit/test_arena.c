/* The arena: counts, limits, reuse, clearing, blobs, its place, and the mistakes that end the
 * program. */
/* objects: src/base/arena.c src/base/program.c */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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
	/* After a while; a longer one with the address sanitizer. */
	for (int i = 0; i < 10000 && !reused; i++) {
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
	ok(n >= 60 && n < 64, "the region is used up");
}

/* What is freed is not handed out next, and not after a fixed number of others. */
static void test_reuse(void)
{
	struct thing *last, *next;
	void *blob, *blob_next;
	bool differ = true, first = true, spread = false;
	int after = 0;

	for (int i = 0; i < 1000; i++) {
		last = obj_new(&thing_type);
		obj_free(&thing_type, last);
		next = obj_new(&thing_type);
		differ &= next != last;
		obj_free(&thing_type, next);
		blob = blob_new(100);
		blob_free(blob, 100);
		blob_next = blob_new(100);
		differ &= blob != blob_next;
		blob_free(blob_next, 100);
		blob = blob_new(20000);
		blob_free(blob, 20000);
		blob_next = blob_new(20000);
		differ &= blob != blob_next;
		blob_free(blob_next, 20000);
	}
	ok(differ, "what was freed last is not handed out first");
	for (int i = 0; i < 50; i++) {
		int n = 0;

		last = obj_new(&thing_type);
		obj_free(&thing_type, last);
		do {
			next = obj_new(&thing_type);
			obj_free(&thing_type, next);
		} while (next != last && ++n < 100000);
		spread |= !first && n != after;
		first = false;
		after = n;
	}
	ok(spread, "nor after a fixed number of others");
}

static void test_zero(void)
{
	static const size_t sizes[] = { 1, 8, 9, 24, 40, 120, 121, 128, 500, 1000 };
	bool good = true;

	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		char *p = blob_new(sizes[i]);

		memset(p, 'x', sizes[i]);
		blob_free(p, sizes[i]);
		for (int n = 0; n < 5000; n++) {
			char *q = blob_new(sizes[i]);

			for (size_t k = 0; k < sizes[i]; k++)
				good &= q[k] == 0;
			blob_free(q, sizes[i]);
		}
	}
	ok(good, "small freed memory is cleared");
}

/* Every class: all of a blob can be used, and nothing else lies in it. */
static void test_sizes(void)
{
	static struct {
		unsigned char *p;
		size_t size;
	} all[3000];
	size_t n = 0;
	bool good = true;

	for (size_t size = 0; size < 200000; size += 1 + size / 20)
		for (int d = -9; d <= 9; d += 3)
			if (size >= 9 && n < ARRAY_LEN(all)) {
				all[n].size = size + (size_t)d;
				all[n].p = blob_new(all[n].size);
				good &= all[n].p && (uintptr_t)all[n].p % 16 == 0;
				memset(all[n].p, (int)n & 255, all[n].size);
				n++;
			}
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < all[i].size; k++)
			good &= all[i].p[k] == (i & 255);
	for (size_t i = 0; i < n; i++)
		blob_free(all[i].p, all[i].size);
	ok(good, "blobs of all sizes, beside each other");
}

/* ---- what ends the program ---- */

static void *volatile keep;

static void link_is_overwritten(void)
{
	struct thing *t[64];

	for (int i = 0; i < 64; i++)
		t[i] = blob_new(sizeof(**t));
	for (int i = 0; i < 64; i++) {
		blob_free(t[i], sizeof(**t));
		*(volatile long *)t[i] = (long)t[0];
	}
	for (int i = 0; i < 2000; i++)
		blob_free(blob_new(sizeof(**t)), sizeof(**t));
}

static void link_is_copied(void)
{
	long *t[64];

	for (int i = 0; i < 64; i++)
		t[i] = blob_new(24);
	for (int i = 0; i < 64; i++)
		blob_free(t[i], 24);
	for (int i = 1; i < 64; i++)
		*(volatile long *)t[i] = *(volatile long *)t[0];
	for (int i = 0; i < 2000; i++)
		blob_free(blob_new(24), 24);
}

static void object_is_freed_twice(void)
{
	struct thing *t = obj_new(&thing_type);

	keep = t;
	obj_free(&thing_type, t);
	obj_free(&thing_type, keep);
}

static void blob_is_freed_twice(void)
{
	keep = blob_new(300);
	blob_free(keep, 300);
	blob_free(keep, 300);
}

static void free_object_is_written(void)
{
	struct thing *t = obj_new(&thing_type);

	obj_free(&thing_type, t);
	((volatile struct thing *)t)->c = 7;
	for (int i = 0; i < 2000; i++)
		obj_free(&thing_type, obj_new(&thing_type));
}

static void blob_is_overrun(void)
{
	volatile char *p = blob_new(100);

	p[100] = 'x';
	blob_free((void *)p, 100);
}

static void blob_is_overrun_and_grown(void)
{
	volatile char *p = blob_new(100);

	p[100] = 'x';
	keep = blob_resize((void *)p, 100, 101);
}

static void blob_has_another_size(void)
{
	blob_free(blob_new(100), 101);
}

static void large_blob_is_overrun(void)
{
	volatile char *p = blob_new(1UL << 20);

	p[1UL << 20] = 'x';
}

static void blobs_end_is_overrun(void)
{
	volatile char *p = blob_new(100);

	for (size_t i = 0; i < 64UL << 20; i++)
		p[i] = 'x';
}

static void object_is_none(void)
{
	static struct thing t;

	obj_free(&thing_type, &t);
}

static void object_is_a_blob(void)
{
	obj_free(&thing_type, blob_new(sizeof(struct thing)));
}

/* Whether fn ends its process, and says so with this text (a sanitizer says it otherwise). */
static void ends(void (*fn)(void), const char *text, const char *what)
{
	char said[65536] = "";
	int fds[2], status = 0;
	size_t n = 0;
	ssize_t r;
	pid_t pid;

	if (pipe(fds) < 0 || (pid = fork()) < 0) {
		ok(false, what);
		return;
	}
	if (pid == 0) {
		dup2(fds[1], 2);
		close(fds[0]);
		fn();
		_exit(0);
	}
	close(fds[1]);
	while (n < sizeof(said) - 1 && (r = read(fds[0], said + n, sizeof(said) - 1 - n)) > 0)
		n += (size_t)r;
	close(fds[0]);
	waitpid(pid, &status, 0);
#ifdef __SANITIZE_ADDRESS__
	ok((status && strstr(said, "AddressSanitizer")) || (text && strstr(said, text)), what);
#else
	ok(WIFSIGNALED(status) && (!text || strstr(said, text)), what);
#endif
}

static void test_mistakes(void)
{
#ifndef __SANITIZE_ADDRESS__
	ends(blob_has_another_size, "past its end, or has another size", "a blob of another size");
#else
	(void)blob_has_another_size; /* poison does not tell */
#endif
	ends(link_is_overwritten, "a list of free memory is broken", "a link that was overwritten");
	ends(link_is_copied, "a list of free memory is broken", "a link copied from elsewhere");
	ends(object_is_freed_twice, "memory is freed twice (thing)", "an object freed twice");
	ends(blob_is_freed_twice, "memory is freed twice (blob)", "a blob freed twice");
	ends(free_object_is_written, "free memory was written to (thing)", "a write after the free");
	ends(blob_is_overrun, "past its end", "a write past the end, noticed when it is freed");
	ends(blob_is_overrun_and_grown, "past its end", "or resized");
	ends(large_blob_is_overrun, NULL, "a write past the end of a large blob");
	ends(blobs_end_is_overrun, NULL, "a write past the end of all blobs");
	ends(object_is_none, "memory is freed that is none", "an object that is none");
	ends(object_is_a_blob, "memory is freed that is none", "a blob freed as an object");
}

/* Where the arena of another process lies, which makes it at a given place or by itself. */
static struct arena_place place_of_other(const struct arena_place *want, int *ret)
{
	struct {
		struct arena_place place;
		int ret;
	} m = { { 0 }, -1 };
	int fds[2];
	pid_t pid;

	if (pipe(fds) == 0 && (pid = fork()) >= 0) {
		if (pid == 0) {
			m.ret = want ? arena_init_at(want) : arena_init();
			arena_place_get(&m.place);
			_exit(write(fds[1], &m, sizeof(m)) < 0);
		}
		if (read(fds[0], &m, sizeof(m)) < 0)
			m.ret = -1;
		waitpid(pid, NULL, 0);
		close(fds[0]);
		close(fds[1]);
	}
	*ret = m.ret;
	return m.place;
}

static void test_place(void)
{
	struct arena_place a, b, c;
	int ra, rb, rc;

	a = place_of_other(NULL, &ra);
	b = place_of_other(NULL, &rb);
	c = place_of_other(&a, &rc);
	ok(ra == 0 && rb == 0 && rc == 0, "arenas of other processes");
	ok(a.base != b.base && a.base % PAGE_SIZE == 0, "lie at other places");
	ok(a.key[0] != b.key[0] && a.key[1] != b.key[1], "and have other keys");
	ok(c.base == a.base && c.key[0] == a.key[0] && c.key[1] == a.key[1],
	   "unless they are given one");
}

int main(void)
{
	struct arena_stats stats;

	test_place();
	eq(arena_init(), 0, "arena_init");
	arena_stats_get(&stats);
	eq((long long)stats.used_bytes, 0, "nothing is touched at first");
	test_objects();
	test_reuse();
	test_zero();
	test_sizes();
	test_mistakes();
	test_blobs();
	return tap_end();
}
