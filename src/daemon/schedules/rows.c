/* Schedules in the database, and what clients ask for. Nothing of a schedule is kept in memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/schedules/clock.h"
#include "daemon/schedules/private.h"

#define COLUMNS "row,name,cell,spec,state,created,base,due,fire,fired,skipped,project"

static const char *const states[] = { "active", "paused", "finished" };

/* ---- reading ---- */

/* The row that q gives. */
static bool row_read(struct daemon *d, sqlite3_stmt *q, struct schedule *s)
{
	*s = (struct schedule){ .d = d };
	if (!db_next(q))
		return false;
	s->row = db_int(q, 0);
	snprintf(s->name, sizeof(s->name), "%s", db_text(q, 1));
	snprintf(s->cell, sizeof(s->cell), "%s", db_text(q, 2));
	s->spec = json_loads(db_text(q, 3), 0, NULL);
	if (!s->spec)
		s->spec = json_object();
	s->state = (enum schedule_state)MIN((uint64_t)db_int(q, 4), (uint64_t)SCHEDULE_FINISHED);
	s->created = db_int(q, 5);
	s->base = db_int(q, 6);
	s->due = db_int(q, 7);
	s->fire = db_int(q, 8);
	s->fired = db_int(q, 9);
	s->skipped = db_int(q, 10);
	snprintf(s->project, sizeof(s->project), "%s", db_text(q, 11));
	return true;
}

void schedule_fini(struct schedule *s)
{
	json_decref(s->spec);
	s->spec = NULL;
}

bool schedule_load(struct daemon *d, int64_t row, struct schedule *ret)
{
	sqlite3_stmt *q =
		db_query(&d->db, "SELECT " COLUMNS " FROM schedules WHERE row=?", "i", row);
	bool found = row_read(d, q, ret);

	db_done(q);
	return found;
}

/* -1: there is none of that name, or of that cell. */
static int find(struct daemon *d, const char *name, const char *cell, struct schedule *ret,
		struct err *e)
{
	sqlite3_stmt *q =
		db_query(&d->db, "SELECT " COLUMNS " FROM schedules WHERE name=?", "t", name);
	bool found = row_read(d, q, ret);

	db_done(q);
	if (found && (!*cell || !strcmp(cell, ret->cell)))
		return 0;
	schedule_fini(ret);
	return err_set(e, ERR_NOT_FOUND,
		       "there is no schedule '%.64s'" REMEDY "'viv cron ls' lists them", name);
}

void schedule_save(const struct schedule *s)
{
	db_run(&s->d->db, NULL,
	       "UPDATE schedules SET state=?,base=?,due=?,fire=?,fired=?,skipped=? WHERE row=?",
	       "iiiiiii", (int64_t)s->state, s->base, s->due, s->fire, s->fired, s->skipped,
	       s->row);
}

/* ---- showing ---- */

static json_t *schedule_json(const struct schedule *s)
{
	const struct cell *c = *s->cell ? cell_by_id(s->d, s->cell) : NULL;
	json_t *o = json_deep_copy(s->spec), *last;
	const char *zone = json_text(s->spec, "tz");
	int64_t queued, begun;
	struct tz z;
	struct err e;

	runs_count(s->d, s->row, &queued, &begun);
	json_object_set_new(o, "state", json_string(states[s->state]));
	json_object_set_new(o, "created", json_string(time_text(s->created).str));
	if (*s->project)
		json_object_set_new(o, "project", json_string(s->project));
	if (*s->cell)
		json_object_set_new(o, "cell", json_string(s->cell));
	if (c && c->name[0])
		json_object_set_new(o, "cell_name", json_string(c->name));
	if (s->due && zone && tz_load(zone, &z, &e) == 0)
		json_object_set_new(o, "next",
				    json_string(when_text(&z, s->due / NSEC_PER_SEC).str));
	json_object_set_new(o, "fired", json_integer(s->fired));
	json_object_set_new(o, "skipped", json_integer(s->skipped));
	json_object_set_new(o, "queued", json_integer(queued));
	json_object_set_new(o, "running", json_integer(begun));
	last = runs_json(s->d, s->row, 0, false);
	if (json_array_size(last))
		json_object_set(o, "last_run", json_array_get(last, 0));
	json_decref(last);
	return o;
}

json_t *schedule_get(struct daemon *d, const char *name, const char *cell, struct err *e)
{
	struct schedule s;
	json_t *o;

	if (find(d, name, cell, &s, e) < 0)
		return NULL;
	o = schedule_json(&s);
	schedule_fini(&s);
	return o;
}

json_t *schedules_list(struct daemon *d, const char *cell)
{
	sqlite3_stmt *q =
		db_query(&d->db, "SELECT row FROM schedules WHERE ?='' OR cell=? ORDER BY name",
			 "tt", cell, cell);
	json_t *list = json_array();
	struct buf rows = { 0 };

	while (db_next(q)) {
		int64_t row = db_int(q, 0);

		buf_add(&rows, &row, sizeof(row));
	}
	db_done(q);
	for (size_t i = 0; i < BUF_COUNT(&rows, int64_t); i++) {
		struct schedule s;

		if (schedule_load(d, *BUF_ITEM(&rows, int64_t, i), &s))
			json_array_append_new(list, schedule_json(&s));
		schedule_fini(&s);
	}
	buf_free(&rows);
	return list;
}

json_t *schedule_runs(struct daemon *d, const char *name, const char *cell, struct err *e)
{
	struct schedule s;
	json_t *list;

	if (find(d, name, cell, &s, e) < 0)
		return NULL;
	list = runs_json(d, s.row, -1, false);
	schedule_fini(&s);
	return list;
}

json_t *schedule_run_get(struct daemon *d, const char *name, const char *cell, int64_t id,
			 struct err *e)
{
	struct schedule s;
	json_t *list, *o;

	if (find(d, name, cell, &s, e) < 0)
		return NULL;
	list = runs_json(d, s.row, id, true);
	o = json_incref(json_array_get(list, 0));
	json_decref(list);
	schedule_fini(&s);
	if (!o)
		err_note(e, ERR_NOT_FOUND,
			 id ? "schedule '%.64s' has no run %lld, or it is not kept any more"
			    : "schedule '%.64s' has not run yet",
			 name, (long long)id);
	return o;
}

/* ---- changing ---- */

static int64_t count(struct daemon *d)
{
	sqlite3_stmt *q = db_query(&d->db, "SELECT count(*) FROM schedules", "");
	int64_t n = db_next(q) ? db_int(q, 0) : 0;

	db_done(q);
	return n;
}

/* Makes room: the oldest one-shot that is over goes. */
static void finished_drop(struct daemon *d)
{
	sqlite3_stmt *q =
		db_query(&d->db, "SELECT row FROM schedules WHERE state=2 ORDER BY row LIMIT 1",
			 "");
	int64_t row = db_next(q) ? db_int(q, 0) : 0, queued = 0, begun = 0;

	db_done(q);
	if (row)
		runs_count(d, row, &queued, &begun);
	if (!row || queued || begun)
		return;
	db_run(&d->db, NULL, "DELETE FROM schedule_runs WHERE schedule=?", "i", row);
	db_run(&d->db, NULL, "DELETE FROM schedules WHERE row=?", "i", row);
}

static void event(const struct schedule *s, const char *type)
{
	event_add(s->d, type, *s->cell ? s->cell : NULL, json_pack("{s:s}", "schedule", s->name));
}

static int insert(struct schedule *s, struct err *e)
{
	struct daemon *d = s->d;
	char *text = json_dumps(s->spec, JSON_COMPACT);
	int r;

	db_begin(&d->db);
	if (count(d) >= SCHEDULES_MAX)
		finished_drop(d);
	db_run(&d->db, e,
	       "INSERT INTO schedules(name,cell,spec,state,created,base,due,fire) "
	       "VALUES(?,?,?,0,?,?,"
	       "?,?)",
	       "tttiiii", s->name, s->cell, text, s->created, s->base, s->due, s->fire);
	event(s, "cron.added");
	r = db_end(&d->db, e);
	free(text);
	return r;
}

json_t *schedule_add(struct daemon *d, json_t *spec, struct err *e)
{
	struct schedule s = { .d = d, .spec = spec };
	struct err unused;
	struct schedule other;
	json_t *o = NULL;

	if (spec_check(d, spec, &s, e) < 0)
		goto out;
	if (find(d, s.name, "", &other, &unused) == 0) {
		schedule_fini(&other);
		err_note(e, ERR_EXISTS,
			 "there is a schedule '%s' already" REMEDY
			 "choose another name, or remove it with 'viv cron rm'",
			 s.name);
		goto out;
	}
	s.created = time_now();
	s.base = schedule_now();
	if (s.due)
		s.fire = s.due;
	else
		schedule_next(&s, s.base);
	if (insert(&s, e) < 0)
		goto out;
	if (count(d) > SCHEDULES_MAX) {
		(void)!schedule_remove(d, s.name, "", true, &unused);
		err_note(e, ERR_TOO_MANY,
			 "there are %d schedules already" REMEDY "remove some with 'viv cron rm'",
			 SCHEDULES_MAX);
		goto out;
	}
	schedules_arm(d);
	o = schedule_get(d, s.name, "", e);
out:
	schedule_fini(&s);
	return o;
}

/* ---- of projects ---- */

json_t *schedules_declared(struct daemon *d, const char *project)
{
	sqlite3_stmt *q =
		db_query(&d->db, "SELECT name,source FROM schedules WHERE project=? ORDER BY name",
			 "t", project);
	json_t *o = json_object();

	while (*project && db_next(q))
		json_object_set_new(o, db_text(q, 0), json_string(db_text(q, 1)));
	db_done(q);
	return o;
}

void schedule_project(struct daemon *d, const char *name, char ret[CELL_NAME_LEN + 1], bool *exists)
{
	struct schedule s;
	struct err unused;

	*exists = find(d, name, "", &s, &unused) == 0;
	snprintf(ret, CELL_NAME_LEN + 1, "%s", *exists ? s.project : "");
	schedule_fini(&s);
}

/* The row of an existing one says what the new one is. */
static int replace(struct schedule *s, const struct schedule *was, struct err *e)
{
	struct daemon *d = s->d;
	char *text = json_dumps(s->spec, JSON_COMPACT);
	bool paused = was->state == SCHEDULE_PAUSED;
	int r;

	if (paused && !json_text(s->spec, "at"))
		s->due = 0;
	if (paused)
		s->fire = 0;
	db_begin(&d->db);
	db_run(&d->db, e,
	       "UPDATE schedules SET cell=?,spec=?,state=?,base=?,due=?,fire=? WHERE row=?",
	       "ttiiiii", s->cell, text, (int64_t)(paused ? SCHEDULE_PAUSED : SCHEDULE_ACTIVE),
	       s->base, s->due, s->fire, was->row);
	event(s, "cron.changed");
	r = db_end(&d->db, e);
	free(text);
	return r;
}

static int change(struct daemon *d, json_t *spec, const struct schedule *was, struct err *e)
{
	struct schedule s = { .d = d, .spec = spec };
	int r = spec_check(d, spec, &s, e);

	if (!r) {
		s.base = schedule_now();
		if (s.due)
			s.fire = s.due;
		else
			schedule_next(&s, s.base);
		r = replace(&s, was, e);
	}
	schedule_fini(&s);
	if (!r)
		schedules_arm(d);
	return r;
}

int schedule_declare(struct daemon *d, const char *project, json_t *spec, const char *source,
		     struct err *e)
{
	char name[SCHEDULE_NAME_MAX + 1];
	struct schedule was;
	struct err unused;
	json_t *made = NULL;
	int r;

	snprintf(name, sizeof(name), "%s", json_text(spec, "name"));
	/* Its row and whose it is are written together. */
	db_begin(&d->db);
	if (find(d, name, "", &was, &unused) < 0)
		r = (made = schedule_add(d, spec, e)) ? 0 : -1;
	else
		r = change(d, spec, &was, e);
	json_decref(made);
	schedule_fini(&was);
	if (!r)
		db_run(&d->db, e, "UPDATE schedules SET project=?,source=? WHERE name=?", "ttt",
		       project, source, name);
	return db_end(&d->db, e) < 0 ? -1 : r;
}

int schedule_remove(struct daemon *d, const char *name, const char *cell, bool force, struct err *e)
{
	int64_t queued, begun;
	struct schedule s;
	int r;

	if (find(d, name, cell, &s, e) < 0)
		return -1;
	runs_count(d, s.row, &queued, &begun);
	if (!force && queued + begun) {
		schedule_fini(&s);
		return err_set(e, ERR_IN_USE,
			       "schedule '%s' runs" REMEDY
			       "wait for its end, or remove it with --force, which ends it",
			       name);
	}
	db_begin(&d->db);
	db_run(&d->db, NULL, "DELETE FROM schedule_runs WHERE schedule=?", "i", s.row);
	db_run(&d->db, NULL, "DELETE FROM schedules WHERE row=?", "i", s.row);
	event(&s, "cron.removed");
	r = db_end(&d->db, e);
	if (!r) {
		runs_end(d, s.row);
		schedules_arm(d);
	}
	schedule_fini(&s);
	return r;
}

int schedule_pause(struct daemon *d, const char *name, const char *cell, bool pause, struct err *e)
{
	int64_t now = schedule_now();
	struct schedule s;
	int r = 0;

	if (find(d, name, cell, &s, e) < 0)
		return -1;
	if (s.state == SCHEDULE_FINISHED) {
		err_note(e, ERR_WRONG_STATE, "schedule '%s' has fired, and will not again", name);
		r = -1;
	} else if (pause != (s.state == SCHEDULE_PAUSED)) {
		s.state = pause ? SCHEDULE_PAUSED : SCHEDULE_ACTIVE;
		s.base = now;
		if (json_text(s.spec, "at")) /* late, if its time has passed meanwhile */
			s.fire = pause ? 0 : s.due;
		else if (pause)
			s.due = s.fire = 0;
		else
			schedule_next(&s, now);
		db_begin(&d->db);
		schedule_save(&s);
		event(&s, pause ? "cron.paused" : "cron.resumed");
		r = db_end(&d->db, e);
		schedules_arm(d);
	}
	schedule_fini(&s);
	return r;
}

json_t *schedule_run_now(struct daemon *d, const char *name, const char *cell, struct err *e)
{
	int64_t queued, begun, id = 0;
	struct schedule s;
	json_t *list = NULL, *o = NULL;

	if (find(d, name, cell, &s, e) < 0)
		return NULL;
	runs_count(d, s.row, &queued, &begun);
	if (spec_overlap(s.spec) == OVERLAP_SKIP && queued + begun)
		err_note(e, ERR_BUSY, "schedule '%s' runs already" REMEDY "wait for its end", name);
	else if (queued >= SCHEDULE_QUEUE_MAX)
		err_note(e, ERR_TOO_MANY, "%lld runs of schedule '%s' wait already",
			 (long long)queued, name);
	if (!e->kind) {
		db_begin(&d->db);
		id = run_add(&s, "manual", schedule_now());
		s.fired++;
		schedule_save(&s);
		if (db_end(&d->db, e) < 0)
			id = 0;
	}
	if (id) {
		runs_kick(d);
		list = runs_json(d, s.row, id, false);
		o = json_incref(json_array_get(list, 0));
		json_decref(list);
	}
	schedule_fini(&s);
	return o;
}
