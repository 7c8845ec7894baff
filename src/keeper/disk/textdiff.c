/* Comparing two texts line by line, with the algorithm of Myers ("An O(ND) Difference Algorithm",
 * 1986) in linear space.
 *
 *   classes   Equal lines get equal numbers, through a hash table whose key is drawn anew each
 *             time: the texts are a guest's, and must not be able to choose lines that collide.
 *   sifting   A line that the other text does not have at all is changed, and is not looked at
 *             any further.
 *   boxes     What is left is a box to be crossed from corner to corner. The middle of a
 *             shortest way is searched from both ends at once and cuts the box in two, until one
 *             side of each is empty.
 * The search has a budget of steps. What is not decided when it is spent counts as changed: right,
 * but longer than it had to be. */
#include "keeper/disk/textdiff.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define LINES_MAX (1u << 20) /* of both: more are not compared one by one */
#define STEPS_MAX (1u << 25)
#define BOXES_MAX 128 /* each cut halves the changes: a few dozen are enough */
#define NOWHERE (INT32_MIN / 2)
#define PRIME ((1ULL << 61) - 1)

bool lines_init(struct lines *l, const char *data, size_t len)
{
	uint32_t n = 0;

	*l = (struct lines){ .data = data };
	for (size_t i = 0; i < len; i++)
		l->n += data[i] == '\n';
	l->n += len && data[len - 1] != '\n';
	l->at = malloc((l->n + 1ul) * sizeof(*l->at));
	l->changed = calloc(l->n + 1ul, 1);
	if (!l->at || !l->changed) {
		lines_fini(l);
		return false;
	}
	l->at[0] = 0;
	for (size_t i = 0; i < len; i++)
		if (data[i] == '\n' || i == len - 1)
			l->at[++n] = (uint32_t)i + 1;
	return true;
}

void lines_fini(struct lines *l)
{
	free(l->at);
	free(l->changed);
	*l = (struct lines){ 0 };
}

/* ---- classes ---- */

static bool line_is_same(const struct lines *a, uint32_t i, const struct lines *b, uint32_t j)
{
	uint32_t n = a->at[i + 1] - a->at[i];

	return n == b->at[j + 1] - b->at[j] && !memcmp(a->data + a->at[i], b->data + b->at[j], n);
}

/* A polynomial modulo a prime: no two lines collide for more than a few of all keys. */
static uint64_t line_hash(const struct lines *l, uint32_t i, uint64_t key)
{
	uint64_t h = 1;

	for (uint32_t at = l->at[i]; at < l->at[i + 1]; at++)
		h = (uint64_t)(((unsigned __int128)h * key + (uint8_t)l->data[at] + 1) % PRIME);
	return h;
}

/* The parts of both that are compared, and what is known of them. */
struct compare {
	struct lines *a, *b;
	uint32_t first; /* as many are the same at the beginning of both */
	uint32_t an, bn; /* lines from there on, without what is the same at the end */
	uint32_t *aclass, *bclass; /* by line from first on */
	/* Those that the other text has, too: */
	uint32_t *ax, *bx; /* class */
	uint32_t *ai, *bi; /* line from first on */
	uint32_t axn, bxn;
	int32_t *forward, *backward; /* by diagonal, in the middle: how far one gets */
	uint64_t steps;
};

struct slot {
	uint64_t hash;
	uint32_t class; /* + 1; 0: free */
	uint32_t line;
	bool of_b;
};

static bool classes_make(struct compare *c)
{
	size_t size = 1024;
	uint32_t classes = 0;
	struct slot *slots;
	uint64_t key;

	while (size < 2ul * (c->an + c->bn))
		size *= 2;
	slots = calloc(size, sizeof(*slots));
	if (!slots || getrandom(&key, sizeof(key), 0) != sizeof(key)) {
		free(slots);
		return false;
	}
	key = key % (PRIME - 1024) + 512;
	for (uint32_t k = 0; k < c->an + c->bn; k++) {
		bool of_b = k >= c->an;
		const struct lines *l = of_b ? c->b : c->a;
		uint32_t line = c->first + (of_b ? k - c->an : k);
		uint64_t hash = line_hash(l, line, key);
		struct slot *s = &slots[hash & (size - 1)];

		while (s->class &&
		       (s->hash != hash || !line_is_same(s->of_b ? c->b : c->a, s->line, l, line)))
			s = s + 1 < slots + size ? s + 1 : slots;
		if (!s->class)
			*s = (struct slot){ hash, ++classes, line, of_b };
		*(of_b ? &c->bclass[k - c->an] : &c->aclass[k]) = s->class - 1;
	}
	free(slots);
	return true;
}

/* ---- sifting ---- */

/* Of one text: those that both have are told in line and class, their number is returned. */
static uint32_t sift_one(const uint32_t *classes, uint32_t n, const uint8_t *seen, uint8_t *changed,
			 uint32_t *line, uint32_t *class)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < n; i++) {
		changed[i] = seen[classes[i]] != 3;
		if (changed[i])
			continue;
		line[kept] = i;
		class[kept++] = classes[i];
	}
	return kept;
}

static bool sift(struct compare *c)
{
	uint8_t *seen = calloc(c->an + c->bn + 1ul, 1);

	if (!seen)
		return false;
	for (uint32_t i = 0; i < c->an; i++)
		seen[c->aclass[i]] |= 1;
	for (uint32_t i = 0; i < c->bn; i++)
		seen[c->bclass[i]] |= 2;
	c->axn = sift_one(c->aclass, c->an, seen, c->a->changed + c->first, c->ai, c->ax);
	c->bxn = sift_one(c->bclass, c->bn, seen, c->b->changed + c->first, c->bi, c->bx);
	free(seen);
	return true;
}

/* ---- boxes ---- */

struct box {
	uint32_t a0, a1, b0, b1;
};

static void box_change(struct compare *c, const struct box *b)
{
	for (uint32_t i = b->a0; i < b->a1; i++)
		c->a->changed[c->first + c->ai[i]] = 1;
	for (uint32_t i = b->b0; i < b->b1; i++)
		c->b->changed[c->first + c->bi[i]] = 1;
}

/* One more change on all diagonals, from the corner at the beginning or (back) at the end, from
 * where the box looks the same. True with the place where this way meets the one from the other
 * corner. */
static bool box_extend(struct compare *c, const struct box *box, int32_t d, bool back, uint32_t *x_,
		       uint32_t *y_)
{
	int32_t n = (int32_t)(box->a1 - box->a0), m = (int32_t)(box->b1 - box->b0), delta = n - m;
	int32_t *v = back ? c->backward : c->forward, *other = back ? c->forward : c->backward;
	int32_t reach = back ? d : d - 1; /* diagonals of the other that are there */

	v[d + 1] = v[-d - 1] = NOWHERE;
	if (d == 0)
		v[1] = 0;
	for (int32_t k = -d; k <= d; k += 2) {
		int32_t down = v[k + 1], right = v[k - 1] + 1, x, y;

		if (right > n)
			right = NOWHERE;
		if (down - k > m)
			down = NOWHERE;
		x = down > right ? down : right;
		c->steps++;
		if (x < 0) {
			v[k] = NOWHERE;
			continue;
		}
		for (y = x - k; x < n && y < m; x++, y++, c->steps++)
			if (back ? c->ax[box->a1 - 1 - (uint32_t)x] !=
					    c->bx[box->b1 - 1 - (uint32_t)y]
				 : c->ax[box->a0 + (uint32_t)x] != c->bx[box->b0 + (uint32_t)y])
				break;
		v[k] = x;
		/* The other comes from its corner along the same diagonal, which it calls delta -
		 * k. */
		if (((delta & 1) != 0) == back || delta - k > reach || delta - k < -reach ||
		    x + other[delta - k] < n)
			continue;
		*x_ = back ? box->a1 - (uint32_t)x : box->a0 + (uint32_t)x;
		*y_ = back ? box->b1 - (uint32_t)y : box->b0 + (uint32_t)y;
		return true;
	}
	return false;
}

/* False: the budget is spent. */
static bool box_cut(struct compare *c, const struct box *b, uint32_t *x, uint32_t *y)
{
	int32_t most = (int32_t)((b->a1 - b->a0 + b->b1 - b->b0 + 1) / 2);

	for (int32_t d = 0; d <= most && c->steps < STEPS_MAX; d++)
		if (box_extend(c, b, d, false, x, y) || box_extend(c, b, d, true, x, y))
			return true;
	return false;
}

static void boxes_cross(struct compare *c)
{
	struct box boxes[BOXES_MAX] = { { 0, c->axn, 0, c->bxn } };
	unsigned n = 1;

	while (n) {
		struct box b = boxes[--n];
		uint32_t x, y;

		while (b.a0 < b.a1 && b.b0 < b.b1 && c->ax[b.a0] == c->bx[b.b0])
			b.a0++, b.b0++;
		while (b.a0 < b.a1 && b.b0 < b.b1 && c->ax[b.a1 - 1] == c->bx[b.b1 - 1])
			b.a1--, b.b1--;
		if (b.a0 == b.a1 || b.b0 == b.b1 || n + 2 > BOXES_MAX || !box_cut(c, &b, &x, &y)) {
			box_change(c, &b);
			continue;
		}
		boxes[n++] = (struct box){ b.a0, x, b.b0, y };
		boxes[n++] = (struct box){ x, b.a1, y, b.b1 };
	}
}

bool lines_compare(struct lines *a, struct lines *b)
{
	struct compare c = { .a = a, .b = b };
	size_t all, words;
	uint32_t *memory;
	bool ok;

	c.an = a->n;
	c.bn = b->n;
	while (c.first < a->n && c.first < b->n && line_is_same(a, c.first, b, c.first))
		c.first++;
	c.an -= c.first;
	c.bn -= c.first;
	while (c.an && c.bn && line_is_same(a, c.first + c.an - 1, b, c.first + c.bn - 1))
		c.an--, c.bn--;
	all = (size_t)c.an + c.bn;
	if (!c.an || !c.bn || all > LINES_MAX) {
		memset(a->changed + c.first, 1, c.an);
		memset(b->changed + c.first, 1, c.bn);
		return true;
	}
	/* Classes, those that are left, their lines; and both ways by diagonal, with one more at
	 * each end. */
	words = 3 * all + 2 * (all + 8);
	memory = malloc(words * sizeof(*memory));
	if (!memory)
		return false;
	c.aclass = memory;
	c.bclass = c.aclass + c.an;
	c.ax = c.bclass + c.bn;
	c.bx = c.ax + c.an;
	c.ai = c.bx + c.bn;
	c.bi = c.ai + c.an;
	c.forward = (int32_t *)(c.bi + c.bn) + all / 2 + 4;
	c.backward = c.forward + all + 8;
	ok = classes_make(&c) && sift(&c);
	if (ok)
		boxes_cross(&c);
	free(memory);
	return ok;
}
