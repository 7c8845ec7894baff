/* Runs of programs (workflows.h): a program outside runs the steps, vivd keeps what they gave.
 *
 * The program makes a run, or finds the one with its id; claims a step by its name; does it; says
 * how it ended. A step that is done is not claimed any more: its result is the answer. A claim is a
 * lease with an end: a program that was killed loses it then, and another one, or the same after
 * its start, claims the step again. Whoever has no lease any more cannot finish the step. Nothing
 * here has a timer: an old lease is found when somebody claims. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/state/fields.h"
#include "daemon/workflows/private.h"

#define CODE_STEPS 10000 /* of a run */
#define STEP_NAME_MAX 200

/* The row of a program's run that is not over; 0: an error. */
static int64_t run_find(struct daemon *d, const char *text, char id[WF_ID_LEN + 1], bool over,
			struct err *e)
{
	sqlite3_stmt *q;
	int64_t row = 0;

	if (run_id_find(d, text, id, e) < 0)
		return 0;
	q = db_query(&d->db, "SELECT row,code,state FROM workflow_runs WHERE id=?", "t", id);
	if (!db_next(q))
		err_note(e, ERR_NOT_FOUND, "there is no workflow run '%s'", id);
	else if (!db_int(q, 1))
		err_note(e, ERR_WRONG_STATE, "run %s is that of a file, which vivd runs itself",
			 id);
	else if (!over && db_int(q, 2) >= WF_RUN_DONE)
		err_note(e, ERR_WRONG_STATE, "run %s is %s", id,
			 wf_run_state_name(
				 (enum wf_run_state)MIN(db_int(q, 2), (int64_t)WF_RUN_CANCELLED)));
	else
		row = db_int(q, 0);
	db_done(q);
	return row;
}

static bool name_is_valid(const char *s, size_t max)
{
	size_t n = strlen(s);

	if (!n || n > max)
		return false;
	for (const char *p = s; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 127)
			return false;
	return true;
}

static int root_insert(struct daemon *d, int64_t row, struct err *e)
{
	return db_run(&d->db, e,
		      "INSERT INTO workflow_steps(run,path,n,over_n,idx,kind,state,attempt,started,"
		      "ended,due,live,result,error) VALUES(?,'',1,0,0,?,?,1,?,0,0,'{}','','')",
		      "iiii", row, (int64_t)WF_CODE, (int64_t)WF_RUNNING, time_now());
}

int code_start(struct daemon *d, const char *id, const char *name, json_t *inputs, char ret_id[17],
	       struct err *e)
{
	struct wf_run r = { .arg = d, .inputs = inputs ? inputs : json_object() };
	sqlite3_stmt *q;
	bool found;
	int ret = -1;

	if (id && (strlen(id) != WF_ID_LEN || strspn(id, "0123456789abcdef") != WF_ID_LEN))
		err_note(e, ERR_INVALID, "the id of a run has %d lower-case hex digits", WF_ID_LEN);
	else if (!name_is_valid(name, WF_NAME_MAX))
		err_note(e, ERR_INVALID, "the name of a workflow has 1 to %d characters",
			 WF_NAME_MAX);
	else if (json_dumpb(r.inputs, NULL, 0, JSON_COMPACT) > WF_INPUT_BYTES)
		err_note(e, ERR_TOO_LARGE, "the inputs have more than %u bytes", WF_INPUT_BYTES);
	if (e->kind) {
		json_decref(r.inputs);
		return -1;
	}
	if (id)
		strcpy(r.id, id);
	else
		random_hex(r.id, WF_ID_LEN / 2);
	strcpy(ret_id, r.id);
	q = db_query(&d->db, "SELECT name,code FROM workflow_runs WHERE id=?", "t", r.id);
	found = db_next(q);
	if (found && (!db_int(q, 1) || strcmp(db_text(q, 0), name)))
		err_note(e, ERR_CONFLICT, "run %s is one of another workflow", r.id);
	db_done(q);
	if (found || runs_room(d, e) < 0) {
		json_decref(r.inputs);
		return e->kind ? -1 : 0;
	}
	r.name = (char *)(uintptr_t)name;
	r.created = time_now();
	db_begin(&d->db);
	if (run_insert(&r, true, "program", e) == 0 && root_insert(d, r.row, e) > 0)
		rows_told(&r, NULL, "started");
	ret = db_end(&d->db, e);
	json_decref(r.inputs);
	return ret;
}

/* ---- steps ---- */

struct step {
	bool found;
	int64_t n, attempt, started, due;
	enum wf_state state;
	char lease[33];
	json_t *result; /* NULL: none */
	json_t *error;
};

static void step_read(struct daemon *d, int64_t row, const char *name, struct step *s)
{
	sqlite3_stmt *q = db_query(&d->db,
				   "SELECT n,attempt,started,due,state,live,result,error FROM "
				   "workflow_steps WHERE run=? AND path=?",
				   "it", row, name);
	json_t *live;

	memset(s, 0, sizeof(*s));
	s->found = db_next(q);
	if (s->found) {
		live = json_of(db_text(q, 5));
		s->n = db_int(q, 0);
		s->attempt = db_int(q, 1);
		s->started = db_int(q, 2);
		s->due = db_int(q, 3);
		s->state = (enum wf_state)MIN(db_int(q, 4), (int64_t)WF_CANCELLED);
		snprintf(s->lease, sizeof(s->lease), "%s",
			 json_text(live, "lease") ? json_text(live, "lease") : "");
		s->result = json_of(db_text(q, 6));
		s->error = json_of(db_text(q, 7));
		json_decref(live);
	}
	db_done(q);
}

static void step_free(struct step *s)
{
	json_decref(s->result);
	json_decref(s->error);
}

static int64_t steps_count(struct daemon *d, int64_t row)
{
	sqlite3_stmt *q =
		db_query(&d->db, "SELECT count(*) FROM workflow_steps WHERE run=?", "i", row);
	int64_t n = db_next(q) ? db_int(q, 0) : 0;

	db_done(q);
	return n;
}

static int64_t lease_end(double seconds)
{
	return time_now() + (int64_t)(seconds * (double)NSEC_PER_SEC);
}

static int step_write(struct daemon *d, int64_t row, const char *name, struct step *s,
		      double seconds, struct err *e)
{
	char live[64];

	random_hex(s->lease, 16);
	snprintf(live, sizeof(live), "{\"lease\":\"%s\"}", s->lease);
	s->attempt++;
	s->started = time_now();
	s->due = lease_end(seconds);
	return db_run(&d->db, e,
		      "INSERT OR REPLACE INTO "
		      "workflow_steps(run,path,n,over_n,idx,kind,state,attempt,"
		      "started,ended,due,live,result,error) VALUES(?,?,?,0,0,?,?,?,?,0,?,?,'','')",
		      "itiiiiiit", row, name, s->n, (int64_t)WF_CODE, (int64_t)WF_RUNNING,
		      s->attempt, s->started, s->due, live) < 0
		       ? -1
		       : 0;
}

json_t *code_claim(struct daemon *d, const char *text, const char *step, double lease,
		   struct err *e)
{
	char id[WF_ID_LEN + 1], key[65];
	int64_t row = run_find(d, text, id, false, e);
	struct wf_run run = { 0 };
	struct wf_node node = { .run = &run, .path = (char *)(uintptr_t)step };
	json_t *ret = NULL;
	struct step s;

	if (!row)
		return NULL;
	if (!name_is_valid(step, STEP_NAME_MAX)) {
		err_note(e, ERR_INVALID, "the name of a step has 1 to %d characters",
			 STEP_NAME_MAX);
		return NULL;
	}
	strcpy(run.id, id);
	step_key(&node, key);
	step_read(d, row, step, &s);
	if (s.found && s.state == WF_DONE) {
		json_t *output = json_object_get(s.result, "output");

		ret = json_pack("{s:s,s:O,s:I}", "state", "done", "output",
				output ? output : json_null(), "attempt", (json_int_t)s.attempt);
	} else if (s.found && s.state == WF_FAILED) {
		ret = json_pack("{s:s,s:O?,s:I}", "state", "failed", "error", s.error, "attempt",
				(json_int_t)s.attempt);
	} else if (s.found && s.state == WF_RUNNING && s.due > time_now()) {
		err_note(e, ERR_IN_USE, "somebody else has the step until %s",
			 time_text(s.due).str);
	} else if (!s.found && steps_count(d, row) >= CODE_STEPS) {
		err_note(e, ERR_TOO_MANY, "the run has %d steps already", CODE_STEPS);
	} else {
		if (!s.found)
			s.n = steps_count(d, row) + 1;
		if (step_write(d, row, step, &s, lease, e) == 0)
			ret = json_pack("{s:s,s:s,s:s,s:I,s:s}", "state", "claimed", "lease",
					s.lease, "until", time_text(s.due).str, "attempt",
					(json_int_t)s.attempt, "key", key);
	}
	step_free(&s);
	return ret;
}

/* The step of a lease that counts; false: an error. */
static bool lease_check(struct daemon *d, int64_t row, const char *step, const char *lease,
			struct step *s, struct err *e)
{
	step_read(d, row, step, s);
	if (s->found && s->state == WF_RUNNING && lease && !strcmp(s->lease, lease))
		return true;
	step_free(s);
	err_note(e, ERR_CONFLICT, "the step is not claimed with this lease any more");
	return false;
}

int code_renew(struct daemon *d, const char *text, const char *step, const char *lease,
	       double seconds, struct err *e)
{
	char id[WF_ID_LEN + 1];
	int64_t row = run_find(d, text, id, false, e);
	struct step s;

	if (!row || !lease_check(d, row, step, lease, &s, e))
		return -1;
	step_free(&s);
	return db_run(&d->db, e, "UPDATE workflow_steps SET due=? WHERE run=? AND path=?", "iit",
		      lease_end(seconds), row, step) < 0
		       ? -1
		       : 0;
}

static json_t *error_json(const char *text)
{
	struct err e;

	err_note(&e, ERR_FAILED, "%s", text);
	return json_err(&e);
}

/* The bytes of all results so far. */
static int64_t bytes_count(struct daemon *d, int64_t row)
{
	sqlite3_stmt *q =
		db_query(&d->db,
			 "SELECT coalesce(sum(length(result)),0) FROM workflow_steps WHERE run=?",
			 "i", row);
	int64_t n = db_next(q) ? db_int(q, 0) : 0;

	db_done(q);
	return n;
}

static void event_put(struct daemon *d, const char *type, const char *id, const char *step,
		      const char *state, const char *error)
{
	json_t *o = json_pack("{s:s}", "run", id);

	if (step)
		json_object_set_new(o, "step", json_clean(step));
	if (state)
		json_object_set_new(o, "state", json_string(state));
	if (error)
		json_object_set_new(o, "error", json_clean(error));
	event_add(d, type, NULL, o);
}

/* Writes the end of a step or (step "") of the run's root. */
static int end_write(struct daemon *d, int64_t row, const char *step, enum wf_state state,
		     json_t *output, const char *text, struct err *e)
{
	json_t *result = json_pack("{s:O}", "output", output ? output : json_null());
	json_t *error = text ? error_json(text) : NULL;
	char *r = json_dumps(result, JSON_COMPACT),
	     *f = error ? json_dumps(error, JSON_COMPACT) : NULL;
	int n = -1;

	if (!r || strlen(r) > WF_RESULT_MAX ||
	    bytes_count(d, row) + (int64_t)strlen(r) > WF_RUN_BYTES)
		err_note(e, ERR_TOO_LARGE,
			 "the result has more than %u bytes, or all have more than %u",
			 WF_RESULT_MAX, WF_RUN_BYTES);
	else
		n = db_run(&d->db, e,
			   "UPDATE workflow_steps SET "
			   "state=?,ended=?,due=0,live='{}',result=?,error=? "
			   "WHERE run=? AND path=?",
			   "iittit", (int64_t)state, time_now(), r, f ? f : "", row, step);
	free(r);
	free(f);
	json_decref(result);
	json_decref(error);
	return n < 0 ? -1 : 0;
}

int code_finish(struct daemon *d, const char *text, const char *step, const char *lease,
		json_t *output, const char *error, bool again, struct err *e)
{
	enum wf_state state = !error ? WF_DONE : again ? WF_RETRY : WF_FAILED;
	char id[WF_ID_LEN + 1];
	int64_t row = run_find(d, text, id, false, e);
	struct step s;

	if (!row || !lease_check(d, row, step, lease, &s, e)) {
		json_decref(output);
		return -1;
	}
	db_begin(&d->db);
	if (end_write(d, row, step, state, output, error, e) == 0) {
		db_run(&d->db, e,
		       "INSERT OR REPLACE INTO "
		       "workflow_attempts(run,path,attempt,state,started,ended,"
		       "error) VALUES(?,?,?,?,?,?,?)",
		       "itiiiit", row, step, s.attempt, (int64_t)(error ? WF_FAILED : WF_DONE),
		       s.started, time_now(), error ? error : "");
		event_put(d, "workflow.step", id, step, wf_state_name(state), error);
	}
	json_decref(output);
	step_free(&s);
	return db_end(&d->db, e) < 0 || e->kind ? -1 : 0;
}

int code_over(struct daemon *d, const char *text, json_t *output, const char *error, struct err *e)
{
	enum wf_run_state state = error ? WF_RUN_FAILED : WF_RUN_DONE;
	char id[WF_ID_LEN + 1];
	int64_t row = run_find(d, text, id, false, e);
	json_t *o = error ? error_json(error) : NULL;
	char *f = o ? json_dumps(o, JSON_COMPACT) : NULL;
	int ret = -1;

	if (row) {
		db_begin(&d->db);
		if (end_write(d, row, "", error ? WF_FAILED : WF_DONE, output, error, e) == 0) {
			db_run(&d->db, e,
			       "UPDATE workflow_runs SET state=?,ended=?,error=? WHERE row=?",
			       "iiti", (int64_t)state, time_now(), f ? f : "", row);
			event_put(d, error ? "workflow.failed" : "workflow.done", id, NULL, NULL,
				  error);
		}
		ret = db_end(&d->db, e) < 0 || e->kind ? -1 : 0;
	}
	if (ret == 0) {
		waits_tell(id);
		runs_trim(d);
	}
	free(f);
	json_decref(o);
	json_decref(output);
	return ret;
}
