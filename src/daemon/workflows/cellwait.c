/* Cells that steps need (private.h): found, or made for the run, and started if they do not run.
 *
 * A cell that was made for a run has a name of the run's, so that it is found again by a vivd that
 * comes later, and made again where the machine is another. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "daemon/cells/life.h"
#include "daemon/cells/make.h"
#include "daemon/cells/sleep.h"
#include "daemon/workflows/private.h"

struct cell_need {
	struct daemon *d;
	cell_ready_fn fn; /* NULL: nobody waits any more */
	void *arg;
	struct cell_wait wait;
	bool waits, making, tried;
	uv_timer_t timer; /* what is to be told is told in the next round */
	char id[CELL_ID_LEN + 1];
	int64_t ended;
	struct err e;
};

static void on_closed(uv_handle_t *h)
{
	struct cell_need *x = h->data;

	free(x);
}

static void need_free(struct cell_need *x)
{
	x->fn = NULL;
	if (x->waits)
		cell_wait_remove(&x->wait);
	x->waits = false;
	if (!x->making && !uv_is_closing((uv_handle_t *)&x->timer))
		uv_close((uv_handle_t *)&x->timer, on_closed);
}

void cell_need_drop(struct cell_need *x)
{
	need_free(x);
}

static void need_step(struct cell_need *x, struct cell *c);

static void on_told(uv_timer_t *t)
{
	struct cell_need *x = t->data;
	cell_ready_fn fn = x->fn;
	void *arg = x->arg;
	struct err e = x->e;
	struct cell *c = e.kind ? NULL : cell_by_id(x->d, x->id);

	if (!fn)
		return;
	/* It ended since: what comes now is told. */
	if (c && x->waits && (c->state != CELL_RUNNING || !c->keeper || c->started == x->ended)) {
		need_step(x, c);
		return;
	}
	if (!c && !e.kind)
		err_note(&e, ERR_ENDED, "the cell ended meanwhile");
	need_free(x);
	fn(arg, c, &e);
}

static void tell_soon(struct cell_need *x)
{
	uv_timer_start(&x->timer, on_told, 0, 0);
}

/* What is to be done for it to run. */
static void need_step(struct cell_need *x, struct cell *c)
{
	if (c->state == CELL_RUNNING && c->keeper && c->sleep == SLEEP_NO &&
	    c->started != x->ended) {
		tell_soon(x);
	} else if (c->state == CELL_PAUSED) {
		err_note(&x->e, ERR_WRONG_STATE, "the cell is paused" REMEDY "resume it");
		tell_soon(x);
	} else if (cell_state_is_live(c->state) || c->busy || c->sleep != SLEEP_NO) {
		; /* it will be told */
	} else if (x->tried) {
		cell_start_error(c, "the cell could not start", &x->e);
		tell_soon(x);
	} else {
		x->tried = true;
		if (cell_wake_begin(c, "workflow", &x->e) < 0)
			tell_soon(x);
	}
}

static void on_cell(struct cell_wait *w, struct cell *c, bool gone)
{
	struct cell_need *x = container_of(w, struct cell_need, wait);

	if (!gone) {
		if (!uv_is_active((uv_handle_t *)&x->timer))
			need_step(x, c);
		return;
	}
	cell_wait_remove(w);
	x->waits = false;
	err_note(&x->e, ERR_NOT_FOUND, "the cell is gone");
	tell_soon(x);
}

static void need_cell(struct cell_need *x, struct cell *c)
{
	snprintf(x->id, sizeof(x->id), "%s", c->id);
	x->waits = true;
	cell_wait_add(c, &x->wait, on_cell);
	need_step(x, c);
}

static void on_made(void *arg, struct cell *c, bool existed, const struct err *f)
{
	struct cell_need *x = arg;

	(void)existed;
	x->making = false;
	if (!x->fn) {
		need_free(x);
	} else if (c) {
		need_cell(x, c);
	} else {
		x->e = *f;
		tell_soon(x);
	}
}

static struct cell_need *need_new(struct wf_run *r, cell_ready_fn fn, void *arg)
{
	struct cell_need *x = xalloc(sizeof(*x));

	x->d = run_daemon(r);
	x->fn = fn;
	x->arg = arg;
	list_init(&x->wait.link);
	uv_timer_init(&x->d->loop, &x->timer);
	x->timer.data = x;
	return x;
}

static struct cell_need *need_made(struct wf_run *r, const char *name, json_t *spec, bool keep,
				   int64_t ended, cell_ready_fn fn, void *arg)
{
	struct cell_need *x = need_new(r, fn, arg);
	struct cell *c = cell_by_name(x->d, name);

	x->ended = ended;
	/* Noted before it is there, so that it goes with the run in any case. */
	if (!keep)
		run_cell_note(r, name);
	if (c) {
		json_decref(spec);
		need_cell(x, c);
	} else {
		x->making = true;
		cell_make(x->d, name, spec, MAKE_GET, on_made, x);
	}
	return x;
}

struct cell_need *cell_need_made(struct wf_run *r, const char *name, json_t *spec, bool keep,
				 cell_ready_fn fn, void *arg)
{
	return need_made(r, name, spec, keep, 0, fn, arg);
}

struct cell_need *cell_need(struct wf_run *r, const char *in, int64_t ended, cell_ready_fn fn,
			    void *arg)
{
	const json_t *spec = json_object_get(json_object_get(r->doc, "main"), "cell");
	struct cell_need *x;
	struct cell *c;
	char name[CELL_NAME_LEN + 1];

	if (!in) {
		snprintf(name, sizeof(name), "wf-%s", r->id);
		return need_made(r, name, spec ? json_deep_copy(spec) : json_object(), false, ended,
				 fn, arg);
	}
	x = need_new(r, fn, arg);
	x->ended = ended;
	c = cell_find(x->d, in, &x->e);
	if (c)
		need_cell(x, c);
	else
		tell_soon(x);
	return x;
}
