/* What changes a cell's state: start, stop, restart, sleep, wake, pause, resume, kill, rename; and
 * waiting for
 * its end. An answer comes when it is done: a start when the cell runs or has failed to, a stop
 * when it has ended. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/cells.h"
#include "api/routes.h"
#include "daemon/cells/family.h"
#include "daemon/cells/cellspec.h"
#include "daemon/cells/result.h"
#include "daemon/cells/runfollow.h"
#include "daemon/cells/sleep.h"
#include "daemon/cells/sleepports.h"
#include "keeper/named.h"

struct state_op {
	struct op op;
	struct cell_wait wait;
	bool until_over; /* else until it runs */
	int64_t run; /* with until_over: that of this start; 0: whichever */
	uint64_t sleeps; /* with until_over: or when it has slept more often than that */
	bool through_sleep; /* with until_over: one that sleeps has not ended */
	bool then_start;
	unsigned status;
};

static void cell_reply(struct request *r, unsigned status, const struct cell *c)
{
	json_t *o = request_cell_json(r, c);

	cell_result_set(c, o);
	reply_json(r, status, o);
}

static void start_failed(struct request *r, const struct cell *c)
{
	struct err f;

	cell_start_error(c, "the cell could not start", &f);
	reply_err(r, &f);
}

static void state_step(struct cell_wait *w, struct cell *c, bool gone)
{
	struct state_op *x = container_of(w, struct state_op, wait);
	bool over = gone || (x->sleeps && c->sleeps >= x->sleeps) ||
		    (x->run && c->started != x->run); /* somebody else has started it again */
	struct request *r;
	struct err f = { 0 };

	/* One that stops before it ran is about to tell why. */
	if (!over && (c->state == CELL_STARTING || c->state == CELL_STOPPING ||
		      (x->until_over && cell_state_is_live(c->state)) ||
		      (x->through_sleep && c->state == CELL_SLEEPING)))
		return;
	if (x->until_over && x->then_start && !gone) {
		x->until_over = x->then_start = false;
		x->run = 0;
		if (c->state == CELL_STARTING || c->state == CELL_STOPPING ||
		    (!cell_state_is_live(c->state) && cell_start(c, &f) == 0))
			return;
	}
	cell_wait_remove(w);
	r = op_end(&x->op);
	if (!r)
		;
	else if (f.kind)
		reply_err(r, &f);
	else if (!x->until_over && c->state == CELL_FAILED)
		start_failed(r, c);
	else
		cell_reply(r, x->status, c);
	free(x);
}

static void state_gone(struct op *op)
{
	struct state_op *x = container_of(op, struct state_op, op);

	cell_wait_remove(&x->wait);
	free(x);
}

static void state_wait(struct request *r, struct cell *c, struct state_op what)
{
	struct state_op *x = xalloc(sizeof(*x));

	*x = what;
	if (!x->then_start)
		x->op.gone = state_gone;
	list_init(&x->wait.link);
	op_begin(r, &x->op);
	cell_wait_add(c, &x->wait, state_step);
}

void cell_start_wait(struct request *r, struct cell *c, unsigned status)
{
	state_wait(r, c, (struct state_op){ .status = status });
}

void cell_start_post(struct request *r)
{
	struct cell *c = request_cell(r);
	struct err f = { 0 };

	if (!c)
		return;
	if (cell_start(c, &f) < 0)
		reply_err(r, &f);
	else
		cell_start_wait(r, c, 200);
}

bool request_grace(struct request *r, const struct cell *c, const json_t *o, int64_t *ret)
{
	const json_t *v = json_object_get(o, "grace");
	double seconds = json_number_value(v);

	*ret = v ? (int64_t)(seconds * NSEC_PER_SEC) : cell_grace(c);
	if (seconds <= 86400)
		return true;
	reply_error(r, ERR_INVALID, "'grace' is at most a day in seconds");
	return false;
}

/* The body of stop and restart. False: answered. */
static bool grace_read(struct request *r, const struct cell *c, int64_t *ret)
{
	static const struct field fields[] = { { "grace", FIELD_NUMBER, false } };
	json_t *o = request_json(r, fields, ARRAY_LEN(fields));
	bool ok = o && request_grace(r, c, o, ret);

	json_decref(o);
	return ok;
}

static void stop_begin(struct request *r, bool then_start)
{
	struct cell *c = request_cell(r);
	struct err f = { 0 };
	int64_t grace;

	if (!c || !grace_read(r, c, &grace))
		return;
	if (then_start && !cell_state_is_live(c->state)) {
		if (cell_start(c, &f) < 0)
			reply_err(r, &f);
		else
			cell_start_wait(r, c, 200);
		return;
	}
	if (then_start && c->run == RUN_UNNAMED)
		reply_error(
			r, ERR_WRONG_STATE,
			"the cell is a 'viv run' without a name, which cannot be started again");
	else if (cell_stop(c, grace, &f) < 0)
		reply_err(r, &f);
	else if (!cell_state_is_live(c->state))
		cell_reply(r, 200, c);
	else
		state_wait(r, c,
			   (struct state_op){ .until_over = true,
					      .run = c->started,
					      .then_start = then_start,
					      .status = 200 });
}

void cell_stop_post(struct request *r)
{
	stop_begin(r, false);
}

void cell_restart_post(struct request *r)
{
	stop_begin(r, true);
}

void cell_wait_get(struct request *r)
{
	struct cell *c = request_cell(r);

	if (!c)
		return;
	if (cell_state_is_live(c->state) || c->state == CELL_SLEEPING)
		state_wait(r, c,
			   (struct state_op){
				   .until_over = true, .through_sleep = true, .status = 200 });
	else
		cell_reply(r, 200, c);
}

static void sleep_wait(struct request *r, struct cell *c)
{
	state_wait(r, c,
		   (struct state_op){ .until_over = true,
				      .run = c->started,
				      .sleeps = c->sleeps + 1,
				      .status = 200 });
}

/* ---- with its processes ---- */

struct freeze_op {
	struct op op;
	struct daemon *d;
	char id[CELL_ID_LEN + 1];
};

static void froze(void *arg, const struct keep_msg *m, int *fds, unsigned nfds)
{
	struct freeze_op *x = arg;
	struct cell *c = cell_by_id(x->d, x->id);
	bool ok = m && m->type == KEEP_OK;
	struct request *r;

	if (c && m && m->type == KEEP_PORTS) {
		sleep_ports_take(c, fds, nfds);
		return;
	}
	for (unsigned i = 0; i < nfds; i++)
		close(fds[i]);
	if (m && m->type == KEEP_PORTS)
		return;
	r = op_end(&x->op);
	if (c && m)
		cell_sleep_answered(c, ok);
	if (r && ok && c)
		sleep_wait(r, c);
	else if (r)
		reply_keeper(r, m);
	free(x);
}

static void freeze_begin(struct request *r, struct cell *c)
{
	struct keep_msg m = { .type = KEEP_SLEEP, .flags = KEEP_SLEEP_NOW | KEEP_SLEEP_FREEZE };
	struct freeze_op *x;
	struct err f = { 0 };
	int err;

	if (cell_sleep_ask_frozen(c, &f) < 0) {
		reply_err(r, &f);
		return;
	}
	x = xalloc(sizeof(*x));
	x->d = r->d;
	strcpy(x->id, c->id);
	err = link_ask(c->keeper, &m, NULL, 0, froze, x);
	if (err == 0) {
		op_begin(r, &x->op);
		return;
	}
	free(x);
	cell_sleep_answered(c, false);
	reply_error(r, err == -EAGAIN ? ERR_OVERLOADED : ERR_ENDED,
		    err == -EAGAIN ? "the cell has too much to do" REMEDY "try again"
				   : "the cell has just ended");
}

void cell_sleep_post(struct request *r)
{
	static const struct field fields[] = { { "grace", FIELD_NUMBER, false },
					       { "freeze", FIELD_BOOL, false } };
	struct cell *c = request_cell(r);
	json_t *o = c ? request_json(r, fields, ARRAY_LEN(fields)) : NULL;
	struct err f = { 0 };
	bool freeze = json_is_true(json_object_get(o, "freeze"));
	int64_t grace;
	bool ok = o && request_grace(r, c, o, &grace);

	json_decref(o);
	if (!ok)
		return;
	if (freeze)
		freeze_begin(r, c);
	else if (cell_sleep(c, grace, &f) < 0)
		reply_err(r, &f);
	else if (c->state == CELL_SLEEPING)
		cell_reply(r, 200, c);
	else
		sleep_wait(r, c);
}

/* One that slept is awake by now (ROUTE_WAKES). */
void cell_wake_post(struct request *r)
{
	static const char *const names[] = { "for", NULL };
	struct cell *c = request_query_only(r, names) ? request_cell(r) : NULL;

	if (c && !c->keeper)
		reply_error(r, ERR_WRONG_STATE,
			    "the cell does not sleep; it is %s" REMEDY "'viv start' starts it",
			    cell_state_name(c->state));
	else if (c)
		cell_reply(r, 200, c);
}

/* ---- what the keeper does ---- */

struct keeper_op {
	struct op op;
	struct daemon *d;
	char id[CELL_ID_LEN + 1];
	enum cell_input in; /* what it means for the state; CELL_INPUTS: nothing */
};

static void keeper_did(void *arg, const struct keep_msg *m, int *fds, unsigned nfds)
{
	struct keeper_op *x = arg;
	struct request *r = op_end(&x->op);
	struct cell *c = cell_by_id(x->d, x->id);

	(void)fds;
	(void)nfds;
	if (m && m->type == KEEP_OK) {
		/* Its event may have told so already. */
		if (c && x->in < CELL_INPUTS && cell_state_next(c->state, x->in) != CELL_NONE)
			cell_move(c, x->in, NULL);
		if (r && c)
			cell_reply(r, 200, c);
		else if (r)
			reply_nothing(r);
	} else if (r) {
		reply_keeper(r, m);
	}
	free(x);
}

static void keeper_begin(struct request *r, struct cell *c, struct keep_msg m, enum cell_input in)
{
	struct keeper_op *x = xalloc(sizeof(*x));

	x->d = r->d;
	strcpy(x->id, c->id);
	x->in = in;
	request_ask(r, c, &m, NULL, 0, keeper_did, &x->op);
}

static void pause_begin(struct request *r, uint32_t type, enum cell_input in)
{
	struct cell *c = request_live(r);

	if (!c)
		return;
	if (cell_state_next(c->state, in) == CELL_NONE)
		reply_error(r, ERR_WRONG_STATE, "a cell that is %s cannot be asked to %s",
			    cell_state_name(c->state), cell_input_name(in));
	else
		keeper_begin(r, c, (struct keep_msg){ .type = type }, in);
}

void cell_pause_post(struct request *r)
{
	pause_begin(r, KEEP_PAUSE, IN_PAUSE);
}

void cell_resume_post(struct request *r)
{
	pause_begin(r, KEEP_RESUME, IN_RESUME);
}

/* A signal to the first process. */
void cell_kill_post(struct request *r)
{
	static const struct field fields[] = { { "signal", FIELD_INT, false } };
	struct cell *c = request_live(r);
	json_t *o = c ? request_json(r, fields, ARRAY_LEN(fields)) : NULL;
	json_int_t sig = SIGKILL;

	if (!o)
		return;
	if (json_object_get(o, "signal"))
		sig = json_integer_value(json_object_get(o, "signal"));
	json_decref(o);
	if (sig < 1 || sig > 64)
		reply_error(r, ERR_INVALID, "'signal' is a number between 1 and 64");
	else
		keeper_begin(r, c,
			     (struct keep_msg){
				     .type = KEEP_SIGNAL, .proc = KEEP_FIRST, .a = (int)sig },
			     CELL_INPUTS);
}

/* ---- names ---- */

struct renaming {
	struct op op;
	uv_work_t work;
	struct cell *c;
	char name[CELL_NAME_LEN + 1];
	char before[CELL_NAME_LEN + 1];
	int err;
	struct err e;
};

static void renaming_work(uv_work_t *w)
{
	struct renaming *x = w->data;
	struct store s;

	x->err = -EIO;
	if (store_open(&s, &x->e) < 0)
		return;
	x->err = named_rename(s.fd, NAMED_CELL, x->before, x->name);
	if (x->err)
		named_failed("cell", x->err == -EEXIST ? x->name : x->before, x->err, &x->e);
	store_close(&s);
}

static void renaming_done(uv_work_t *w, int status)
{
	struct renaming *x = w->data;
	struct request *r = op_end(&x->op);
	struct err f = { 0 };

	(void)status;
	x->c->busy = false;
	cell_changed_soon(x->c);
	if (x->err)
		f = x->e;
	else
		cell_rename(x->c, x->name, &f);
	if (r && f.kind)
		reply_err(r, &f);
	else if (r)
		cell_reply(r, 200, x->c);
	free(x);
}

void cell_rename_post(struct request *r)
{
	static const struct field fields[] = { { "name", FIELD_TEXT, true } };
	struct cell *c = request_cell(r), *other;
	json_t *o = c ? request_json(r, fields, ARRAY_LEN(fields)) : NULL;
	const char *name = o ? json_text(o, "name") : NULL;
	const struct cell *parent = c ? family_parent(c) : NULL;
	char full[CELL_NAME_LEN + 1];
	struct err f = { 0 };
	struct renaming *x;

	if (!o)
		return;
	/* A child's name is its parent's to give. */
	if (r->rights.family && parent && cell_name_is_valid(name) &&
	    family_name(parent, name, full, &f) == 0)
		name = full;
	other = cell_by_name(r->d, name);
	if (f.kind) {
		reply_err(r, &f);
	} else if (!cell_name_is_valid(name)) {
		reply_error(r, ERR_INVALID, "this is not a valid name for a cell");
	} else if (other) {
		reply_error(r, ERR_EXISTS, "there is a cell '%s' already", name);
	} else if (!c->name[0] || cell_state_is_live(c->state) || c->busy || c->visit) {
		reply_error(r, ERR_WRONG_STATE,
			    !c->name[0] ? "a cell without a name keeps nothing and gets none"
					: "a cell is renamed while it does not run" REMEDY
					  "stop it first");
	} else {
		x = xalloc(sizeof(*x));
		x->c = c;
		c->busy = true;
		strcpy(x->name, name);
		strcpy(x->before, c->name);
		x->work.data = x;
		op_begin(r, &x->op);
		uv_queue_work(&r->d->loop, &x->work, renaming_work, renaming_done);
	}
	json_decref(o);
}
