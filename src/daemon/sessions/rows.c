/* The rows of sessions. What changes often are numbers, which have a narrow table of their own;
 * texts are written only when they differ. See private.h. */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "daemon/sessions/private.h"

static struct list sessions = LIST_INIT(sessions);

struct list *sessions_all(void)
{
	return &sessions;
}

static const char *const state_names[] = {
	[SESSION_STARTING] = "starting", [SESSION_IDLE] = "idle",     [SESSION_RUNNING] = "running",
	[SESSION_WAITING] = "waiting",	 [SESSION_CLOSED] = "closed", [SESSION_FAILED] = "failed",
};

const char *state_name(enum session_state state)
{
	return state_names[state];
}

/* ---- live ---- */

void live_set(struct session *s, const char *name, json_t *v)
{
	if (v)
		json_object_set_new(s->live, name, v);
	else
		json_object_del(s->live, name);
	s->live_dirty = true;
}

json_t *live_get(const struct session *s, const char *name)
{
	return json_object_get(s->live, name);
}

json_t *live_object(struct session *s, const char *name)
{
	json_t *o = live_get(s, name);

	s->live_dirty = true;
	if (json_is_object(o))
		return o;
	o = json_object();
	json_object_set_new(s->live, name, o);
	return o;
}

json_t *live_list(struct session *s, const char *name)
{
	json_t *o = live_get(s, name);

	s->live_dirty = true;
	if (json_is_array(o))
		return o;
	o = json_array();
	json_object_set_new(s->live, name, o);
	return o;
}

/* ---- reading ---- */

#define COLUMNS                                                                                    \
	"s.row,s.id,s.cell,s.spec,s.live,s.state,s.phase,s.created,a.updated,a.seq,a.first,a."     \
	"bytes,"                                                                                   \
	"a.indexed,a.run,a.proc,a.taken,a.err_at,a.skip,a.put_end,a.calls,a.prompts,a.running,"    \
	"(SELECT count(*) FROM session_prompts p WHERE p.session=s.row),"                          \
	"(SELECT coalesce(sum(length(o.line)),0) FROM session_outbox o WHERE o.session=s.row AND " \
	"o.reply=1)"

static json_t *object_of(const char *text)
{
	json_t *o = json_loads(text, JSON_ALLOW_NUL, NULL);

	return json_is_object(o) ? o : json_object();
}

static void row_take(struct session *s, sqlite3_stmt *q)
{
	int i = 0;

	s->row = db_int(q, i++);
	snprintf(s->id, sizeof(s->id), "%s", db_text(q, i++));
	snprintf(s->cell, sizeof(s->cell), "%s", db_text(q, i++));
	json_decref(s->spec);
	s->spec = object_of(db_text(q, i++));
	json_decref(s->live);
	s->live = object_of(db_text(q, i++));
	s->live_dirty = false;
	s->state = (enum session_state)db_int(q, i++);
	s->phase = (enum phase)db_int(q, i++);
	s->created = db_int(q, i++);
	s->updated = db_int(q, i++);
	s->seq = db_int(q, i++);
	s->first = db_int(q, i++);
	s->bytes = db_int(q, i++);
	s->indexed = db_int(q, i++);
	s->run = db_int(q, i++);
	s->proc = (uint32_t)db_int(q, i++);
	s->taken = (uint64_t)db_int(q, i++);
	s->err_at = (uint64_t)db_int(q, i++);
	s->skip = (uint64_t)db_int(q, i++);
	s->put_end = (uint64_t)db_int(q, i++);
	s->calls = db_int(q, i++);
	s->prompts = db_int(q, i++);
	s->running = db_int(q, i++);
	s->queue = (unsigned)db_int(q, i++);
	s->replies = (uint64_t)db_int(q, i++);
}

static void changes_lost(struct db *db);

static struct session *session_alloc(struct daemon *d)
{
	struct session *s = xalloc(sizeof(*s));

	s->d = d;
	list_init(&s->link);
	list_init(&s->ops);
	list_init(&s->setters);
	list_init(&s->watches);
	list_append(&sessions, &s->link);
	return s;
}

void sessions_read(struct daemon *d)
{
	sqlite3_stmt *q = db_query(&d->db,
				   "SELECT " COLUMNS " FROM sessions s JOIN session_at a ON "
				   "a.row=s.row ORDER BY s.row",
				   "");

	d->db.lost = changes_lost;
	while (db_next(q))
		row_take(session_alloc(d), q);
	db_done(q);
}

/* A change could not be written: what is in memory is what is in the database again, and the
 * agent's output is read from there on, when there may be room. */
static void session_reread(struct session *s)
{
	sqlite3_stmt *q = db_query(&s->d->db,
				   "SELECT " COLUMNS " FROM sessions s JOIN session_at a ON "
				   "a.row=s.row WHERE s.row=?",
				   "i", s->row);

	if (db_next(q))
		row_take(s, q);
	db_done(q);
	s->changed = false;
	if (!s->follow)
		return;
	stream_close(s);
	s->attached = true;
	stream_later(s); /* not by its timer, which may be that of its end */
}

/* ---- writing ---- */

void session_begin(struct session *s)
{
	db_begin(&s->d->db);
}

static void row_write(struct session *s)
{
	struct db *db = &s->d->db;
	char *live;

	s->updated = time_now();
	db_run(db, NULL,
	       "UPDATE session_at SET "
	       "updated=?,seq=?,first=?,bytes=?,indexed=?,run=?,proc=?,taken=?,"
	       "err_at=?,skip=?,put_end=?,calls=?,prompts=?,running=? WHERE row=?",
	       "iiiiiiiiiiiiiii", s->updated, s->seq, s->first, s->bytes, s->indexed, s->run,
	       (int64_t)s->proc, (int64_t)s->taken, (int64_t)s->err_at, (int64_t)s->skip,
	       (int64_t)s->put_end, s->calls, s->prompts, s->running, s->row);
	if (!s->live_dirty)
		return;
	live = json_dumps(s->live, JSON_COMPACT);
	if (live)
		db_run(db, NULL, "UPDATE sessions SET live=?,state=?,phase=? WHERE row=?", "tiii",
		       live, (int64_t)s->state, (int64_t)s->phase, s->row);
	else
		db->failed = true;
	free(live);
	s->live_dirty = false;
}

static void watches_tell(struct session *s)
{
	struct session_watch *w, *tmp;

	if (!s->changed)
		return;
	s->changed = false;
	list_for_each_safe(w, tmp, &s->watches, link)
		w->fn(w, false);
}

int session_end(struct session *s, struct err *e)
{
	struct db *db = &s->d->db;
	bool outer = db->depth == 1;

	if (outer || s->live_dirty || s->changed)
		row_write(s);
	if (db_end(db, e) < 0) {
		if (outer)
			session_reread(s);
		return -1;
	}
	session_use(s);
	/* Of a nested one the outer transaction decides. */
	if (outer)
		session_follow(s);
	else
		stream_kick(s);
	return 0;
}

int session_end_stream(struct session *s, bool soft)
{
	struct db *db = &s->d->db;

	if (!soft || s->hard || s->live_dirty || db->depth != 1)
		return session_end(s, NULL);
	row_write(s);
	if (db->failed)
		return session_end(s, NULL);
	db_end_later(db);
	session_use(s);
	session_follow(s);
	return 0;
}

/* What was to be written later could not be. The agents' output is still there. */
static void changes_lost(struct db *db)
{
	struct session *s;

	(void)db;
	list_for_each(s, &sessions, link)
		if (s->follow)
			session_reread(s);
}

void session_follow(struct session *s)
{
	watches_tell(s);
	put_step(s);
	serve_asks(s);
	if (s->starting)
		session_cell_changed(s, cell_by_id(s->d, s->cell));
}

static int session_insert(struct session *s, struct err *e)
{
	struct db *db = &s->d->db;
	char *spec = json_dumps(s->spec, JSON_COMPACT);

	db_begin(db);
	db_run(db, e,
	       "INSERT INTO sessions(id,cell,spec,live,state,phase,created) "
	       "VALUES(?,?,?,'{}',?,?,?)",
	       "tttiii", s->id, s->cell, spec, (int64_t)s->state, (int64_t)s->phase, s->created);
	s->row = sqlite3_last_insert_rowid(db->sql);
	db_run(db, e, "INSERT INTO session_at(row,updated,first) VALUES(?,?,1)", "ii", s->row,
	       s->created);
	free(spec);
	s->first = 1;
	return db_end(db, e);
}

void session_rows_delete(struct session *s)
{
	struct db *db = &s->d->db;

	search_forget(s, INT64_MAX);
	db_run(db, NULL, "DELETE FROM session_events WHERE session=?", "i", s->row);
	db_run(db, NULL, "DELETE FROM session_outbox WHERE session=?", "i", s->row);
	db_run(db, NULL, "DELETE FROM session_prompts WHERE session=?", "i", s->row);
	db_run(db, NULL, "DELETE FROM session_asks WHERE session=?", "i", s->row);
	db_run(db, NULL, "DELETE FROM session_at WHERE row=?", "i", s->row);
	db_run(db, NULL, "DELETE FROM sessions WHERE row=?", "i", s->row);
}

/* ---- states ---- */

void state_set(struct session *s, enum session_state state, const char *reason)
{
	if (s->state == state)
		return;
	s->state = state;
	s->live_dirty = true;
	event_put(s, "state", json_pack("{s:s,s:s*}", "state", state_name(state), "reason", reason),
		  0);
}

void state_follow(struct session *s)
{
	if (s->state == SESSION_CLOSED || s->phase == PHASE_ENDING)
		return;
	if (s->phase != PHASE_READY)
		return;
	state_set(s,
		  permission_count(s) ? SESSION_WAITING
		  : s->running	      ? SESSION_RUNNING
				      : SESSION_IDLE,
		  NULL);
}

/* ---- what waits ---- */

void outbox_add(struct session *s, char *line, bool reply)
{
	size_t n = line ? strlen(line) : 0;

	if (s->exited) { /* nobody reads it */
		free(line);
		return;
	}
	if (!n) {
		s->d->db.failed = true;
		free(line);
		return;
	}
	s->hard = true;
	db_run(&s->d->db, NULL, "INSERT INTO session_outbox(session,at,reply,line) VALUES(?,?,?,?)",
	       "iiit", s->row, (int64_t)s->put_end, (int64_t)reply, line);
	s->put_end += n;
	if (reply)
		s->replies += n;
	free(line);
}

void outbox_clear(struct session *s)
{
	db_run(&s->d->db, NULL, "DELETE FROM session_outbox WHERE session=?", "i", s->row);
	s->replies = 0;
	s->put_end = 0;
}

void queue_add(struct session *s, int64_t prompt, const json_t *content)
{
	char *text = json_dumps(content, JSON_COMPACT);

	db_run(&s->d->db, NULL, "INSERT INTO session_prompts(session,prompt,content) VALUES(?,?,?)",
	       "iit", s->row, prompt, text);
	free(text);
	s->queue++;
}

/* The one that q, which ends here, gives. */
static json_t *queue_get(struct session *s, sqlite3_stmt *q, int64_t *ret_prompt)
{
	json_t *content = NULL;

	if (db_next(q)) {
		*ret_prompt = db_int(q, 0);
		content = json_loads(db_text(q, 1), JSON_ALLOW_NUL, NULL);
	}
	db_done(q);
	if (!content)
		return NULL;
	db_run(&s->d->db, NULL, "DELETE FROM session_prompts WHERE session=? AND prompt=?", "ii",
	       s->row, *ret_prompt);
	s->queue--;
	return content;
}

json_t *queue_take(struct session *s, int64_t *ret_prompt)
{
	return queue_get(s,
			 db_query(&s->d->db,
				  "SELECT prompt,content FROM session_prompts WHERE session=? "
				  "ORDER BY prompt LIMIT 1",
				  "i", s->row),
			 ret_prompt);
}

json_t *queue_take_one(struct session *s, int64_t prompt)
{
	return queue_get(s,
			 db_query(&s->d->db,
				  "SELECT prompt,content FROM session_prompts WHERE session=? "
				  "AND prompt=?",
				  "ii", s->row, prompt),
			 &prompt);
}

/* ---- memory ---- */

static void on_timer(uv_timer_t *t)
{
	struct session *s = t->data;
	void (*fn)(struct session * s) = s->timer_fn;

	s->timer_fn = NULL;
	if (fn)
		fn(s);
}

static void timer_closed(uv_handle_t *h)
{
	free(h);
}

void session_timer(struct session *s, int64_t ms, void (*fn)(struct session *s))
{
	if (!s->timer && ms >= 0) {
		s->timer = xalloc(sizeof(*s->timer));
		uv_timer_init(&s->d->loop, s->timer);
		s->timer->data = s;
	}
	s->timer_fn = fn;
	if (s->timer && ms >= 0)
		uv_timer_start(s->timer, on_timer, (uint64_t)ms, 0);
	else if (s->timer)
		uv_timer_stop(s->timer);
}

void session_free(struct session *s)
{
	struct session_watch *w, *tmp;

	list_for_each_safe(w, tmp, &s->watches, link) {
		session_watch_remove(w);
		w->fn(w, true);
	}
	s->running = 0;
	s->queue = 0;
	s->starting = false;
	s->state = SESSION_CLOSED;
	s->proc = 0;
	session_use(s);
	setters_drop(s);
	serve_detach(s);
	stream_close(s);
	if (s->keeper)
		link_forget(s->keeper, s);
	if (s->waits)
		cell_wait_remove(&s->wait);
	if (s->timer)
		uv_close((uv_handle_t *)s->timer, timer_closed);
	if (s->again)
		uv_close((uv_handle_t *)s->again, timer_closed);
	lines_free(&s->lines);
	list_remove(&s->link);
	json_decref(s->spec);
	json_decref(s->live);
	free(s);
}

struct session *session_add(struct cell *c, json_t *spec, struct err *e)
{
	struct session *s = session_alloc(c->d);

	memcpy(s->id, "s_", 2);
	random_hex(s->id + 2, 8);
	snprintf(s->cell, sizeof(s->cell), "%s", c->id);
	s->spec = spec;
	s->live = json_object();
	s->state = SESSION_STARTING;
	s->created = s->updated = time_now();
	if (session_insert(s, e) < 0) {
		session_free(s);
		return NULL;
	}
	s->waits = true;
	cell_wait_add(c, &s->wait, on_cell);
	return s;
}
