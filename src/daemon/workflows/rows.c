/* See workflows.h: the rows of runs.
 *
 * workflow_runs has a row for each run, workflow_steps one for each node, workflow_attempts one for
 * each attempt of a step that is over. Values are JSON; whoever reads them takes them for what they
 * are: written by an older vivd, perhaps. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/log.h"
#include "daemon/state/fields.h"
#include "daemon/workflows/private.h"

json_t *json_of(const char *text)
{
	return *text ? json_loads(text, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL) : NULL;
}

/* Empty: none. The caller's. */
static char *text_of(const json_t *v)
{
	return v ? json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
}

struct daemon *run_daemon(const struct wf_run *r)
{
	return r->arg;
}

bool run_is_left(const struct wf_run *r)
{
	return r->lost || run_daemon(r)->ending;
}

/* ---- writing ---- */

void rows_begin(struct wf_run *r)
{
	db_begin(&run_daemon(r)->db);
}

int rows_end(struct wf_run *r)
{
	return db_end(&run_daemon(r)->db, NULL);
}

void rows_save(struct wf_node *n)
{
	struct db *db = &run_daemon(n->run)->db;
	char *live = text_of(n->live), *result = text_of(n->result), *error = text_of(n->error);

	db_run(db, NULL,
	       "INSERT OR REPLACE INTO workflow_steps(run,path,n,over_n,idx,kind,state,attempt,"
	       "started,ended,due,live,result,error) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
	       "itiiiiiiiiittt", n->run->row, n->path, n->n, n->over_n, n->index, (int64_t)n->kind,
	       (int64_t)n->state, (int64_t)n->attempt, n->started, n->ended, n->due,
	       live ? live : "", result ? result : "", error ? error : "");
	free(live);
	free(result);
	free(error);
}

void rows_save_run(struct wf_run *r)
{
	char *live = text_of(r->live), *error = text_of(r->error);

	db_run(&run_daemon(r)->db, NULL,
	       "UPDATE workflow_runs SET state=?,ended=?,undone=?,live=?,error=? WHERE row=?",
	       "iiitti", (int64_t)r->state, r->ended,
	       (int64_t)r->undone | (int64_t)r->cancelled << 1, live ? live : "",
	       error ? error : "", r->row);
	free(live);
	free(error);
}

void rows_attempt(struct wf_node *n)
{
	char *error = text_of(n->error);

	db_run(&run_daemon(n->run)->db, NULL,
	       "INSERT OR REPLACE INTO "
	       "workflow_attempts(run,path,attempt,state,started,ended,error) "
	       "VALUES(?,?,?,?,?,?,?)",
	       "itiiiit", n->run->row, n->path, (int64_t)n->attempt,
	       (int64_t)(n->state == WF_RETRY ? WF_FAILED : n->state), n->started, n->ended,
	       error ? error : "");
	free(error);
}

void rows_told(struct wf_run *r, const struct wf_node *n, const char *what)
{
	json_t *o = json_pack("{s:s,s:s}", "run", r->id, "workflow", r->name);
	char type[40];

	snprintf(type, sizeof(type), "workflow.%s", what);
	if (n) {
		json_object_set_new(o, "step", json_string(n->path));
		json_object_set_new(o, "state", json_string(wf_state_name(n->state)));
		json_object_set_new(o, "attempt", json_integer(n->attempt));
		if (n->error)
			json_object_set_new(o, "error",
					    json_string(json_text(n->error, "message")));
	} else if (r->error) {
		json_object_set_new(o, "error", json_string(json_text(r->error, "message")));
	}
	event_add(run_daemon(r), type, NULL, o);
}

int run_insert(struct wf_run *r, bool code, const char *by, struct err *e)
{
	struct db *db = &run_daemon(r)->db;
	char *doc = text_of(r->doc), *inputs = text_of(r->inputs);
	int n;

	n = db_run(db, e,
		   "INSERT INTO workflow_runs(id,name,code,by,doc,inputs,live,state,undone,created,"
		   "ended,error) VALUES(?,?,?,?,?,?,'{}',0,0,?,0,'')",
		   "ttittti", r->id, r->name, (int64_t)code, by, doc ? doc : "{}",
		   inputs ? inputs : "{}", r->created);
	free(doc);
	free(inputs);
	if (n <= 0)
		return -1;
	r->row = sqlite3_last_insert_rowid(db->sql);
	return 0;
}

/* ---- reading ---- */

#define STEP_COLUMNS "path,n,over_n,idx,kind,state,attempt,started,ended,due,live,result,error"

static bool nodes_read(struct wf_run *r)
{
	struct db *db = &run_daemon(r)->db;
	sqlite3_stmt *q =
		db_query(db, "SELECT " STEP_COLUMNS " FROM workflow_steps WHERE run=? ORDER BY n",
			 "i", r->row);
	bool good = true;

	while (good && db_next(q)) {
		struct wf_row row = { .path = db_text(q, 0),
				      .n = db_int(q, 1),
				      .over_n = db_int(q, 2),
				      .index = db_int(q, 3),
				      .kind = (enum wf_kind)db_int(q, 4),
				      .state = (enum wf_state)db_int(q, 5),
				      .attempt = (unsigned)db_int(q, 6),
				      .started = db_int(q, 7),
				      .ended = db_int(q, 8),
				      .due = db_int(q, 9),
				      .live = json_of(db_text(q, 10)),
				      .result = json_of(db_text(q, 11)),
				      .error = json_of(db_text(q, 12)) };

		good = wf_load(r, &row) != NULL;
	}
	db_done(q);
	return good;
}

struct wf_run *run_read(struct daemon *d, const char *id, const struct wf_ops *ops)
{
	sqlite3_stmt *q =
		db_query(&d->db,
			 "SELECT row,name,doc,inputs,live,state,undone,created,ended,error "
			 "FROM workflow_runs WHERE id=? AND code=0",
			 "t", id);
	struct wf_run *r = NULL;

	if (db_next(q)) {
		json_t *live = json_of(db_text(q, 4));

		r = wf_run_new(ops, d, db_text(q, 1), json_of(db_text(q, 2)),
			       json_of(db_text(q, 3)));
		snprintf(r->id, sizeof(r->id), "%s", id);
		r->row = db_int(q, 0);
		if (json_is_object(live)) {
			json_decref(r->live);
			r->live = json_incref(live);
		}
		json_decref(live);
		r->state = (enum wf_run_state)MIN(db_int(q, 5), (int64_t)WF_RUN_CANCELLED);
		r->undone = db_int(q, 6) & 1;
		r->cancelled = db_int(q, 6) & 2;
		r->created = db_int(q, 7);
		r->ended = db_int(q, 8);
		r->error = json_of(db_text(q, 9));
	}
	db_done(q);
	if (r && !nodes_read(r)) {
		log_warn("workflow run %s cannot be read", id);
		wf_run_free(r);
		return NULL;
	}
	return r;
}

int run_id_find(struct daemon *d, const char *text, char ret[WF_ID_LEN + 1], struct err *e)
{
	size_t n = strlen(text);
	sqlite3_stmt *q;
	unsigned found = 0;

	if (n < 4 || n > WF_ID_LEN || strspn(text, "0123456789abcdef") != n)
		return err_set(e, ERR_NOT_FOUND,
			       "there is no workflow run '%.40s'" REMEDY
			       "'viv workflow ls' lists them",
			       text);
	q = db_query(&d->db, "SELECT id FROM workflow_runs WHERE substr(id,1,?)=? LIMIT 2", "it",
		     (int64_t)n, text);
	while (db_next(q)) {
		found++;
		snprintf(ret, WF_ID_LEN + 1, "%s", db_text(q, 0));
	}
	db_done(q);
	if (found > 1)
		return err_set(e, ERR_AMBIGUOUS, "several workflow runs begin with '%s'", text);
	if (!found)
		return err_set(e, ERR_NOT_FOUND,
			       "there is no workflow run '%.40s'" REMEDY
			       "'viv workflow ls' lists them",
			       text);
	return 0;
}

/* ---- showing ---- */

static void time_set(json_t *o, const char *name, int64_t ns)
{
	json_object_set_new(o, name, ns ? json_string(time_text(ns).str) : json_null());
}

static void member_set(json_t *o, const char *name, const char *text)
{
	json_t *v = json_of(text);

	if (v)
		json_object_set_new(o, name, v);
}

/* A step; outputs: with what it gave. */
static json_t *step_json(sqlite3_stmt *q, bool outputs)
{
	static const char *const shown[] = { "cell", "approval", "session" };
	int64_t kind = MIN(db_int(q, 4), (int64_t)WF_KINDS - 1);
	int64_t state = MIN(db_int(q, 5), (int64_t)WF_STATES - 1);
	json_t *o =
		json_pack("{s:o,s:s,s:s,s:I}", "step", json_clean(db_text(q, 0)), "kind",
			  wf_kind_name((enum wf_kind)kind), "state",
			  wf_state_name((enum wf_state)state), "attempt", (json_int_t)db_int(q, 6));
	json_t *live = json_of(db_text(q, 10)), *v;

	time_set(o, "started", db_int(q, 7));
	time_set(o, "ended", db_int(q, 8));
	if (db_int(q, 9))
		time_set(o, "due", db_int(q, 9));
	for (unsigned i = 0; i < ARRAY_LEN(shown); i++)
		if ((v = json_object_get(live, shown[i])))
			json_object_set(o, shown[i], v);
	json_decref(live);
	v = outputs ? json_of(db_text(q, 11)) : NULL;
	if (json_is_object(v))
		json_object_update(o, v);
	json_decref(v);
	member_set(o, "error", db_text(q, 12));
	return o;
}

json_t *workflow_steps(struct daemon *d, const char *id, bool outputs, const char *step)
{
	json_t *list = json_array();
	sqlite3_stmt *q =
		db_query(&d->db,
			 "SELECT " STEP_COLUMNS
			 " FROM workflow_steps WHERE run=(SELECT row FROM workflow_runs WHERE "
			 "id=?1) AND path<>'' AND (?2 IS NULL OR path=?2) ORDER BY n",
			 "tt", id, step);

	while (db_next(q))
		json_array_append_new(list, step_json(q, outputs));
	db_done(q);
	return list;
}

/* The result of its root. */
static void output_set(struct daemon *d, json_t *o, int64_t row)
{
	sqlite3_stmt *q =
		db_query(&d->db, "SELECT result FROM workflow_steps WHERE run=? AND path=''", "i",
			 row);
	json_t *result = db_next(q) ? json_of(db_text(q, 0)) : NULL;

	db_done(q);
	if (json_object_get(result, "output"))
		json_object_set(o, "output", json_object_get(result, "output"));
	json_decref(result);
}

#define RUN_COLUMNS "row,id,name,code,by,state,undone,created,ended,inputs,error"

static json_t *row_json(sqlite3_stmt *q)
{
	json_t *o =
		json_pack("{s:s,s:s,s:s,s:s,s:s,s:b}", "id", db_text(q, 1), "name", db_text(q, 2),
			  "kind", db_int(q, 3) ? "code" : "file", "by", db_text(q, 4), "state",
			  wf_run_state_name(
				  (enum wf_run_state)MIN(db_int(q, 5), (int64_t)WF_RUN_CANCELLED)),
			  "rolled_back", (int)(db_int(q, 6) & 1));

	time_set(o, "created", db_int(q, 7));
	time_set(o, "ended", db_int(q, 8));
	member_set(o, "inputs", db_text(q, 9));
	member_set(o, "error", db_text(q, 10));
	return o;
}

json_t *run_json(struct daemon *d, const char *id, bool steps)
{
	sqlite3_stmt *q =
		db_query(&d->db, "SELECT " RUN_COLUMNS " FROM workflow_runs WHERE id=?", "t", id);
	json_t *o = db_next(q) ? row_json(q) : NULL;
	int64_t row = o ? db_int(q, 0) : 0;

	db_done(q);
	if (!o)
		return NULL;
	output_set(d, o, row);
	if (steps)
		json_object_set_new(o, "steps", workflow_steps(d, id, true, NULL));
	return o;
}

json_t *workflows_list(struct daemon *d, const char *state, const char *name, unsigned limit)
{
	json_t *list = json_array();
	int64_t want = -1;
	sqlite3_stmt *q;

	for (unsigned i = 0; state && i < WF_RUN_STATES; i++)
		if (!strcmp(wf_run_state_name((enum wf_run_state)i), state))
			want = i;
	q = db_query(&d->db,
		     "SELECT " RUN_COLUMNS " FROM workflow_runs WHERE (?1<0 OR state=?1) AND "
		     "(?2='' OR name=?2) ORDER BY row DESC LIMIT ?3",
		     "iti", want, name ? name : "", (int64_t)limit);
	while (db_next(q))
		json_array_append_new(list, row_json(q));
	db_done(q);
	return list;
}

/* ---- removing ---- */

void run_delete(struct daemon *d, const char *id, struct err *e)
{
	db_begin(&d->db);
	db_run(&d->db, e,
	       "DELETE FROM workflow_steps WHERE run IN (SELECT row FROM workflow_runs WHERE id=?)",
	       "t", id);
	db_run(&d->db, e,
	       "DELETE FROM workflow_attempts WHERE run IN (SELECT row FROM workflow_runs WHERE "
	       "id=?)",
	       "t", id);
	db_run(&d->db, e, "DELETE FROM workflow_runs WHERE id=?", "t", id);
	db_end(&d->db, e);
}

void runs_trim(struct daemon *d)
{
	sqlite3_stmt *q =
		db_query(&d->db,
			 "SELECT id FROM workflow_runs WHERE state>=? AND live='{}' ORDER BY "
			 "row DESC LIMIT 1 OFFSET ?",
			 "ii", (int64_t)WF_RUN_DONE, (int64_t)WF_RUNS_KEPT);
	char id[WF_ID_LEN + 1] = "";

	if (db_next(q))
		snprintf(id, sizeof(id), "%s", db_text(q, 0));
	db_done(q);
	if (id[0])
		run_delete(d, id, NULL);
}
