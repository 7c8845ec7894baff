/* See poolsize.h. */
#include "daemon/keepers/poolsize.h"

bool pool_kind_init(struct pool_kind *k, struct pool_total *all)
{
	if (all->kinds == POOL_KINDS)
		return false;
	*k = (struct pool_kind){ .all = all };
	all->kinds++;
	return true;
}

bool pool_kind_ask(struct pool_kind *k, uint64_t now)
{
	bool comes = k->ready + k->booting > k->waits;

	k->asked = now;
	if (!k->ready)
		k->want = MIN(k->want + 1, POOL_EACH);
	if (comes)
		k->waits++;
	else
		k->all->missed++;
	return comes;
}

bool pool_kind_give(struct pool_kind *k)
{
	bool gives = k->waits && k->ready;

	if (gives) {
		k->waits--;
		k->ready--;
		k->all->ready--;
		k->all->given++;
		k->least = MIN(k->least, k->ready);
	}
	return gives;
}

bool pool_kind_boot(struct pool_kind *k, uint64_t now)
{
	struct pool_total *all = k->all;
	bool boots = k->ready + k->booting < k->want && k->not_before <= now &&
		     all->booting < POOL_BOOTING && all->ready + all->booting < POOL_ALL;

	if (boots) {
		k->booting++;
		all->booting++;
	}
	return boots;
}

void pool_kind_booted(struct pool_kind *k)
{
	k->booting--;
	k->all->booting--;
	k->ready++;
	k->all->ready++;
}

/* Counts what is removed. keep_waits: how many clients may go on waiting. */
static struct pool_cut cut(struct pool_kind *k, unsigned end, unsigned keep_waits)
{
	struct pool_cut c = { .end = end,
			      .refuse = k->waits > keep_waits ? k->waits - keep_waits : 0 };

	k->ready -= c.end;
	k->all->ready -= c.end;
	k->waits -= c.refuse;
	k->all->missed += c.refuse;
	return c;
}

struct pool_cut pool_kind_failed(struct pool_kind *k, uint64_t now)
{
	k->booting--;
	k->all->booting--;
	k->not_before = now + POOL_FAILED_MS;
	k->want = 0;
	return cut(k, 0, k->booting);
}

void pool_kind_lost(struct pool_kind *k, uint64_t now)
{
	(void)cut(k, 1, k->waits);
	k->least = MIN(k->least, k->ready);
	k->not_before = MAX(k->not_before, now + POOL_LOST_MS);
}

struct pool_cut pool_kind_tick(struct pool_kind *k, uint64_t now, uint64_t unused_ms)
{
	struct pool_cut c;

	if (now - k->asked >= unused_ms)
		k->want = 0;
	else if (k->least > 0 && k->want > 1)
		k->want -= MIN((k->least + 1) / 2, k->want - 1);
	c = cut(k, k->ready > k->want ? k->ready - k->want : 0, k->waits);
	k->least = k->ready;
	c.drop = now - k->asked >= unused_ms && !k->booting;
	if (c.drop)
		k->all->kinds--;
	return c;
}

struct pool_cut pool_kind_close(struct pool_kind *k)
{
	return cut(k, k->ready, 0);
}
