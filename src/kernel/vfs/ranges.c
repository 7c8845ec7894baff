/* A treap: a search tree by start, a heap by random weights, so that it is balanced whatever the
 * order of insertions. Each node knows the largest end below it, which says where not to look. No
 * recursion. */
#include "kernel/vfs/ranges.h"

static uint32_t weight_next(void)
{
	static uint64_t state = 0x9e3779b97f4a7c15u;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 32);
}

static bool node_update(struct range_node *n)
{
	uint64_t max = n->end;

	for (int i = 0; i < 2; i++)
		if (n->kid[i])
			max = MAX(max, n->kid[i]->max_end);
	if (max == n->max_end)
		return false;
	n->max_end = max;
	return true;
}

static void child_set(struct range_set *s, struct range_node *up, const struct range_node *old,
		      struct range_node *now)
{
	if (!up)
		s->root = now;
	else
		up->kid[up->kid[1] == old] = now;
	if (now)
		now->up = up;
}

/* n takes the place of its parent. */
static void rotate_up(struct range_set *s, struct range_node *n)
{
	struct range_node *p = n->up;
	int side = p->kid[1] == n;

	child_set(s, p->up, p, n);
	p->kid[side] = n->kid[!side];
	if (p->kid[side])
		p->kid[side]->up = p;
	n->kid[!side] = p;
	p->up = n;
	(void)node_update(p);
	(void)node_update(n);
}

void range_add(struct range_set *s, struct range_node *n)
{
	struct range_node *at = s->root, *up = NULL;

	n->kid[0] = n->kid[1] = NULL;
	n->max_end = n->end;
	n->weight = weight_next();
	while (at) {
		up = at;
		at->max_end = MAX(at->max_end, n->end);
		at = at->kid[n->start >= at->start];
	}
	n->up = up;
	if (!up)
		s->root = n;
	else
		up->kid[n->start >= up->start] = n;
	while (n->up && n->weight > n->up->weight)
		rotate_up(s, n);
}

void range_remove(struct range_set *s, struct range_node *n)
{
	struct range_node *up;

	while (n->kid[0] || n->kid[1]) {
		struct range_node *a = n->kid[0], *b = n->kid[1];

		rotate_up(s, !a || (b && b->weight > a->weight) ? b : a);
	}
	up = n->up;
	child_set(s, up, n, NULL);
	while (up && node_update(up))
		up = up->up;
	n->up = NULL;
}

/* Below at, which has one that ends there or later. */
static struct range_node *first_below(struct range_node *at, uint64_t start)
{
	for (;;) {
		if (at->kid[0] && at->kid[0]->max_end >= start)
			at = at->kid[0];
		else if (at->end >= start)
			return at;
		else
			at = at->kid[1];
	}
}

struct range_node *range_first(const struct range_set *s, uint64_t start)
{
	return s->root && s->root->max_end >= start ? first_below(s->root, start) : NULL;
}

struct range_node *range_next(const struct range_node *n, uint64_t start)
{
	struct range_node *up;

	if (n->kid[1] && n->kid[1]->max_end >= start)
		return first_below(n->kid[1], start);
	for (; (up = n->up); n = up) {
		if (n != up->kid[0])
			continue;
		if (up->end >= start)
			return up;
		if (up->kid[1] && up->kid[1]->max_end >= start)
			return first_below(up->kid[1], start);
	}
	return NULL;
}
