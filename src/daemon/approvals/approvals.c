/* See approvals.h. */
#include "daemon/approvals/approvals.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/log.h"
#include "daemon/journal/note.h"
#include "daemon/keepers/link.h"
#include "daemon/state/fields.h"

#define LIST_BYTES (8u << 20) /* of a keeper's list */
#define ROWS_KEPT 1000 /* that are not pending */
#define SHOWN_MAX 1000

#define COLUMNS "id,cell,state,question,created,answered,by"

static const char *hook_program;
static const struct approval_owner *owners[APPROVAL_KINDS]; /* by -kind - 1 */

/* ---- rows ---- */

/* The one that the query stands at. */
static json_t *row_json(sqlite3_stmt *q)
{
	json_t *o = json_loads(db_text(q, 3), JSON_ALLOW_NUL, NULL);

	if (!o)
		o = json_object();
	json_object_del(o, "ask");
	json_object_del(o, "run");
	json_object_set_new(o, "id", json_integer(db_int(q, 0)));
	json_object_set_new(o, "cell", json_string(db_text(q, 1)));
	json_object_set_new(o, "state", json_string(db_text(q, 2)));
	json_object_set_new(o, "created", json_string(time_text(db_int(q, 4)).str));
	if (db_int(q, 5)) {
		json_object_set_new(o, "answered", json_string(time_text(db_int(q, 5)).str));
		json_object_set_new(o, "by", json_string(db_text(q, 6)));
	}
	return o;
}

json_t *approvals_list(struct daemon *d, const char *cell, bool all)
{
	json_t *list = json_array();
	sqlite3_stmt *q = db_query(&d->db,
				   "SELECT " COLUMNS " FROM (SELECT * FROM approvals WHERE (?1 OR "
				   "state='pending') AND (?2='' OR cell=?2) ORDER BY id DESC LIMIT "
				   "?3) ORDER BY id",
				   "iti", (int64_t)all, cell, (int64_t)SHOWN_MAX);

	while (db_next(q))
		json_array_append_new(list, row_json(q));
	db_done(q);
	return list;
}

json_t *approval_get(struct daemon *d, int64_t id)
{
	sqlite3_stmt *q = db_query(&d->db, "SELECT " COLUMNS " FROM approvals WHERE id=?", "i", id);
	json_t *o = db_next(q) ? row_json(q) : NULL;

	db_done(q);
	return o;
}

/* What an event says of one. */
static json_t *event_json(const json_t *approval)
{
	json_t *o = json_deep_copy(approval);

	json_object_del(o, "cell");
	json_object_del(o, "created");
	json_object_del(o, "answered");
	return o;
}

/* It is not pending any more. False: it was not. */
static bool row_end(struct daemon *d, int64_t id, const char *state, const char *by, struct err *e)
{
	const char *event =
		!strcmp(state, "withdrawn") ? "approval.withdrawn" : "approval.answered";
	const char *cell;
	json_t *o;
	int n;

	db_begin(&d->db);
	n = db_run(&d->db, e,
		   "UPDATE approvals SET state=?,answered=?,by=? WHERE id=? AND state='pending'",
		   "titi", state, time_now(), by, id);
	o = n > 0 ? approval_get(d, id) : NULL;
	cell = o ? json_text(o, "cell") : "";
	if (o)
		event_add(d, event, *cell ? cell : NULL, event_json(o));
	if (*cell)
		note_approval(d, o);
	json_decref(o);
	if (n > 0)
		db_run(&d->db, e,
		       "DELETE FROM approvals WHERE state<>'pending' AND id<=(SELECT max(id) FROM "
		       "approvals)-?",
		       "i", (int64_t)ROWS_KEPT);
	return db_end(&d->db, e) == 0 && n > 0;
}

/* ---- answers ---- */

static void answer_send(struct cell *c, int64_t ask, bool allow)
{
	struct keep_msg m = { .type = KEEP_ANSWER, .n = (uint64_t)ask, .a = allow };

	/* What it does not take now is found when the lists are compared. */
	if (c->keeper && link_ask(c->keeper, &m, NULL, 0, link_ignore, NULL) < 0)
		log_warn("cell %s: its keeper does not take an answer", c->id);
}

void approvals_owner(int kind, const struct approval_owner *o)
{
	owners[-kind - 1] = o;
}

/* Of a question of vivd's own: one change with what follows from it. */
static int own_answer(struct daemon *d, int64_t id, int64_t kind, struct answer *a, const char *by,
		      struct err *e)
{
	const struct approval_owner *o = kind >= -APPROVAL_KINDS ? owners[-kind - 1] : NULL;
	json_t *approval = approval_get(d, id);
	int ret = -1;

	if (approval && o && (!o->check || o->check(d, approval, a, e) == 0)) {
		db_begin(&d->db);
		if (!row_end(d, id, a->allow ? "allowed" : "denied", by, e) && !e->kind)
			err_note(e, ERR_CONFLICT, "it was answered already");
		else if (!e->kind && o->answered)
			o->answered(d, id, approval, a, by);
		ret = db_end(&d->db, e) < 0 || e->kind ? -1 : 0;
	}
	json_decref(approval);
	if (ret == 0 && o->decided)
		o->decided(d, id, a->allow);
	return ret;
}

int approval_answer(struct daemon *d, int64_t id, bool allow, const char *by, struct err *e)
{
	return approval_answer_by(d, id, (struct answer){ .allow = allow }, by, e);
}

int approval_answer_by(struct daemon *d, int64_t id, struct answer a, const char *by, struct err *e)
{
	sqlite3_stmt *q =
		db_query(&d->db, "SELECT state,cell,ask,run FROM approvals WHERE id=?", "i", id);
	bool found = db_next(q), pending = found && !strcmp(db_text(q, 0), "pending");
	struct cell *c = found ? cell_by_id(d, db_text(q, 1)) : NULL;
	int64_t ask = found ? db_int(q, 2) : 0, run = found ? db_int(q, 3) : 0;

	if (!found)
		err_note(e, ERR_NOT_FOUND,
			 "there is no approval %lld" REMEDY "'viv approvals' lists them",
			 (long long)id);
	else if (!pending)
		err_note(e, ERR_CONFLICT, "approval %lld is %s already", (long long)id,
			 db_text(q, 0));
	db_done(q);
	if (!pending)
		return -1;
	if (run < 0)
		return own_answer(d, id, run, &a, by, e);
	if (!row_end(d, id, a.allow ? "allowed" : "denied", by, e))
		return e->kind ? -1 : err_set(e, ERR_CONFLICT, "it was answered already");
	if (c)
		answer_send(c, ask, a.allow);
	return 0;
}

/* A word of a rule has no spaces, and nothing that a pattern would take for something else. */
static bool is_word(const char *s)
{
	return s && *s && !s[strcspn(s, " \t\r\n#*?[]{}\\\"")] && strlen(s) < 1000;
}

/* A path that every server reads as it stands: else the rule would match one way to read it only
 * (gate/http.h). */
static bool path_is_plain(const char *path)
{
	return is_word(path) && path[0] == '/' && !strpbrk(path, "%;") && !strstr(path, "//") &&
	       !strstr(path, "/./") && !strstr(path, "/../");
}

char *approval_rule(const json_t *approval, bool allow)
{
	const char *scope = json_text(approval, "scope"), *path = json_text(approval, "path");
	const char *name = json_text(approval, "name"), *method = json_text(approval, "method");
	const json_t *access = json_object_get(approval, "access"), *word;
	json_int_t port = json_integer_value(json_object_get(approval, "port"));
	struct buf b = { 0 };
	char text[32];
	size_t i;

	if (!name)
		name = json_text(approval, "address");
	/* A rule that allows cells would have to have the bounds of the one that asks. */
	if (!scope || !strcmp(scope, "agent") || !strcmp(scope, "workflow") ||
	    (!strcmp(scope, "cells") && allow) || json_text(approval, "to") ||
	    !is_word(strcmp(scope, "net") ? path : name))
		return NULL;
	if (method && (!is_word(method) || !path_is_plain(path)))
		return NULL;
	buf_add_text(&b, allow ? "allow " : "deny ");
	buf_add_text(&b, scope);
	buf_add_text(&b, " ");
	if (strcmp(scope, "net")) {
		buf_add_text(&b, path);
		json_array_foreach(access, i, word) {
			buf_add_text(&b, i ? "," : " ");
			buf_add_text(&b, json_string_value(word));
		}
		return (char *)b.p;
	}
	snprintf(text, sizeof(text), strchr(name, ':') ? "]:%lld" : ":%lld", (long long)port);
	buf_add_text(&b, strchr(name, ':') ? "[" : "");
	buf_add_text(&b, name);
	buf_add_text(&b, text);
	if (method) {
		buf_add_text(&b, " ");
		buf_add_text(&b, method);
		buf_add_text(&b, " ");
		buf_add_text(&b, path);
	} else if (json_text(approval, "protocol")) {
		buf_add_text(&b, " ");
		buf_add_text(&b, json_text(approval, "protocol"));
	}
	return (char *)b.p;
}

/* ---- comparing the lists ---- */

static int64_t question_add(struct daemon *d, const char *cell, const json_t *q, int64_t run,
			    int64_t ask)
{
	char *text = json_dumps(q, JSON_COMPACT);
	json_t *o = NULL;
	int64_t id = 0;

	if (!text)
		return 0;
	db_begin(&d->db);
	if (db_run(&d->db, NULL,
		   "INSERT INTO approvals(cell,run,ask,state,question,created,answered,by) "
		   "VALUES(?,?,?,'pending',?,?,0,'')",
		   "tiiti", cell, run, ask, text, time_now()) > 0) {
		id = sqlite3_last_insert_rowid(d->db.sql);
		o = approval_get(d, id);
	}
	if (o)
		event_add(d, "approval.asked", *cell ? cell : NULL, event_json(o));
	free(text);
	if (db_end(&d->db, NULL) == 0 && o && hook_program)
		hook_ask(d, hook_program, o);
	json_decref(o);
	return id;
}

static void question_new(struct cell *c, const json_t *q, int64_t run, int64_t ask)
{
	question_add(c->d, c->id, q, run, ask);
}

int64_t approval_ask(struct daemon *d, const char *cell, int kind, int64_t key, json_t *question)
{
	int64_t id = question ? question_add(d, cell, question, kind, key) : 0;

	json_decref(question);
	return id;
}

void approval_withdraw(struct daemon *d, int64_t id)
{
	row_end(d, id, "withdrawn", "", NULL);
}

static void question_seen(struct cell *c, const json_t *q)
{
	int64_t ask = json_integer_value(json_object_get(q, "ask"));
	int64_t run = json_integer_value(json_object_get(q, "run"));
	sqlite3_stmt *s =
		db_query(&c->d->db, "SELECT state FROM approvals WHERE cell=? AND run=? AND ask=?",
			 "tii", c->id, run, ask);
	bool found = db_next(s), allowed = found && !strcmp(db_text(s, 0), "allowed");
	bool pending = found && !strcmp(db_text(s, 0), "pending");

	db_done(s);
	if (!found)
		question_new(c, q, run, ask);
	else if (!pending)
		answer_send(c, ask, allowed);
}

static bool list_has(const json_t *list, int64_t run, int64_t ask)
{
	const json_t *q;
	size_t i;

	json_array_foreach(list, i, q)
		if (json_integer_value(json_object_get(q, "ask")) == ask &&
		    json_integer_value(json_object_get(q, "run")) == run)
			return true;
	return false;
}

/* Those of the cell that are pending and not in the list (NULL: there is none). */
static void withdraw_missing(struct cell *c, const json_t *list)
{
	struct buf gone = { 0 };
	sqlite3_stmt *q = db_query(
		&c->d->db,
		"SELECT id,run,ask FROM approvals WHERE cell=? AND state='pending' AND run>=0", "t",
		c->id);

	while (db_next(q)) {
		int64_t id = db_int(q, 0);

		if (!list_has(list, db_int(q, 1), db_int(q, 2)))
			buf_add(&gone, &id, sizeof(id));
	}
	db_done(q);
	for (size_t i = 0; i < BUF_COUNT(&gone, int64_t); i++)
		row_end(c->d, *BUF_ITEM(&gone, int64_t, i), "withdrawn", "", NULL);
	buf_free(&gone);
}

static json_t *list_read(int fd)
{
	struct stat st;
	json_t *list = NULL;
	char *text;

	if (fstat(fd, &st) < 0 || st.st_size <= 0 || st.st_size > (off_t)LIST_BYTES)
		return NULL;
	text = xalloc((size_t)st.st_size);
	if (pread(fd, text, (size_t)st.st_size, 0) == st.st_size)
		list = json_loadb(text, (size_t)st.st_size, 0, NULL);
	free(text);
	return list;
}

static void asks_look(struct cell *c);

static void listed(void *arg, const struct keep_msg *m, int *fds, unsigned nfds)
{
	struct cell *c = arg;
	json_t *list = m && m->type == KEEP_ASKS && nfds ? list_read(fds[0]) : NULL;
	bool again = c->asks == ASKS_AGAIN;
	const json_t *q;
	size_t i;

	for (unsigned k = 0; k < nfds; k++)
		close(fds[k]);
	c->asks = ASKS_KNOWN;
	if (json_is_array(list)) {
		json_array_foreach(list, i, q)
			question_seen(c, q);
		withdraw_missing(c, list);
	}
	json_decref(list);
	if (again)
		asks_look(c);
	else
		c->d->settled(c->d);
}

static void asks_look(struct cell *c)
{
	struct keep_msg m = { .type = KEEP_ASKS };

	if (c->asks != ASKS_KNOWN) {
		c->asks = ASKS_AGAIN;
		return;
	}
	if (c->keeper && link_ask(c->keeper, &m, NULL, 0, listed, c) == 0)
		c->asks = ASKS_ASKED;
}

static void cell_asked(struct cell *c)
{
	if (c->keeper)
		asks_look(c);
	else
		withdraw_missing(c, NULL);
}

void approvals_open(struct daemon *d, const char *hook)
{
	hook_program = hook;
	d->asked = cell_asked;
	/* Of cells that were removed meanwhile nobody will hear. */
	db_run(&d->db, NULL,
	       "UPDATE approvals SET state='withdrawn' WHERE state='pending' AND cell<>'' AND "
	       "cell NOT IN (SELECT id FROM cells)",
	       "");
}
