/* The set of ranges against a plain array, with random changes: same members, same order, and a
 * tree that is not deep. */
/* objects: src/kernel/vfs/ranges.c */
#include <stdlib.h>

#include "kernel/vfs/ranges.h"
#include "tap.h"

#define NODES 2000
static struct range_node nodes[NODES];
static bool in[NODES];
static struct range_set set;

/* How many meet [start, end], by looking at all. */
static int count_slow(uint64_t start, uint64_t end)
{
	int n = 0;

	for (int i = 0; i < NODES; i++)
		n += in[i] && nodes[i].start <= end && nodes[i].end >= start;
	return n;
}

static int count_fast(uint64_t start, uint64_t end, bool *ordered)
{
	uint64_t last = 0;
	int n = 0;

	for (struct range_node *r = range_first(&set, start); r && r->start <= end; r = range_next(r, start), n++) {
		*ordered &= r->start >= last && r->end >= start;
		last = r->start;
	}
	return n;
}

static int depth(void)
{
	int deepest = 0;

	for (int i = 0; i < NODES; i++) {
		int d = 0;

		for (const struct range_node *n = &nodes[i]; in[i] && n; n = n->up)
			d++;
		deepest = d > deepest ? d : deepest;
	}
	return deepest;
}

int main(void)
{
	bool ordered = true, same = true;

	srand(1);
	for (int round = 0; round < 20000; round++) {
		int i = rand() % NODES;
		uint64_t start = (uint64_t)rand() % 5000, end = start + (uint64_t)rand() % (round % 7 ? 10 : 5000);

		if (in[i]) {
			range_remove(&set, &nodes[i]);
			in[i] = false;
		} else {
			nodes[i].start = start;
			nodes[i].end = end;
			range_add(&set, &nodes[i]);
			in[i] = true;
		}
		if (round % 10 == 0)
			same &= count_fast(start, end, &ordered) == count_slow(start, end);
	}
	ok(same, "the same ranges are found");
	ok(ordered, "in order");
	same = count_fast(0, UINT64_MAX, &ordered) == count_slow(0, UINT64_MAX);
	ok(same && ordered, "all are walked");
	for (int i = 0; i < NODES; i++) {
		if (in[i])
			range_remove(&set, &nodes[i]);
		in[i] = false;
	}
	ok(!set.root, "empty at the end");
	for (int i = 0; i < NODES; i++) {
		nodes[i].start = nodes[i].end = (uint64_t)i;
		range_add(&set, &nodes[i]);
		in[i] = true;
	}
	ok(depth() < 60, "not deep, though added in order");
	return tap_end();
}
