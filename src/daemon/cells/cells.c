/* See cells.h. */
#include "daemon/cells/cells.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "daemon/cells/cellspec.h"
#include "daemon/cells/family.h"
#include "daemon/cells/runfollow.h"
#include "daemon/cells/health.h"
#include "daemon/cells/lifepriv.h"
#include "daemon/cells/sleepports.h"
#include "daemon/state/tokens.h"
#include "daemon/cells/usage.h"
#include "daemon/cells/uses.h"

#define MAX_CELLS 100000
#define PREFIX_MIN 4

static void on_notify(uv_timer_t *t);

/* ---- finding ---- */

/* Where the chain of the cells with such an id or name begins. */
static struct cell **bucket(struct cell *table[DAEMON_BUCKETS], const char *text)
{
	uint32_t h = 2166136261u;

	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * 16777619u;
	return &table[h % DAEMON_BUCKETS];
}

static void name_enter(struct cell *c)
{
	struct cell **at = bucket(c->d->by_name, c->name);

	if (!c->name[0])
		return;
	c->next_named = *at;
	*at = c;
}

static void name_leave(struct cell *c)
{
	struct cell **at = bucket(c->d->by_name, c->name);

	while (*at && *at != c)
		at = &(*at)->next_named;
	if (*at)
		*at = c->next_named;
}

static void bucket_leave(struct cell *c)
{
	struct cell **at = bucket(c->d->by_id, c->id);

	while (*at && *at != c)
		at = &(*at)->next;
	if (*at)
		*at = c->next;
	name_leave(c);
}

struct cell *cell_by_id(struct daemon *d, const char *id)
{
	struct cell *c = *bucket(d->by_id, id);

	while (c && strcmp(c->id, id))
		c = c->next;
	return c;
}

struct cell *cell_by_name(struct daemon *d, const char *name)
{
	struct cell *c = *bucket(d->by_name, name);

	while (c && strcmp(c->name, name))
		c = c->next_named;
	return c;
}

static struct cell *cell_known(struct daemon *d, const char *text)
{
	struct cell *c = cell_by_id(d, text);

	return c ? c : cell_by_name(d, text);
}

struct cell *cell_find(struct daemon *d, const char *text, struct err *f)
{
	struct cell *c = cell_known(d, text), *found = NULL;
	size_t n = strlen(text);

	if (!c || !cell_state_is_live(c->state)) {
		/* Somebody else may have made it, or started it. */
		cells_look(d);
		c = cell_known(d, text);
	}
	found = c;
	if (!c && n >= PREFIX_MIN)
		list_for_each(c, &d->cells, link) {
			if (strncmp(c->id, text, n))
				continue;
			if (found) {
				err_note(f, ERR_AMBIGUOUS,
					 "several cells' ids begin with '%s'" REMEDY
					 "give more of it",
					 text);
				return NULL;
			}
			found = c;
		}
	if (!found)
		err_note(f, ERR_NOT_FOUND, "there is no cell '%.80s'" REMEDY "'viv ls' lists them",
			 text);
	else if (!cell_state_is_live(found->state))
		cell_run_follow(found);
	return found;
}

/* ---- rows ---- */

static struct cell *cell_alloc(struct daemon *d, const char *id, const char *name, json_t *spec)
{
	struct cell *c = xalloc(sizeof(*c)), **at;

	c->d = d;
	snprintf(c->id, sizeof(c->id), "%s", id);
	snprintf(c->name, sizeof(c->name), "%s", name);
	c->spec = spec;
	c->status = -1;
	c->why = "asked";
	c->sleep_grace = -1;
	list_init(&c->waits);
	list_init(&c->changed);
	list_append(&d->cells, &c->link);
	at = bucket(d->by_id, c->id);
	c->next = *at;
	*at = c;
	name_enter(c);
	d->ncells++;
	return c;
}

static void cell_free(struct cell *c)
{
	cell_timer(c, -1, NULL);
	health_free(c);
	usage_drop(c);
	sleep_ports_free(c);
	bucket_leave(c);
	list_remove(&c->link);
	list_remove(&c->changed);
	c->d->ncells--;
	json_decref(c->ports);
	json_decref(c->layers);
	json_decref(c->spec);
	free(c->unmerged);
	free(c->failure);
	free(c);
}

struct cell *cell_new(struct daemon *d, const char *id, const char *name, json_t *spec,
		      struct err *f)
{
	return cell_new_child(d, NULL, id, name, spec, f);
}

struct cell *cell_new_child(struct daemon *d, const char *parent, const char *id, const char *name,
			    json_t *spec, struct err *f)
{
	char made[CELL_ID_LEN + 1];
	struct cell *c;
	char *text;

	if (d->ncells >= MAX_CELLS) {
		json_decref(spec);
		err_note(f, ERR_TOO_MANY, "there are %d cells" REMEDY "remove some", MAX_CELLS);
		return NULL;
	}
	if (!id) {
		random_hex(made, 8);
		id = made;
	}
	c = cell_alloc(d, id, name, spec);
	snprintf(c->parent, sizeof(c->parent), "%s", parent ? parent : "");
	c->state = CELL_CREATED;
	c->created = time_now();
	text = json_dumps(spec, JSON_COMPACT);
	db_begin(&d->db);
	db_run(&d->db, f,
	       "INSERT INTO cells(id,name,spec,state,created,parent) VALUES(?,?,?,?,?,?)", "tttiit",
	       c->id, *name ? name : NULL, text ? text : "{}", (int64_t)c->state, c->created,
	       c->parent);
	if (*name)
		cell_making_end(d, name);
	event_add(d, "cell.created", c->id,
		  json_pack("{s:s,s:s*}", "name", c->name, "parent",
			    c->parent[0] ? c->parent : NULL));
	free(text);
	if (db_end(&d->db, f) == 0)
		return c;
	cell_free(c);
	return NULL;
}

int cell_making(struct daemon *d, const char *parent, const char *name, const json_t *spec,
		struct err *f)
{
	char *text = json_dumps(spec, JSON_COMPACT);
	int r = db_run(&d->db, f, "INSERT OR REPLACE INTO making(name,spec,parent) VALUES(?,?,?)",
		       "ttt", name, text ? text : "{}", parent ? parent : "");

	free(text);
	return r < 0 ? -1 : 0;
}

void cell_making_end(struct daemon *d, const char *name)
{
	db_run(&d->db, NULL, "DELETE FROM making WHERE name=?", "t", name);
}

json_t *cell_making_read(struct daemon *d, const char *name, char parent[CELL_ID_LEN + 1])
{
	sqlite3_stmt *q =
		db_query(&d->db, "SELECT spec,parent FROM making WHERE name=?", "t", name);
	json_t *spec = db_next(q) ? json_loads(db_text(q, 0), 0, NULL) : NULL;

	snprintf(parent, CELL_ID_LEN + 1, "%s", spec ? db_text(q, 1) : "");

	db_done(q);
	return spec;
}

void cell_save(struct cell *c)
{
	char *health = health_text(c);
	struct buf failure = { 0 };

	if (c->failure)
		err_json(c->failure, &failure);
	db_run(&c->d->db, NULL,
	       "UPDATE cells SET "
	       "name=?,state=?,wanted=?,started=?,ended=?,status=?,reason=?,detail=?,"
	       "restarts=?,seen=?,health=?,run=?,sleep=? WHERE id=?",
	       "tiiiiittiitiit", c->name[0] ? c->name : NULL, (int64_t)c->state, (int64_t)c->wanted,
	       c->started, c->ended, (int64_t)c->status, cell_reason_name(c->reason),
	       failure.p ? (char *)failure.p : "", (int64_t)c->restarts, (int64_t)c->seen,
	       health ? health : "", c->run, (int64_t)c->sleep, c->id);
	buf_free(&failure);
	free(health);
}

/* As the line that a person gets, and as the error itself. */
static void failure_set(json_t *o, const struct err *e)
{
	if (!e)
		return;
	json_object_set_new(o, "detail", json_string(err_line(e).str));
	json_object_set_new(o, "error", json_err(e));
}

/* Rows of earlier versions have the line only. */
static void failure_read(struct err *e, const char *text)
{
	json_t *o = json_loads(text, 0, NULL);

	if (json_is_object(o))
		json_err_get(o, e);
	else if (*text)
		err_note(e, ERR_FAILED, "%s", text);
	json_decref(o);
}

static json_t *state_event(const struct cell *c, enum cell_state from)
{
	json_t *o = json_pack("{s:s,s:s,s:s}", "name", c->name, "from", cell_state_name(from),
			      "state", cell_state_name(c->state));

	if (!cell_state_is_live(c->state) && c->state != CELL_CREATED) {
		json_object_set_new(o, "exit_code", json_integer(c->status));
		json_object_set_new(o, "reason", json_string(cell_reason_name(c->reason)));
		failure_set(o, c->failure);
	}
	return o;
}

bool cell_move(struct cell *c, enum cell_input in, struct err *f)
{
	enum cell_state from = c->state, to = cell_state_next(from, in);
	bool woken = false;
	struct err unused;

	f = f ? f : &unused;
	if (to == CELL_NONE || c->busy) {
		if (c->busy)
			err_note(f, ERR_BUSY, "the cell is being changed" REMEDY "try again");
		else
			err_note(f, ERR_WRONG_STATE, "a cell that is %s cannot be asked to %s",
				 cell_state_name(from), cell_input_name(in));
		return false;
	}
	c->state = to;
	db_begin(&c->d->db);
	if (to == CELL_RUNNING && c->sleep == SLEEP_WAKING)
		woken = true, c->sleep = SLEEP_NO;
	cell_save(c);
	if (from != to)
		event_add(c->d, "cell.state", c->id, state_event(c, from));
	if (woken)
		event_add(c->d, "cell.woken", c->id,
			  json_pack("{s:s,s:s}", "name", c->name, "reason", c->why));
	if (to == CELL_SLEEPING && from != to) {
		c->sleeps++;
		event_add(c->d, "cell.sleeping", c->id,
			  json_pack("{s:s,s:s}", "name", c->name, "reason", c->why));
	}
	/* What a keeper told is so, whether it can be written or not; and what is to end must not
	 * run on because that cannot be noted. */
	if (in >= IN_UP) {
		db_end_later(&c->d->db);
	} else if (db_end(&c->d->db, f) < 0 && in == IN_START) {
		c->state = from;
		return false;
	}
	health_follow(c);
	sleep_ports_follow(c);
	cell_rest(c);
	cell_changed_soon(c);
	return true;
}

int cell_forget(struct cell *c, struct err *f)
{
	struct daemon *d = c->d;
	struct cell *parent;

	db_begin(&d->db);
	db_run(&d->db, NULL, "DELETE FROM cells WHERE id=?", "t", c->id);
	token_revoke_cell(d, c->id);
	uses_forget(d, c->id);
	db_run(&d->db, NULL, "DELETE FROM previews WHERE cell=?", "t", c->id);
	db_run(&d->db, NULL,
	       "DELETE FROM schedule_runs WHERE schedule IN (SELECT row FROM schedules WHERE "
	       "cell=?)",
	       "t", c->id);
	db_run(&d->db, NULL, "DELETE FROM schedules WHERE cell=?", "t", c->id);
	event_add(d, "cell.removed", c->id, json_pack("{s:s}", "name", c->name));
	if (db_end(&d->db, f) < 0)
		return -1;
	/* Whoever is at work with it now still has it; who waits is told in the next round, and
	 * then it goes. */
	c->state = CELL_REMOVED;
	sleep_ports_free(c);
	cell_timer(c, -1, NULL);
	bucket_leave(c);
	list_remove(&c->link);
	list_append(&d->dead, &c->link);
	uv_timer_start(&d->notify, on_notify, 0, 0);
	family_gone(d, c->id);
	parent = family_parent(c);
	if (parent)
		family_limits_tell(parent); /* it has the child's disk back */
	return 0;
}

int cell_rename(struct cell *c, const char *name, struct err *f)
{
	char before[CELL_NAME_LEN + 1];

	strcpy(before, c->name);
	name_leave(c);
	snprintf(c->name, sizeof(c->name), "%s", name);
	name_enter(c);
	db_begin(&c->d->db);
	cell_save(c);
	event_add(c->d, "cell.renamed", c->id,
		  json_pack("{s:s,s:s}", "from", before, "name", name));
	if (db_end(&c->d->db, f) == 0)
		return 0;
	name_leave(c);
	strcpy(c->name, before);
	name_enter(c);
	return -1;
}

/* The names of the settings that differ. */
static json_t *settings_changed(const json_t *from, const json_t *to)
{
	struct buf b = { 0 };
	const json_t *both[] = { to, from };
	const char *key;
	json_t *v;

	for (unsigned i = 0; i < ARRAY_LEN(both); i++)
		json_object_foreach((json_t *)(uintptr_t)both[i], key, v) {
			const json_t *other = json_object_get(both[1 - i], key);

			if (other && (i || json_equal(v, (json_t *)(uintptr_t)other)))
				continue;
			buf_add_text(&b, b.len ? ", " : "");
			buf_add_text(&b, key);
		}
	v = json_stringn(b.len ? (char *)b.p : "", b.len);
	buf_free(&b);
	return v;
}

int cell_respec(struct cell *c, json_t *spec, int64_t run, struct err *f)
{
	char *text = json_dumps(spec, JSON_COMPACT);
	bool ports;
	bool ruled;

	db_begin(&c->d->db);
	db_run(&c->d->db, f, "UPDATE cells SET spec=?,run=? WHERE id=?", "tit", text ? text : "{}",
	       run, c->id);
	event_add(c->d, "cell.updated", c->id,
		  json_pack("{s:s,s:o}", "name", c->name, "changed",
			    settings_changed(c->spec, spec)));
	free(text);
	if (db_end(&c->d->db, f) < 0) {
		json_decref(spec);
		return -1;
	}
	ruled = !json_equal(json_object_get(c->spec, "policy"), json_object_get(spec, "policy")) ||
		!json_equal(json_object_get(c->spec, "tools"), json_object_get(spec, "tools"));
	/* Other checks: what those before found says nothing. */
	if (!json_equal(json_object_get(c->spec, "health"), json_object_get(spec, "health")))
		health_free(c);
	ports = !json_equal(json_object_get(c->spec, "ports"), json_object_get(spec, "ports"));
	json_decref(c->spec);
	c->spec = spec;
	if (ports && !c->keeper)
		sleep_ports_change(c);
	c->run = run;
	c->restarts = 0;
	health_follow(c);
	if (ruled)
		family_policy_follow(c);
	if (family_has_children(c))
		family_limits_tell(c);
	return 0;
}

void cells_read(struct daemon *d)
{
	sqlite3_stmt *q = db_query(
		&d->db,
		"SELECT id,name,spec,state,wanted,created,started,ended,status,reason,"
		"detail,restarts,seen,health,run,sleep,ports,parent,result<>'' FROM cells ORDER BY "
		"created,id",
		"");

	while (db_next(q)) {
		json_t *spec = json_loads(db_text(q, 2), 0, NULL);
		struct cell *c =
			cell_alloc(d, db_text(q, 0), db_text(q, 1), spec ? spec : json_object());

		c->state = (enum cell_state)db_int(q, 3);
		c->wanted = db_int(q, 4);
		c->created = db_int(q, 5);
		c->started = db_int(q, 6);
		c->ended = db_int(q, 7);
		c->status = (int)db_int(q, 8);
		c->reason = cell_reason_parse(db_text(q, 9));
		if (*db_text(q, 10))
			failure_read(cell_failure(c), db_text(q, 10));
		c->restarts = (uint32_t)db_int(q, 11);
		c->seen = (uint64_t)db_int(q, 12);
		health_read(c, db_text(q, 13));
		c->run = db_int(q, 14);
		c->sleep = (enum cell_sleep)db_int(q, 15);
		if (*db_text(q, 16))
			c->ports = json_loads(db_text(q, 16), 0, NULL);
		snprintf(c->parent, sizeof(c->parent), "%s", db_text(q, 17));
		c->has_result = db_int(q, 18);
		c->ran_ms = (c->ended - c->started) / 1000000;
		if (c->parent[0] && c->name[0])
			c->layers = family_layers(c->id);
	}
	db_done(q);
}

struct err *cell_failure(struct cell *c)
{
	if (!c->failure)
		c->failure = xalloc(sizeof(*c->failure));
	return c->failure;
}

void cell_failure_clear(struct cell *c)
{
	free(c->failure);
	c->failure = NULL;
}

/* ---- telling ---- */

static void time_set(json_t *o, const char *key, int64_t t)
{
	if (t)
		json_object_set_new(o, key, json_string(time_text(t).str));
}

/* Without those variables whose values nobody is told; c's own stays as it is. */
static void env_hide(json_t *spec)
{
	const json_t *secrets = json_object_get(spec, "hidden_env");
	json_t *env, *name;
	size_t i;

	if (!secrets)
		return;
	env = json_copy(json_object_get(spec, "env"));
	json_array_foreach(secrets, i, name)
		json_object_del(env, json_string_value(name));
	json_object_set_new(spec, "env", env ? env : json_object());
}

json_t *cell_json(const struct cell *c, bool secrets)
{
	const char *image = json_text(c->spec, "image");
	json_t *labels = json_object_get(c->spec, "labels");
	json_t *spec = json_copy(c->spec), *health = health_json(c);
	json_t *o =
		json_pack("{s:s,s:s,s:s,s:I,s:o}", "id", c->id, "state", cell_state_name(c->state),
			  "image", image ? image : "host", "restarts", (json_int_t)c->restarts,
			  "labels", labels ? json_incref(labels) : json_object());

	if (c->name[0])
		json_object_set_new(o, "name", json_string(c->name));
	if (c->parent[0])
		json_object_set_new(o, "parent", json_string(c->parent));
	time_set(o, "created", c->created);
	time_set(o, "started", c->started);
	time_set(o, "ended", cell_state_is_live(c->state) ? 0 : c->ended);
	time_set(o, "restart_at", c->restart_at);
	if (c->kernel_pid && c->keeper)
		json_object_set_new(o, "pid", json_integer(c->kernel_pid));
	if (c->foreground && c->keeper)
		json_object_set_new(o, "foreground", json_true());
	if (c->ports && (c->keeper || c->state == CELL_SLEEPING))
		json_object_set(o, "ports", c->ports);
	if (c->command[0] && c->keeper)
		json_object_set_new(o, "command", json_clean(c->command));
	if (c->status >= 0)
		json_object_set_new(o, "exit_code", json_integer(c->status));
	if (c->reason)
		json_object_set_new(o, "reason", json_string(cell_reason_name(c->reason)));
	failure_set(o, c->failure);
	if (c->unmerged)
		json_object_set_new(o, "unmerged", json_err(c->unmerged));
	if (health)
		json_object_set_new(o, "health", health);
	if (secrets)
		env_hide(spec);
	else
		json_object_del(spec, "env");
	json_object_set_new(o, "spec", spec);
	return o;
}

/* ---- waiting ---- */

void cell_wait_add(struct cell *c, struct cell_wait *w,
		   void (*fn)(struct cell_wait *w, struct cell *c, bool gone))
{
	w->fn = fn;
	list_append(&c->waits, &w->link);
}

void cell_wait_remove(struct cell_wait *w)
{
	list_remove(&w->link);
}

/* Nobody calls this from within a call for one of those who wait. */
static void cell_changed(struct cell *c, bool gone)
{
	struct list now = LIST_INIT(now);
	struct cell_wait *w;

	/* A call may remove, and free, any of them. */
	while (!list_is_empty(&c->waits)) {
		w = list_first(&c->waits, struct cell_wait, link);
		list_remove(&w->link);
		list_append(&now, &w->link);
	}
	while (!list_is_empty(&now)) {
		w = list_first(&now, struct cell_wait, link);
		list_remove(&w->link);
		if (!gone)
			list_append(&c->waits, &w->link);
		w->fn(w, c, gone);
	}
}

static void on_notify(uv_timer_t *t)
{
	struct daemon *d = t->data;
	struct list now = LIST_INIT(now);
	struct cell *c;

	while (!list_is_empty(&d->dead)) {
		c = list_first(&d->dead, struct cell, link);
		cell_changed(c, true);
		cell_free(c);
	}
	/* What changes while they are told is for the round after. */
	while (!list_is_empty(&d->changed)) {
		c = list_first(&d->changed, struct cell, changed);
		list_remove(&c->changed);
		list_append(&now, &c->changed);
	}
	while (!list_is_empty(&now)) {
		c = list_first(&now, struct cell, changed);
		list_remove(&c->changed);
		cell_changed(c, false);
	}
}

void cell_changed_soon(struct cell *c)
{
	if (list_is_empty(&c->changed))
		list_append(&c->d->changed, &c->changed);
	uv_timer_start(&c->d->notify, on_notify, 0, 0);
}

static void timer_closed(uv_handle_t *h)
{
	free(h);
}

void cell_timer(struct cell *c, int64_t ms, uv_timer_cb fn)
{
	c->resting = false;
	if (c->timer) {
		uv_close((uv_handle_t *)c->timer, timer_closed);
		c->timer = NULL;
	}
	if (ms < 0)
		return;
	c->timer = xalloc(sizeof(*c->timer));
	uv_timer_init(&c->d->loop, c->timer);
	c->timer->data = c;
	uv_timer_start(c->timer, fn, (uint64_t)ms, 0);
}
