/* See budget.h. What comes to a limit is told by cell/gauges.c. */
#include "kernel/net/budget.h"

#include <errno.h>

#include "kernel/platform/cell.h"

static struct net_usage usage;

static uint64_t left(uint64_t used, uint64_t max)
{
	return !max ? UINT64_MAX : used < max ? max - used : 0;
}

uint64_t budget_in(uint64_t n)
{
	uint64_t room = left(usage.in, cell.spec.net_in);

	usage.in_refused += n && !room;
	return MIN(n, room);
}

uint64_t budget_out(uint64_t n)
{
	uint64_t room = left(usage.out, cell.spec.net_out);

	usage.out_refused += n && !room;
	return MIN(n, room);
}

int budget_take(void)
{
	if (!budget_in(1) || !budget_out(1))
		return -EDQUOT;
	if (!left(usage.connections, cell.spec.net_connections)) {
		usage.connections_refused++;
		return -EADDRNOTAVAIL;
	}
	usage.connections++;
	return 0;
}

void budget_give(void)
{
	usage.connections--;
}

void budget_moved(uint64_t in, uint64_t out)
{
	usage.in += in;
	usage.out += out;
}

const struct net_usage *budget_usage(void)
{
	return &usage;
}
