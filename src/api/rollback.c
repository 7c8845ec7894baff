/* POST /v1/cells/{cell}/rollback: the files of a named cell are set back to a snapshot.
 *
 * A cell that runs is ended for it, and its keeper does the rest before it lets go of the disk
 * (keeper/snapshots.c). Then it is started again, if it was vivd that ran it; what somebody else
 * runs, and waits for, cannot be. Nothing is ended before the keeper has found the snapshot, and
 * what fails later leaves the files as they were and the cell running again. A cell that does not
 * run is set back by a thread; one that waits for its restart is started at once. Who goes away
 * before the answer changes nothing of that. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/cells.h"
#include "api/routes.h"
#include "keeper/named.h"

enum step {
	STEP_BEGIN, /* whether it runs is not clear yet */
	STEP_ASKED, /* its keeper is at it */
	STEP_UNHEARD, /* its keeper went without an answer */
	STEP_WORK, /* a thread is */
	STEP_END, /* done, or not to be done; the cell has ended or is about to */
	STEP_START, /* it is started again */
};

struct rollback {
	struct op op;
	struct cell_wait wait;
	uv_work_t work;
	struct cell *c;
	enum step step;
	char cell[CELL_NAME_LEN + 1], snapshot[DISK_NAME_MAX + 1];
	int64_t grace;
	int64_t run; /* when the one began whose keeper was asked */
	bool again; /* it is to run afterwards */
	bool ended; /* for nothing: that is said, too */
	struct err f; /* status 0: none */
	/* of the thread */
	struct err e;
	bool failed, runs;
};

static const char not_again[] = "the files were set back, but the cell could not start again";

static void finish(struct rollback *x)
{
	struct request *r;
	struct cell *c = x->c;

	cell_wait_remove(&x->wait);
	r = op_end(&x->op);
	if (!x->f.kind && x->step == STEP_START && c->state == CELL_FAILED) {
		cell_start_error(c, not_again, &x->f);
	}
	if (x->ended)
		snprintf(x->f.remedy, sizeof(x->f.remedy), "the cell was ended%s",
			 cell_state_is_live(c->state) ? " and started again" : "");
	if (r && x->f.kind)
		reply_err(r, &x->f);
	else if (r)
		reply_json(r, 200, request_cell_json(r, c));
	free(x);
}

static void go_on(struct rollback *x);

static void set_back(const struct rollback *x)
{
	event_add(x->c->d, "cell.rolledback", x->c->id,
		  json_pack("{s:s,s:s}", "name", x->c->name, "snapshot", x->snapshot));
}

/* ---- one that runs ---- */

static void answered(void *arg, const struct keep_msg *m, int *fds, unsigned nfds)
{
	struct rollback *x = arg;

	(void)fds;
	(void)nfds;
	if (m && m->type == KEEP_FAIL && !m->a) {
		keeper_err(m, &x->f);
		finish(x);
		return;
	}
	x->step = m ? STEP_END : STEP_UNHEARD;
	if (m && m->type != KEEP_FAIL)
		set_back(x);
	if (m && m->type == KEEP_FAIL) {
		keep_fail_get(m, &x->f);
		x->f.kind = ERR_FAILED;
		err_wrap(&x->f, "the files could not be set back and are as they were");
		x->ended = true;
	}
	go_on(x);
}

/* A keeper that ends by itself answers what it has read: only one that was killed may have done
 * it. */
static void unheard(struct rollback *x)
{
	if (x->c->started != x->run || x->c->reason != REASON_LOST) {
		x->step = STEP_BEGIN;
		go_on(x);
		return;
	}
	err_note(&x->f, ERR_FAILED,
		 "the cell's keeper was killed; whether the files were set back is not known");
	finish(x);
}

static void keeper_ask(struct rollback *x)
{
	struct keep_msg m = { .type = KEEP_ROLLBACK, .n = (uint64_t)x->grace };
	int err;

	snprintf(m.text, sizeof(m.text), "%s", x->snapshot);
	x->again = x->c->wanted;
	x->run = x->c->started;
	err = link_ask(x->c->keeper, &m, NULL, 0, answered, x);
	if (err == -EAGAIN) {
		err_note(&x->f, ERR_OVERLOADED, "the cell has too much to do" REMEDY "try again");
		finish(x);
	} else if (!err) {
		x->step = STEP_ASKED;
	}
	/* Else it is just ending, and its end comes here. */
}

/* ---- one that does not ---- */

static void work(uv_work_t *w)
{
	struct rollback *x = w->data;
	struct store s;

	x->failed = store_open(&s, &x->e) < 0;
	if (x->failed)
		return;
	x->failed = cell_rollback(&s, x->cell, x->snapshot, &x->runs, &x->e) < 0;
	store_close(&s);
}

static void worked(uv_work_t *w, int status)
{
	struct rollback *x = w->data;

	(void)status;
	x->c->busy = false;
	cell_changed_soon(x->c); /* others may wait to start it */
	/* Somebody else has started it, of which vivd took no note while it was busy with it. */
	if (x->runs && (cells_unsettled(x->c->d, x->c->id) || cell_state_is_live(x->c->state))) {
		x->step = STEP_BEGIN;
	} else {
		x->step = STEP_END;
		if (x->failed)
			x->f = x->e;
		else
			set_back(x);
	}
	go_on(x);
}

static void work_begin(struct rollback *x)
{
	struct cell *c = x->c;

	if (c->busy || c->visit) {
		err_note(&x->f, ERR_BUSY, "the cell is being changed" REMEDY "try again");
		finish(x);
		return;
	}
	x->again = c->restart_at != 0;
	c->restart_at = 0;
	cell_timer(c, -1, NULL);
	c->busy = true;
	x->step = STEP_WORK;
	x->failed = x->runs = false;
	x->work.data = x;
	strcpy(x->cell, c->name);
	uv_queue_work(&c->d->loop, &x->work, work, worked);
}

/* ---- step by step ---- */

/* The next step, if the cell's state allows it. */
static void go_on(struct rollback *x)
{
	struct cell *c = x->c;
	bool live = cell_state_is_live(c->state);
	struct err f = { 0 };

	if (x->step == STEP_BEGIN && !live) {
		work_begin(x);
	} else if (x->step == STEP_BEGIN && c->state != CELL_STARTING && c->keeper) {
		keeper_ask(x);
	} else if (x->step == STEP_UNHEARD && (!live || c->started != x->run)) {
		unheard(x);
	} else if (x->step == STEP_END && !live && !c->busy) {
		if (!x->again) {
			finish(x);
			return;
		}
		x->step = STEP_START;
		if (cell_start(c, &f) == 0)
			return;
		if (!x->f.kind) {
			x->f = f;
			err_wrap(&x->f, "%s", not_again);
		}
		finish(x);
	} else if (x->step == STEP_START && c->state != CELL_STARTING &&
		   c->state != CELL_STOPPING) {
		finish(x);
	}
}

static void changed(struct cell_wait *w, struct cell *c, bool gone)
{
	struct rollback *x = container_of(w, struct rollback, wait);

	(void)c;
	/* Neither while its keeper is asked nor while a thread is at work is it removed. */
	if (gone) {
		if (!x->f.kind)
			err_note(&x->f, ERR_NOT_FOUND, "the cell was removed meanwhile");
		finish(x);
		return;
	}
	go_on(x);
}

void cell_rollback_post(struct request *r)
{
	static const struct field fields[] = { { "snapshot", FIELD_TEXT, true },
					       { "grace", FIELD_NUMBER, false } };
	struct cell *c = request_kept(r);
	json_t *o = c ? request_json(r, fields, ARRAY_LEN(fields)) : NULL;
	struct rollback *x;
	struct err e;
	int64_t grace;

	if (!o)
		return;
	if (name_check("snapshot", json_text(o, "snapshot"), &e) < 0) {
		reply_err(r, &e);
	} else if (request_grace(r, c, o, &grace)) {
		x = xalloc(sizeof(*x));
		x->c = c;
		x->grace = grace;
		snprintf(x->snapshot, sizeof(x->snapshot), "%s", json_text(o, "snapshot"));
		op_begin(r, &x->op);
		cell_wait_add(c, &x->wait, changed);
		go_on(x);
	}
	json_decref(o);
}
