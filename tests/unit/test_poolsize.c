/* The sizes of the warm pool: random sequences of what happens to it, against a model that has
 * every cell and everybody who waits one by one, and counts them. */
/* objects: src/daemon/keepers/poolsize.c */
#include "daemon/keepers/poolsize.h"

#include <stdlib.h>
#include <string.h>

#include "tap.h"

#define UNUSED_MS 20000
#define CELLS 64
#define KINDS (POOL_KINDS + 2)
#define STEPS 6000

/* ---- the model ---- */

enum cell { NONE, BOOTING, READY };

struct model_kind {
	bool is_there;
	unsigned want;
	unsigned low; /* the fewest that were ready since the last tick */
	unsigned waits;
	uint64_t asked, closed_until;
};

static struct model {
	struct {
		enum cell state;
		unsigned kind;
	} cells[CELLS];
	struct model_kind kinds[KINDS];
	uint64_t given, missed;
} model;

static unsigned model_count(enum cell state, int kind) /* -1: of all */
{
	unsigned n = 0;

	for (unsigned i = 0; i < CELLS; i++)
		n += model.cells[i].state == state &&
		     (kind < 0 || model.cells[i].kind == (unsigned)kind);
	return n;
}

/* One cell of this kind from a state into another. */
static void model_move(unsigned kind, enum cell from, enum cell to)
{
	for (unsigned i = 0; i < CELLS; i++) {
		if (model.cells[i].state != from || (from != NONE && model.cells[i].kind != kind))
			continue;
		model.cells[i].state = to;
		model.cells[i].kind = kind;
		return;
	}
	abort();
}

/* Whoever waits has a cell as soon as there is one. */
static void model_settle(unsigned kind)
{
	struct model_kind *k = &model.kinds[kind];

	for (; k->waits && model_count(READY, (int)kind); k->waits--, model.given++)
		model_move(kind, READY, NONE);
	k->low = MIN(k->low, model_count(READY, (int)kind));
}

static bool model_ask(unsigned kind, uint64_t now)
{
	struct model_kind *k = &model.kinds[kind];
	unsigned ready = model_count(READY, (int)kind);

	k->asked = now;
	if (!ready && k->want < POOL_EACH)
		k->want++;
	if (ready + model_count(BOOTING, (int)kind) <= k->waits) {
		model.missed++;
		return false;
	}
	k->waits++;
	model_settle(kind);
	return true;
}

static bool model_boot(unsigned kind, uint64_t now)
{
	struct model_kind *k = &model.kinds[kind];

	if (now < k->closed_until || model_count(BOOTING, -1) == POOL_BOOTING ||
	    model_count(BOOTING, -1) + model_count(READY, -1) == POOL_ALL ||
	    model_count(BOOTING, (int)kind) + model_count(READY, (int)kind) >= k->want)
		return false;
	model_move(kind, NONE, BOOTING);
	return true;
}

static void model_failed(unsigned kind, uint64_t now)
{
	struct model_kind *k = &model.kinds[kind];

	model_move(kind, BOOTING, NONE);
	k->want = 0;
	k->closed_until = now + POOL_FAILED_MS;
	for (; k->waits > model_count(BOOTING, (int)kind); k->waits--)
		model.missed++;
}

static void model_tick(unsigned kind, uint64_t now)
{
	struct model_kind *k = &model.kinds[kind];
	bool unused = k->asked + UNUSED_MS <= now;

	/* Half of those that nobody took, rounded up; the last one stays. */
	for (unsigned n = (k->low + 1) / 2; n && k->want > 1; n--)
		k->want--;
	if (unused)
		k->want = 0;
	while (model_count(READY, (int)kind) > k->want)
		model_move(kind, READY, NONE);
	k->low = model_count(READY, (int)kind);
	if (unused && !model_count(BOOTING, (int)kind))
		*k = (struct model_kind){ .is_there = false };
}

/* ---- both ---- */

static struct pool_total all;
static struct pool_kind kinds[KINDS];
static uint64_t now, asked, refused_kinds, boots, drops, failures, losses, most;
static const char *wrong;

static void expect(bool good, const char *what)
{
	if (!good && !wrong)
		wrong = what;
}

static void compare(void)
{
	unsigned there = 0, waits = 0;

	for (unsigned i = 0; i < KINDS; i++) {
		const struct model_kind *m = &model.kinds[i];
		const struct pool_kind *k = &kinds[i];

		if (!m->is_there)
			continue;
		there++;
		waits += k->waits;
		expect(k->ready == model_count(READY, (int)i), "ready");
		expect(k->booting == model_count(BOOTING, (int)i), "booting");
		expect(k->waits == m->waits, "who waits");
		expect(k->want == m->want, "how many there should be");
		expect(k->waits <= k->booting, "who waits has one that boots");
		expect(!k->waits || !k->ready, "nobody waits beside one that is ready");
		expect(k->ready + k->booting <= POOL_EACH, "the bound of an image");
	}
	expect(all.kinds == there && there <= POOL_KINDS, "images");
	expect(all.ready == model_count(READY, -1), "all that are ready");
	expect(all.booting == model_count(BOOTING, -1), "all that boot");
	expect(all.booting <= POOL_BOOTING, "the bound of those that boot");
	expect(all.ready + all.booting <= POOL_ALL, "the bound of all");
	expect(all.given == model.given && all.missed == model.missed, "given and missed");
	expect(all.given + all.missed + waits == asked, "each one who asks has one answer");
	most = MAX(most, all.ready + all.booting);
}

static void give(unsigned i)
{
	while (pool_kind_give(&kinds[i]))
		;
}

static void ask(unsigned i)
{
	bool comes;

	if (!model.kinds[i].is_there) {
		if (!pool_kind_init(&kinds[i], &all)) {
			expect(all.kinds == POOL_KINDS,
			       "an image is refused when there are too many");
			refused_kinds++;
			return;
		}
		model.kinds[i] = (struct model_kind){ .is_there = true };
	}
	asked++;
	comes = pool_kind_ask(&kinds[i], now);
	give(i);
	expect(comes == model_ask(i, now), "does a cell come?");
}

static void refill(void)
{
	for (unsigned i = 0; i < KINDS; i++) {
		bool more = model.kinds[i].is_there;

		while (more) {
			more = pool_kind_boot(&kinds[i], now);
			expect(more == model_boot(i, now), "is one started?");
			boots += more;
			if (wrong)
				return;
		}
	}
}

static void tick(void)
{
	for (unsigned i = 0; i < KINDS; i++) {
		unsigned before = model_count(READY, (int)i);
		struct pool_cut c;

		if (!model.kinds[i].is_there)
			continue;
		c = pool_kind_tick(&kinds[i], now, UNUSED_MS);
		model_tick(i, now);
		expect(c.end == before - model_count(READY, (int)i), "how many end");
		expect(!c.refuse, "nobody is sent away by time");
		expect(c.drop == !model.kinds[i].is_there, "is an image left alone?");
		drops += c.drop;
	}
}

/* What a start comes to, or the end of one that waits: of a random kind that has one. */
static void cell_event(unsigned what)
{
	enum cell of = what == 2 ? READY : BOOTING;
	unsigned i = (unsigned)random() % KINDS, n = 0;

	while (!model_count(of, (int)i) && n++ < KINDS)
		i = (i + 1) % KINDS;
	if (n > KINDS)
		return;
	if (what == 0) {
		pool_kind_booted(&kinds[i]);
		give(i);
		model_move(i, BOOTING, READY);
		model_settle(i);
	} else if (what == 1) {
		unsigned before = model.kinds[i].waits;
		struct pool_cut c = pool_kind_failed(&kinds[i], now);

		model_failed(i, now);
		expect(!c.end && !c.drop && c.refuse == before - model.kinds[i].waits,
		       "who is refused when a start fails");
		failures++;
	} else {
		uint64_t *until = &model.kinds[i].closed_until;

		pool_kind_lost(&kinds[i], now);
		model_move(i, READY, NONE);
		model_settle(i);
		*until = MAX(*until, now + POOL_LOST_MS);
		losses++;
	}
}

static void close_all(void)
{
	for (unsigned i = 0; i < KINDS; i++) {
		struct model_kind *m = &model.kinds[i];
		struct pool_cut c;

		if (!m->is_there)
			continue;
		c = pool_kind_close(&kinds[i]);
		expect(c.end == model_count(READY, (int)i) && c.refuse == m->waits && !c.drop,
		       "at the end all go");
		expect(!kinds[i].ready && !kinds[i].waits, "and none is left");
	}
	expect(!all.ready && asked == all.given + all.missed, "everybody has an answer");
}

/* A run has a mood: how many images, how often somebody asks, how often a start fails. */
static void sequence(unsigned seed)
{
	unsigned images, asks, fails;
	uint64_t next_tick = POOL_TICK_MS;

	srandom(seed);
	memset(&model, 0, sizeof(model));
	memset(&all, 0, sizeof(all));
	now = asked = 0;
	wrong = NULL;
	images = 1 + (unsigned)random() % KINDS;
	asks = 5 + (unsigned)random() % 60;
	fails = (unsigned)random() % 3 ? 2 : 30;
	for (unsigned i = 0; i < STEPS && !wrong; i++) {
		unsigned r = (unsigned)random() % 100;

		if (r < asks)
			ask((unsigned)random() % (random() % 4 ? MIN(images, 2U) : images));
		else if (r < 80)
			cell_event((unsigned)random() % 100 < fails ? 1 + (unsigned)random() % 2
								    : 0);
		else if (r < 95)
			refill();
		else
			now += (unsigned)random() % (r == 99 ? 12000 : 900);
		for (; next_tick <= now; next_tick += POOL_TICK_MS)
			tick();
		compare();
		if (wrong)
			printf("# seed %u, step %u: %s\n", seed, i, wrong);
	}
	close_all();
	if (wrong)
		printf("# seed %u: %s\n", seed, wrong);
}

static void sequences(void)
{
	unsigned bad = 0;

	for (unsigned seed = 1; seed <= 60; seed++) {
		sequence(seed);
		bad += !!wrong;
	}
	eq(bad, 0, "random sequences are as the model has them");
	ok(boots > 1000 && drops > 50 && failures > 100 && losses > 100 && refused_kinds > 10,
	   "and had starts, failures, losses, and images that came and went");
	eq((long long)most, POOL_ALL, "the pool was full");
}

/* What a person sees: the first one is not served, the next ones are. */
static void example(void)
{
	struct pool_total total = { 0 };
	struct pool_kind k;
	struct pool_cut c;
	unsigned n = 0;

	ok(pool_kind_init(&k, &total) && !pool_kind_ask(&k, 0), "the first one finds none");
	ok(pool_kind_boot(&k, 0) && !pool_kind_boot(&k, 0), "one is started for the next");
	ok(pool_kind_ask(&k, 10) && !pool_kind_give(&k), "who asks meanwhile waits for it");
	pool_kind_booted(&k);
	ok(pool_kind_give(&k) && !pool_kind_give(&k), "and has it");
	while (pool_kind_boot(&k, 20))
		n++;
	eq(n, 2, "now there should be two");
	c = pool_kind_failed(&k, 30);
	ok(!c.refuse && !pool_kind_boot(&k, 30), "a start fails: none is tried");
	ok(pool_kind_ask(&k, 40), "one boots still");
	ok(!pool_kind_ask(&k, 41), "but only one");
	c = pool_kind_failed(&k, 50);
	eq(c.refuse, 1, "who waits for it is refused when it fails too");
	ok(!pool_kind_ask(&k, 60), "there is none");
	ok(!pool_kind_boot(&k, 50 + POOL_FAILED_MS - 1), "nor is one started for a while");
	ok(pool_kind_boot(&k, 50 + POOL_FAILED_MS), "until it is tried again");
	pool_kind_booted(&k);
	c = pool_kind_tick(&k, 60 + POOL_UNUSED_MS - 1, POOL_UNUSED_MS);
	ok(!c.end && !c.drop, "one stays for a while");
	c = pool_kind_tick(&k, 60 + POOL_UNUSED_MS, POOL_UNUSED_MS);
	ok(c.end == 1 && c.drop && !total.kinds, "and goes when nobody asks");
	ok(total.given == 1 && total.missed == 4, "what is counted");
}

int main(void)
{
	example();
	sequences();
	return tap_end();
}
