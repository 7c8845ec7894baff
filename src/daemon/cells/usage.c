/* See usage.h. */
#include "daemon/cells/usage.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "daemon/keepers/link.h"

#define FRESH_NS NSEC_PER_SEC
#define AT_ONCE 32 /* cells that are asked and have not answered */
#define PATIENCE_MS 2000
/* Rates of shorter times say nothing. */
#define RATE_NS (NSEC_PER_SEC / 4)

/* ---- one cell ---- */

const struct usage *usage_get(const struct cell *c)
{
	return c->usage;
}

void usage_drop(struct cell *c)
{
	free(c->usage);
	c->usage = NULL;
}

const struct usage *usage_take(struct cell *c, const struct keep_stats *s)
{
	uint64_t now = uv_hrtime();
	struct usage *u = c->usage;
	double seconds;

	if (!u) {
		u = c->usage = xalloc(sizeof(*u));
		u->base_at = MIN(c->began, now - 1);
	}
	u->now = *s;
	u->at = now;
	if (now - u->base_at < RATE_NS && u->base.time)
		return u;
	seconds = (double)(now - u->base_at) / NSEC_PER_SEC;
	u->calls_per_second = (double)(s->calls - MIN(u->base.calls, s->calls)) / seconds;
	u->cpus = (double)(s->cpu_ns - MIN(u->base.cpu_ns, s->cpu_ns)) / NSEC_PER_SEC / seconds;
	u->base = *s;
	u->base_at = now;
	return u;
}

/* ---- all of them ---- */

struct waiter {
	struct list link;
	void (*done)(void *arg);
	void *arg;
};

/* One round of questions. It stays until the last cell has answered, which may be after its waiters
 * were told. */
struct round {
	struct daemon *d;
	char (*ids)[CELL_ID_LEN + 1];
	unsigned n, next, asked;
	struct list waiters;
	uv_timer_t timer;
};
static struct round *current;
static uint64_t refreshed; /* the end of the last one */

static void round_closed(uv_handle_t *h)
{
	struct round *r = h->data;

	free(r->ids);
	free(r);
}

static void waiters_tell(struct round *r)
{
	while (!list_is_empty(&r->waiters)) {
		struct waiter *w = list_first(&r->waiters, struct waiter, link);

		list_remove(&w->link);
		w->done(w->arg);
		free(w);
	}
}

static void on_patience(uv_timer_t *t)
{
	struct round *r = t->data;

	/* Others begin a new one; this one's answers are still taken. */
	if (current == r)
		current = NULL;
	waiters_tell(r);
}

struct question {
	struct round *r;
	char id[CELL_ID_LEN + 1];
};

static void answered(void *arg, const struct keep_msg *m, int *fds, unsigned nfds);

static void round_go_on(struct round *r)
{
	while (r->next < r->n && r->asked < AT_ONCE) {
		struct cell *c = cell_by_id(r->d, r->ids[r->next++]);
		struct keep_msg m = { .type = KEEP_STATS };
		struct question *q;

		if (!c || !c->keeper || (c->usage && uv_hrtime() - c->usage->at < FRESH_NS))
			continue;
		q = xalloc(sizeof(*q));
		q->r = r;
		strcpy(q->id, c->id);
		if (link_ask(c->keeper, &m, NULL, 0, answered, q) < 0)
			free(q);
		else
			r->asked++;
	}
	if (r->asked)
		return;
	if (current == r)
		current = NULL;
	refreshed = uv_hrtime();
	waiters_tell(r);
	uv_close((uv_handle_t *)&r->timer, round_closed);
}

static void answered(void *arg, const struct keep_msg *m, int *fds, unsigned nfds)
{
	struct question *q = arg;
	struct round *r = q->r;
	struct cell *c = cell_by_id(r->d, q->id);

	(void)fds;
	(void)nfds;
	if (c && c->keeper && m && m->type == KEEP_STATS)
		usage_take(c, &m->stats);
	free(q);
	r->asked--;
	/* A link that closes drops its questions one by one, and vivd's end does so for all. */
	if (!r->d->ending)
		round_go_on(r);
}

void usage_refresh(struct daemon *d, void (*done)(void *arg), void *arg)
{
	struct round *r = current;
	struct waiter *w;
	struct cell *c;

	if (!r && refreshed && uv_hrtime() - refreshed < FRESH_NS) {
		done(arg);
		return;
	}
	w = xalloc(sizeof(*w));
	w->done = done;
	w->arg = arg;
	list_init(&w->link);
	if (r) {
		list_append(&r->waiters, &w->link);
		return;
	}
	r = current = xalloc(sizeof(*r));
	r->d = d;
	list_init(&r->waiters);
	list_append(&r->waiters, &w->link);
	r->ids = xalloc((d->ncells + 1) * sizeof(*r->ids));
	list_for_each(c, &d->cells, link)
		if (c->keeper && r->n < d->ncells)
			strcpy(r->ids[r->n++], c->id);
	uv_timer_init(&d->loop, &r->timer);
	r->timer.data = r;
	uv_timer_start(&r->timer, on_patience, PATIENCE_MS, 0);
	round_go_on(r);
}
