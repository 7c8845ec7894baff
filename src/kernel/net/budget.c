/* See budget.h. What comes to a limit is told by cell/gauges.c. */
#include "kernel/net/budget.h"

#include <errno.h>

#include "kernel/platform/cell.h"
#include "kernel/task/clock.h"

#define BURST_LEAST 8192 /* bytes that may come at once, however slow it is */

static struct net_usage usage;
/* Two buckets of bytes, which fill with time; less than nothing: a datagram was larger. */
static struct {
	int64_t in, out;
	int64_t filled; /* when */
} bucket;

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

/* ---- the rate ---- */

/* An eighth of a second's bytes. */
static int64_t burst(void)
{
	return MAX((int64_t)MIN(cell.spec.net_rate, (uint64_t)INT64_MAX) / 8, (int64_t)BURST_LEAST);
}

/* What is waited for, so that bytes do not come one by one. */
static int64_t portion(void)
{
	return burst() / 4;
}

static void bucket_fill(void)
{
	int64_t now = now_mono(), rate = (int64_t)MIN(cell.spec.net_rate, (uint64_t)1 << 40);
	int64_t past = MIN(now - bucket.filled, (int64_t)8 * NSEC_PER_SEC);
	int64_t more = past > 0 ? past / 1000 * rate / 1000000 : 0;

	/* Less than a byte stays in the time. */
	if (!more)
		return;
	bucket.filled = now;
	bucket.in = MIN(bucket.in + more, burst());
	bucket.out = MIN(bucket.out + more, burst());
}

static uint64_t rate_left(const int64_t *side, uint64_t n)
{
	if (!cell.spec.net_rate)
		return n;
	bucket_fill();
	if (*side < (int64_t)MIN(n, (uint64_t)portion()))
		return 0;
	return MIN(n, (uint64_t)MAX(*side, (int64_t)0));
}

uint64_t budget_rate_in(uint64_t n)
{
	return rate_left(&bucket.in, n);
}

uint64_t budget_rate_out(uint64_t n)
{
	return rate_left(&bucket.out, n);
}

bool budget_datagram_in(void)
{
	return rate_left(&bucket.in, 1) > 0;
}

bool budget_datagram_out(void)
{
	return rate_left(&bucket.out, 1) > 0;
}

int64_t budget_wait(bool out)
{
	int64_t rate = (int64_t)MIN(cell.spec.net_rate, (uint64_t)1 << 40);
	int64_t missing = portion() - (out ? bucket.out : bucket.in);

	if (!rate || missing <= 0)
		return 0;
	return (int64_t)((double)missing / (double)rate * NSEC_PER_SEC) + NSEC_PER_SEC / 1000;
}

void budget_moved(uint64_t in, uint64_t out)
{
	if (cell.spec.net_rate) {
		bucket.in -= (int64_t)in;
		bucket.out -= (int64_t)out;
	}
	usage.in += in;
	usage.out += out;
}

const struct net_usage *budget_usage(void)
{
	return &usage;
}
