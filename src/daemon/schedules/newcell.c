/* A cell of its own for each run, made from a spec as 'viv run' has it: without a name, so it goes
 * a while after its end, when its output and its exit status were taken.
 *
 * The cell has a label with a random number of the run (live: tag), which is written before the
 * cell's row is: a vivd that comes later finds the cell by it, or knows that there was none. The
 * same is so for its start: the cell's row says that it starts before a keeper is started, and a
 * keeper has a name in RUN/cells before it starts the command. A cell whose start was under way
 * when vivd was killed, and of which nothing is found there, is started then. What is there goes
 * with the machine, so a run that began before the machine's start (live: boot) has failed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/cells/cellspec.h"
#include "daemon/cells/life.h"
#include "daemon/cells/make.h"
#include "daemon/schedules/private.h"

#define LABEL "vivarium.run"

static int cell_check(struct daemon *d, json_t *spec, struct schedule *s, struct err *e)
{
	json_t *run = json_object_get(spec, "run");
	char hash[HASH_TEXT];

	(void)d;
	(void)s;
	if (json_object_get(spec, "cell") || json_object_get(spec, "session"))
		return err_set(e, ERR_INVALID,
			       "'cell' and 'session' cannot be given with 'run', which makes a "
			       "cell");
	if (json_object_get(spec, "env") || json_object_get(spec, "workdir") ||
	    json_object_get(spec, "user"))
		return err_set(e, ERR_INVALID,
			       "'env', 'workdir' and 'user' of a new cell belong into 'run'");
	if (json_object_get(run, "name"))
		return err_set(e, ERR_INVALID,
			       "the cell of a run has no name" REMEDY
			       "create the cell, and give 'cell' and 'command'");
	if (!json_object_get(run, "command"))
		return err_set(e, ERR_MISSING_FIELD,
			       "'run' has no 'command': its cell would never end");
	if (cellspec_check(run, e) < 0)
		return err_wrap(e, "'run' is not the spec of a cell");
	if (cellspec_restart(run).policy != RESTART_NO)
		return err_set(e, ERR_INVALID,
			       "the cell of a run is not started again: leave 'restart' out");
	return cell_image(run, hash, e);
}

static const char *tag_of(const struct cron_run *r)
{
	return json_text(r->live, "tag");
}

/* The cell that a run made. */
static struct cell *cell_of(struct cron_run *r)
{
	const char *id = json_text(r->live, "cell"), *tag = tag_of(r), *label;
	struct cell *c;

	if (id || !tag)
		return id ? cell_by_id(r->d, id) : NULL;
	list_for_each(c, &r->d->cells, link) {
		label = json_text(json_object_get(c->spec, "labels"), LABEL);
		if (label && !strcmp(label, tag))
			return c;
	}
	return NULL;
}

/* Nothing of RUN/cells was lost since the run began. */
static bool boot_is_same(const struct cron_run *r)
{
	const char *then = json_text(r->live, "boot");
	char now[BOOT_ID_SIZE];

	boot_read(now);
	return then && *now && !strcmp(then, now);
}

static struct cell *cell_make_now(struct cron_run *r, struct err *e)
{
	json_t *spec = json_deep_copy(json_object_get(r->spec, "run")), *labels;
	double left = (double)run_left(r) / NSEC_PER_SEC;
	const json_t *own = json_object_get(spec, "timeout");
	struct cell *c = NULL;
	char hash[HASH_TEXT];

	labels = json_object_get(spec, "labels");
	if (!labels) {
		labels = json_object();
		json_object_set_new(spec, "labels", labels);
	}
	json_object_set_new(labels, LABEL, json_string(tag_of(r)));
	json_object_set_new(labels, "vivarium.schedule", json_string(r->name));
	/* Its keeper ends it then, also without vivd. */
	if (left > 0 && (!own || !(json_number_value(own) > 0) || json_number_value(own) > left))
		json_object_set_new(spec, "timeout", json_real(left));
	if (cell_image(spec, hash, e) == 0)
		c = cell_new(r->d, NULL, "", json_incref(spec), e);
	json_decref(spec);
	return c;
}

static void over(struct cron_run *r, struct cell *c)
{
	run_output_log(r, c->id, KEEP_FIRST);
	r->timed_out |= c->reason == REASON_TIMEOUT;
	run_end(r, r->timed_out ? 124 : c->status, c->failure);
}

static void on_change(struct cell_wait *w, struct cell *c, bool gone)
{
	struct cron_run *r = container_of(w, struct cron_run, wait);

	if (gone)
		r->waits = false;
	(void)c;
	r->action->step(r);
}

static void cell_step(struct cron_run *r)
{
	struct err e = { 0 };
	struct cell *c = cell_of(r);
	char tag[33], boot[BOOT_ID_SIZE];

	if (!c && json_text(r->live, "cell")) {
		err_note(&e, ERR_NOT_FOUND, "the cell of the run was removed");
		run_end(r, -1, &e);
		return;
	}
	if (!tag_of(r)) {
		random_hex(tag, 16);
		json_object_set_new(r->live, "tag", json_string(tag));
		boot_read(boot);
		json_object_set_new(r->live, "boot", json_string(boot));
		if (run_save(r, RUN_STARTING) < 0) {
			json_object_clear(r->live);
			run_later(r);
			return;
		}
	}
	if (!c)
		c = cell_make_now(r, &e);
	if (!c) {
		if (e.kind == ERR_STORAGE)
			run_later(r);
		else
			run_end(r, -1, &e);
		return;
	}
	if (!json_text(r->live, "cell")) {
		json_object_set_new(r->live, "cell", json_string(c->id));
		/* If it cannot be written, its label says it. */
		(void)!run_save(r, RUN_RUNNING);
	}
	if (!r->waits)
		cell_wait_add(c, &r->wait, on_change);
	r->waits = true;
	c->redone = c->state == CELL_STARTING && boot_is_same(r);
	if (cell_state_is_live(c->state))
		return;
	if (c->state != CELL_CREATED) {
		over(r, c);
		return;
	}
	if (cell_start(c, &e) == 0)
		return;
	run_wait_end(r);
	(void)!cell_forget(c, &(struct err){ 0 });
	run_end(r, -1, &e);
}

static void cell_end(struct cron_run *r)
{
	struct cell *c = cell_of(r);
	struct err e = { 0 };

	if (c && cell_state_is_live(c->state))
		(void)!cell_stop(c, 0, &e);
	else if (!c)
		run_end(r, -1, &e);
}

static void cell_unfollow(struct cron_run *r)
{
	struct cell *c = cell_of(r);

	if (c)
		c->redone = false;
}

static void cell_peek(struct cron_run *r)
{
	const struct cell *c = cell_of(r);

	if (c)
		run_output_log(r, c->id, KEEP_FIRST);
}

const struct action action_cell = { .field = "run",
				    .check = cell_check,
				    .step = cell_step,
				    .stop = cell_end,
				    .peek = cell_peek,
				    .forget = cell_unfollow };
