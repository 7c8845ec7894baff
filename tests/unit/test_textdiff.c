/* Comparing texts: what is left unchanged is the same in both, as much as there can be, and no text
 * takes long. */
/* objects: src/keeper/disk/textdiff.c */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "keeper/disk/textdiff.h"
#include "tap.h"

#define SMALL 40

static uint32_t seed = 1;

static uint32_t pick(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % n;
}

static const char *line(const struct lines *l, uint32_t i, uint32_t *len)
{
	*len = l->at[i + 1] - l->at[i];
	return l->data + l->at[i];
}

static bool is_same(const struct lines *a, uint32_t i, const struct lines *b, uint32_t j)
{
	uint32_t n, m;
	const char *x = line(a, i, &n), *y = line(b, j, &m);

	return n == m && !memcmp(x, y, n);
}

/* How many lines are left in both; -1: they are not the same. */
static long left(const struct lines *a, const struct lines *b)
{
	uint32_t i = 0, j = 0;
	long n = 0;

	for (;; i++, j++, n++) {
		while (i < a->n && a->changed[i])
			i++;
		while (j < b->n && b->changed[j])
			j++;
		if (i == a->n || j == b->n)
			return i == a->n && j == b->n ? n : -1;
		if (!is_same(a, i, b, j))
			return -1;
	}
}

static long longest(const struct lines *a, const struct lines *b)
{
	static long t[SMALL + 2][SMALL + 2];

	memset(t, 0, sizeof(t));
	for (uint32_t i = a->n; i-- > 0;)
		for (uint32_t j = b->n; j-- > 0;)
			t[i][j] = is_same(a, i, b, j)	      ? t[i + 1][j + 1] + 1
				  : t[i + 1][j] > t[i][j + 1] ? t[i + 1][j]
							      : t[i][j + 1];
	return t[0][0];
}

static size_t text_make(char *p, uint32_t lines, uint32_t letters)
{
	size_t n = 0;

	for (uint32_t i = 0; i < lines; i++) {
		p[n++] = (char)('a' + pick(letters));
		p[n++] = '\n';
	}
	if (n && !pick(3))
		n--;
	return n;
}

static void small(void)
{
	char x[2 * SMALL], y[2 * SMALL];
	long bad = 0, longer = 0;

	for (unsigned round = 0; round < 20000; round++) {
		uint32_t letters = 1 + pick(12);
		size_t n = text_make(x, pick(SMALL), letters),
		       m = text_make(y, pick(SMALL), letters);
		struct lines a, b;

		if (!lines_init(&a, x, n) || !lines_init(&b, y, m) || !lines_compare(&a, &b))
			abort();
		bad += left(&a, &b) < 0;
		longer += left(&a, &b) != longest(&a, &b);
		lines_fini(&a);
		lines_fini(&b);
	}
	eq(bad, 0, "what is left is the same in both");
	eq(longer, 0, "and as much as there can be");
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* The worst: many lines of two kinds in two orders, where the fewest changes are far away. */
static void large(uint32_t lines, uint32_t letters, const char *what)
{
	char *x = malloc(2ul * lines), *y = malloc(2ul * lines);
	size_t n, m;
	struct lines a, b;
	double start;

	if (!x || !y)
		abort();
	n = text_make(x, lines, letters);
	m = text_make(y, lines, letters);
	start = seconds();
	if (!lines_init(&a, x, n) || !lines_init(&b, y, m) || !lines_compare(&a, &b))
		abort();
	ok(left(&a, &b) >= 0, what);
	ok(seconds() - start < 5, "it does not take long");
	lines_fini(&a);
	lines_fini(&b);
	free(x);
	free(y);
}

int main(void)
{
	small();
	large(300000, 2, "two letters");
	large(500000, 20, "twenty letters");
	large(2000000, 2, "more lines than are compared");
	return tap_end();
}
