/* Runs: from the row that a due time made to the row of its end.
 *
 * QUEUED: written with the time that fired. STARTING: written before the action does anything;
 * what the action has to know to go on after a restart (its own "live" object) is written with it,
 * each time before the step that it describes. RUNNING: its process, prompt or cell is known. DONE,
 * FAILED: with exit code, error and the end of its output, in one transaction with the event.
 *
 * Runs of one schedule begin one after the other, unless its overlap is "allow"; times that were
 * missed always do. At most SCHEDULE_ACTIVE_MAX are under way, the others wait. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/log.h"
#include "base/utf8.h"
#include "daemon/cells/life.h"
#include "daemon/cells/sleep.h"
#include "daemon/schedules/private.h"
#include "keeper/log.h"

#define RETRY_MS 5000
#define STOPPING_MS 500
#define LOG_ROUNDS 4096 /* records that are looked at for the end of an output */

static const char *const states[] = { "queued", "starting", "running", "done", "failed" };

static struct list runs = LIST_INIT(runs);
static unsigned nruns;
static uv_timer_t kick;
static bool kicked, kick_again;

/* ---- one run ---- */

static void timer_closed(uv_handle_t *h)
{
	free(h);
}

static void on_timer(uv_timer_t *t)
{
	struct cron_run *r = t->data;

	r->timer_fn(r);
}

/* ms < 0: off. */
static void run_timer(struct cron_run *r, int64_t ms, void (*fn)(struct cron_run *r))
{
	if (!r->timer && ms >= 0) {
		r->timer = xalloc(sizeof(*r->timer));
		uv_timer_init(&r->d->loop, r->timer);
		r->timer->data = r;
	}
	r->timer_fn = fn;
	if (ms >= 0)
		uv_timer_start(r->timer, on_timer, (uint64_t)ms, 0);
	else if (r->timer)
		uv_timer_stop(r->timer);
}

static void run_free(struct cron_run *r)
{
	r->action->forget(r);
	run_wait_end(r);
	if (r->timer)
		uv_close((uv_handle_t *)r->timer, timer_closed);
	list_remove(&r->link);
	nruns--;
	json_decref(r->spec);
	json_decref(r->live);
	json_decref(r->result);
	buf_free(&r->output);
	free(r);
}

int64_t run_left(const struct cron_run *r)
{
	int64_t timeout = spec_ns(r->spec, "timeout");

	return timeout ? MAX(timeout - (time_now() - r->started), NSEC_PER_SEC / 1000) : 0;
}

static void time_up(struct cron_run *r)
{
	r->timed_out = r->stopping = true;
	run_timer(r, RETRY_MS, time_up); /* until it has ended */
	r->action->stop(r);
}

static void time_limit(struct cron_run *r)
{
	int64_t left = run_left(r);

	run_timer(r, left ? left / 1000000 + 1 : -1, time_up);
}

static void try_again(struct cron_run *r)
{
	time_limit(r);
	r->action->step(r);
}

void run_later(struct cron_run *r)
{
	run_timer(r, RETRY_MS, try_again);
}

int run_save(struct cron_run *r, enum run_state state)
{
	char *text = json_dumps(r->live, JSON_COMPACT);
	int n = db_run(&r->d->db, NULL,
		       "UPDATE schedule_runs SET state=?,started=?,live=? WHERE id=?", "iiti",
		       (int64_t)state, r->started, text, r->id);

	free(text);
	if (n < 0)
		return -1;
	r->state = state;
	return 0;
}

/* ---- waiting for a cell ---- */

static void on_cell(struct cell_wait *w, struct cell *c, bool gone)
{
	struct cron_run *r = container_of(w, struct cron_run, wait);
	struct err e = { 0 };

	(void)c;
	if (gone) {
		r->waits = false;
		err_note(&e, ERR_NOT_FOUND, "the cell was removed");
		run_end(r, -1, &e);
	} else if (!r->asked && !r->result) {
		r->action->step(r);
	}
}

void run_wait_end(struct cron_run *r)
{
	struct cell *c = r->holds ? cell_by_id(r->d, r->cell) : NULL;

	if (r->waits)
		cell_wait_remove(&r->wait);
	r->waits = false;
	if (c)
		cell_hold(c, -1);
	r->holds = false;
}

struct cell *run_cell(struct cron_run *r, bool start)
{
	struct cell *c = cell_by_id(r->d, r->cell);
	struct err e = { 0 };
	bool waited;

	if (!c) {
		err_note(&e, ERR_NOT_FOUND, "the cell is gone");
		run_end(r, -1, &e);
		return NULL;
	}
	/* Whoever stops it may want to remove it: it is not started as soon as it has ended. */
	if (start && !r->waits && c->state == CELL_STOPPING && c->sleep == SLEEP_NO) {
		run_timer(r, STOPPING_MS, try_again);
		return NULL;
	}
	waited = r->waits;
	if (!r->waits)
		cell_wait_add(c, &r->wait, on_cell);
	r->waits = true;
	if (c->sleep != SLEEP_NO)
		return NULL; /* it sleeps or wakes in a moment */
	if (c->state == CELL_RUNNING && c->keeper) {
		/* It does not fall asleep before the command is there. */
		if (!r->holds)
			cell_hold(c, 1);
		r->holds = true;
		return c;
	}
	if (c->state == CELL_PAUSED && c->keeper)
		err_note(&e, ERR_WRONG_STATE, "the cell is paused" REMEDY "resume it");
	else if (cell_state_is_live(c->state))
		return NULL; /* it will be told */
	else if (!start)
		err_note(&e, ERR_ENDED, "the cell ended while the command ran");
	else if (waited && c->reason == REASON_ASKED)
		err_note(&e, ERR_ENDED, "the cell was stopped before the command was started");
	else if (r->tried)
		cell_start_error(c, "the cell could not start", &e);
	else {
		r->tried = true;
		if (cell_wake_begin(c, "cron", &e) == 0)
			return NULL;
		/* It is being changed, or the disk is full: that has an end. */
		if (e.kind == ERR_BUSY || e.kind == ERR_STORAGE) {
			r->tried = false;
			run_later(r);
			return NULL;
		}
	}
	run_end(r, -1, &e);
	return NULL;
}

/* ---- output ---- */

void run_output(struct cron_run *r, const char *data, size_t n)
{
	size_t most = SCHEDULE_OUTPUT_MAX;

	if (n > most) {
		data += n - most;
		n = most;
	}
	if (r->output.len + n > most) {
		size_t drop = r->output.len + n - most;

		memmove(r->output.p, r->output.p + drop, r->output.len - drop);
		r->output.len -= drop;
	}
	buf_add(&r->output, data, n);
}

void run_output_log(struct cron_run *r, const char *cell, uint32_t proc)
{
	struct log_reader *l = xalloc(sizeof(*l));

	if (log_reader_open(l, cell, proc, LOG_OLDEST) == 0) {
		r->output.len = 0;
		for (unsigned i = 0; i < LOG_ROUNDS; i++) {
			int some = log_reader_next(l);

			if (!some)
				break;
			if (some != 1)
				continue;
			run_output(r, l->data + l->given, l->len - l->given);
			log_reader_take(l, l->len - l->given);
		}
		log_reader_close(l);
	}
	free(l);
}

/* ---- the end ---- */

static void history_cut(struct cron_run *r)
{
	db_run(&r->d->db, NULL,
	       "DELETE FROM schedule_runs WHERE schedule=? AND state>=3 AND id NOT IN (SELECT id "
	       "FROM schedule_runs WHERE schedule=? AND state>=3 ORDER BY id DESC LIMIT ?)",
	       "iii", r->schedule, r->schedule, spec_history(r->spec));
	db_run(&r->d->db, NULL,
	       "DELETE FROM schedule_runs WHERE state>=3 AND id IN (SELECT id FROM schedule_runs "
	       "WHERE state>=3 ORDER BY id LIMIT max(0,(SELECT count(*) FROM schedule_runs)-?))",
	       "i", (int64_t)SCHEDULE_RUNS_MAX);
}

static void end_again(struct cron_run *r);

/* False: it could not be written. */
static bool end_write(struct cron_run *r)
{
	struct daemon *d = r->d;
	const json_t *code = json_object_get(r->result, "exit_code");
	bool bad = json_object_get(r->result, "error") || r->timed_out ||
		   json_integer_value(code) != 0;
	char *text = json_dumps(r->result, JSON_COMPACT);
	json_t *data = json_deep_copy(r->result);

	json_object_set_new(data, "schedule", json_string(r->name));
	json_object_set_new(data, "run", json_integer(r->id));
	db_begin(&d->db);
	/* A schedule that was removed meanwhile has no row, and nobody to tell. */
	if (db_run(&d->db, NULL,
		   "UPDATE schedule_runs SET state=?,ended=?,result=?,output=? WHERE id=?", "iitbi",
		   (int64_t)(bad ? RUN_FAILED : RUN_DONE), time_now(), text,
		   r->output.len ? (void *)r->output.p : "", r->output.len, r->id) > 0) {
		event_add(d, bad ? "cron.failed" : "cron.done", *r->cell ? r->cell : NULL,
			  json_incref(data));
		history_cut(r);
	}
	json_decref(data);
	free(text);
	if (db_end(&d->db, NULL) < 0) {
		run_timer(r, RETRY_MS, end_again); /* there may be room on the disk later */
		return false;
	}
	run_free(r);
	runs_kick(d);
	return true;
}

static void end_again(struct cron_run *r)
{
	(void)!end_write(r);
}

bool run_end(struct cron_run *r, int exit_code, const struct err *e)
{
	if (r->result)
		return false;
	r->action->forget(r);
	run_wait_end(r);
	r->result = json_object();
	if (exit_code >= 0)
		json_object_set_new(r->result, "exit_code", json_integer(exit_code));
	if (r->timed_out)
		json_object_set_new(r->result, "timed_out", json_true());
	if (e && e->kind)
		json_object_set_new(r->result, "error", json_err(e));
	return end_write(r);
}

/* ---- beginning ---- */

/* Begins a run, or goes on with one, of the row in q. */
static struct cron_run *run_new(struct daemon *d, sqlite3_stmt *q)
{
	struct cron_run *r = xalloc(sizeof(*r));
	struct schedule s;

	r->d = d;
	r->id = db_int(q, 0);
	r->schedule = db_int(q, 1);
	r->state = (enum run_state)db_int(q, 2);
	r->started = db_int(q, 3);
	r->live = json_loads(db_text(q, 4), 0, NULL);
	if (!r->live)
		r->live = json_object();
	list_init(&r->link);
	if (schedule_load(d, r->schedule, &s) && (r->action = action_of(s.spec))) {
		strcpy(r->name, s.name);
		strcpy(r->cell, s.cell);
		r->spec = json_incref(s.spec);
		list_append(&runs, &r->link);
		nruns++;
	} else {
		json_decref(r->live);
		free(r);
		r = NULL;
	}
	schedule_fini(&s);
	return r;
}

static bool is_active(int64_t schedule)
{
	struct cron_run *r;

	list_for_each(r, &runs, link)
		if (r->schedule == schedule)
			return true;
	return false;
}

/* The oldest run of a schedule that waits. False: it has to wait on, or there is none. */
static bool run_begin(struct daemon *d, int64_t schedule)
{
	sqlite3_stmt *q = db_query(&d->db,
				   "SELECT id,schedule,state,started,live,reason FROM "
				   "schedule_runs WHERE schedule=? AND state=0 ORDER BY id LIMIT 1",
				   "i", schedule);
	struct cron_run *r = NULL;
	bool active = is_active(schedule), late = false;

	if (nruns < SCHEDULE_ACTIVE_MAX && db_next(q)) {
		late = !strcmp(db_text(q, 5), "late");
		r = run_new(d, q);
	}
	db_done(q);
	if (!r)
		return false;
	r->started = time_now();
	if ((active && (late || spec_overlap(r->spec) != OVERLAP_ALLOW)) ||
	    run_save(r, RUN_STARTING) < 0) {
		kick_again |= !active; /* it could not be written */
		run_free(r);
		return false;
	}
	time_limit(r);
	r->action->step(r);
	return true;
}

static void on_kick(uv_timer_t *t)
{
	struct daemon *d = t->data;
	struct buf rows = { 0 };
	sqlite3_stmt *q;

	kick_again = false;
	if (d->ending)
		return;
	q = db_query(&d->db,
		     "SELECT min(id),schedule FROM schedule_runs WHERE state=0 GROUP BY schedule "
		     "ORDER BY 1",
		     "");
	while (db_next(q)) {
		int64_t row = db_int(q, 1);

		buf_add(&rows, &row, sizeof(row));
	}
	db_done(q);
	for (size_t i = 0; i < BUF_COUNT(&rows, int64_t); i++)
		while (run_begin(d, *BUF_ITEM(&rows, int64_t, i)))
			;
	buf_free(&rows);
	if (kick_again)
		uv_timer_start(t, on_kick, RETRY_MS, 0);
}

void runs_kick(struct daemon *d)
{
	if (!kicked) {
		uv_timer_init(&d->loop, &kick);
		kick.data = d;
		kicked = true;
	}
	uv_timer_start(&kick, on_kick, 0, 0);
}

int64_t run_add(const struct schedule *s, const char *reason, int64_t due)
{
	struct daemon *d = s->d;
	int64_t id;

	if (db_run(&d->db, NULL,
		   "INSERT INTO schedule_runs(schedule,reason,due,fired,state) VALUES(?,?,?,?,0)",
		   "itii", s->row, reason, due, time_now()) < 0)
		return 0;
	id = sqlite3_last_insert_rowid(d->db.sql);
	event_add(d, "cron.fired", *s->cell ? s->cell : NULL,
		  json_pack("{s:s,s:I,s:s,s:s}", "schedule", s->name, "run", (json_int_t)id,
			    "reason", reason, "due", time_text(due).str));
	return id;
}

void runs_resume(struct daemon *d)
{
	sqlite3_stmt *q = db_query(&d->db,
				   "SELECT id,schedule,state,started,live FROM schedule_runs WHERE "
				   "state IN (1,2) ORDER BY id",
				   "");
	struct cron_run *r, *tmp;

	while (db_next(q))
		run_new(d, q);
	db_done(q);
	list_for_each_safe(r, tmp, &runs, link) {
		time_limit(r);
		r->action->step(r);
	}
}

void runs_end(struct daemon *d, int64_t schedule)
{
	struct cron_run *r, *tmp;

	(void)d;
	list_for_each_safe(r, tmp, &runs, link)
		if (r->schedule == schedule && !r->result) {
			r->stopping = true;
			r->action->stop(r);
		}
}

void runs_close(struct daemon *d)
{
	struct cron_run *r, *tmp;

	(void)d;
	list_for_each_safe(r, tmp, &runs, link)
		run_free(r);
	if (kicked)
		uv_timer_stop(&kick);
}

/* ---- telling ---- */

void runs_count(struct daemon *d, int64_t schedule, int64_t *ret_queued, int64_t *ret_begun)
{
	sqlite3_stmt *q = db_query(&d->db,
				   "SELECT count(*),sum(state=0) FROM schedule_runs WHERE "
				   "schedule=? AND state<3",
				   "i", schedule);

	*ret_queued = *ret_begun = 0;
	if (db_next(q)) {
		*ret_queued = db_int(q, 1);
		*ret_begun = db_int(q, 0) - *ret_queued;
	}
	db_done(q);
}

static void output_add(json_t *o, const char *p, size_t n)
{
	struct buf coded = { 0 };

	/* It may begin in the middle of a character. */
	for (unsigned i = 0; i < 3 && n == SCHEDULE_OUTPUT_MAX && (*p & 0xc0) == 0x80; i++) {
		p++;
		n--;
	}
	if (text_is_utf8(p, n) && !memchr(p, '\0', n)) {
		json_object_set_new(o, "output", json_stringn(p, n));
		return;
	}
	base64_encode(buf_more(&coded, BASE64_SIZE(n)), p, n);
	json_object_set_new(o, "output_base64", json_stringn((char *)coded.p, coded.len));
	buf_free(&coded);
}

static json_t *row_json(sqlite3_stmt *q, bool output)
{
	json_t *o = json_loads(db_text(q, 7), 0, NULL);
	const char *p;
	size_t n;

	if (!o)
		o = json_object();
	json_object_set_new(o, "run", json_integer(db_int(q, 0)));
	json_object_set_new(o, "state",
			    json_string(
				    states[MIN((uint64_t)db_int(q, 1), ARRAY_LEN(states) - 1)]));
	json_object_set_new(o, "reason", json_string(db_text(q, 2)));
	json_object_set_new(o, "due", json_string(time_text(db_int(q, 3)).str));
	json_object_set_new(o, "fired", json_string(time_text(db_int(q, 4)).str));
	if (db_int(q, 5))
		json_object_set_new(o, "started", json_string(time_text(db_int(q, 5)).str));
	if (db_int(q, 6))
		json_object_set_new(o, "ended", json_string(time_text(db_int(q, 6)).str));
	if (output) {
		p = db_blob(q, 8, &n);
		output_add(o, p, n);
	}
	return o;
}

/* id: that one; 0: the newest; -1: all. */
json_t *runs_json(struct daemon *d, int64_t schedule, int64_t id, bool output)
{
	sqlite3_stmt *q;
	struct cron_run *r;
	json_t *list = json_array();

	/* Of one that runs, what it has written so far. */
	if (output)
		list_for_each(r, &runs, link)
			if (r->schedule == schedule && r->id >= id && r->action->peek)
				r->action->peek(r);
	q = db_query(&d->db,
		     "SELECT id,state,reason,due,fired,started,ended,result,output FROM "
		     "schedule_runs WHERE schedule=? AND (?<=0 OR id=?) ORDER BY id DESC LIMIT ?",
		     "iiii", schedule, id, id,
		     (int64_t)(id < 0 ? SCHEDULE_HISTORY_MAX + SCHEDULE_QUEUE_MAX : 1));
	while (db_next(q)) {
		json_t *o = row_json(q, output);

		list_for_each(r, &runs, link)
			if (output && r->id == db_int(q, 0) && r->output.len)
				output_add(o, (char *)r->output.p, r->output.len);
		json_array_append_new(list, o);
	}
	db_done(q);
	return list;
}
