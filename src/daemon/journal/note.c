/* See note.h. */
#include "daemon/journal/note.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/utf8.h"
#include "daemon/keepers/link.h"
#include "daemon/state/fields.h"
#include "spec/options.h"
#include "wire/memfd.h"

#define RETRY_MS 1000

static uv_timer_t sending; /* rows were added in this round */
static uv_timer_t again; /* a keeper did not take one */

static bool level_is_on(const char *level)
{
	return level && *level ? strcmp(level, "off") != 0 : journal_default() != JOURNAL_OFF;
}

bool cell_has_journal(const struct cell *c)
{
	return level_is_on(json_text(c->spec, "journal"));
}

/* The same by its row: sessions read on before the cells are known. */
static bool row_has_journal(struct daemon *d, const char *cell)
{
	sqlite3_stmt *q =
		db_query(&d->db, "SELECT json_extract(spec,'$.journal') FROM cells WHERE id=?", "t",
			 cell);
	bool on = db_next(q) && level_is_on(db_text(q, 0));

	db_done(q);
	return on;
}

/* ---- to the keeper ---- */

static void cell_send(struct cell *c);

static void cells_send(uv_timer_t *t)
{
	struct daemon *d = t->data;
	struct cell *c;

	if (!notes_waiting(d, NULL))
		return;
	/* Nothing is in a journal that the database could still lose. */
	db_flush(&d->db);
	list_for_each(c, &d->cells, link)
		if (c->keeper && !c->noting)
			cell_send(c);
	orphans_send(d);
}

static void row_done(struct daemon *d, int64_t id)
{
	db_run(&d->db, NULL, "DELETE FROM journal_notes WHERE id=?", "i", id);
}

static void sent(void *arg, const struct keep_msg *m, int *fds, unsigned nfds)
{
	struct cell *c = arg;
	int64_t id = c->noting;
	struct err e = { 0 };

	link_ignore(NULL, m, fds, nfds);
	c->noting = 0;
	if (!m)
		return; /* its next keeper gets it */
	if (m->type != KEEP_OK)
		keep_fail_get(m, &e);
	if (e.kind == ERR_STORAGE || e.kind == ERR_BUSY) {
		uv_timer_start(&again, cells_send, RETRY_MS, 0);
		return;
	}
	/* Without a journal there is nothing to be kept for it. */
	if (e.kind && e.kind != ERR_NOT_FOUND && e.kind != ERR_UNSUPPORTED)
		log_warn("cell %s: a record is not in its journal: %s", c->id, e.message);
	row_done(c->d, id);
	if (c->keeper)
		cell_send(c);
}

/* The next row. */
static void cell_send(struct cell *c)
{
	sqlite3_stmt *q = db_query(&c->d->db,
				   "SELECT id,number,frame FROM journal_notes WHERE cell=? ORDER "
				   "BY id LIMIT 1",
				   "t", c->id);
	struct keep_msg m = { .type = KEEP_JOURNAL };
	int fd = -1, err = 0;
	int64_t id = 0;
	size_t n = 0;

	if (db_next(q)) {
		const void *frame = db_blob(q, 2, &n);

		id = db_int(q, 0);
		m.n = (uint64_t)db_int(q, 1);
		m.a = (int32_t)n;
		if (n < KEEP_TEXT) /* each text is ended with a NUL */
			memcpy(m.text, frame, n);
		else
			fd = memfd_sealed("viv-record", frame, n);
	}
	db_done(q);
	if (!id)
		return;
	if (n >= KEEP_TEXT && fd < 0)
		err = fd;
	else
		err = link_ask(c->keeper, &m, &fd, fd >= 0 ? 1 : 0, sent, c);
	if (fd >= 0)
		close(fd);
	if (err)
		uv_timer_start(&again, cells_send, RETRY_MS, 0);
	else
		c->noting = id;
}

static void cell_met(struct cell *c)
{
	if (c->keeper)
		uv_timer_start(&sending, cells_send, 0, 0);
}

/* ---- rows ---- */

int64_t notes_waiting(struct daemon *d, const char *cell)
{
	sqlite3_stmt *q = cell ? db_query(&d->db, "SELECT count(*) FROM journal_notes WHERE cell=?",
					  "t", cell)
			       : db_query(&d->db, "SELECT EXISTS(SELECT 1 FROM journal_notes)", "");
	int64_t n = db_next(q) ? db_int(q, 0) : 0;

	db_done(q);
	return n;
}

static void row_add(struct daemon *d, const char *cell, enum journal_kind kind, const void *record)
{
	_Alignas(8) static uint8_t frame[JOURNAL_FRAME_MAX];
	size_t n = journal_encode(kind, record, 0, (int64_t)uv_hrtime(), time_now(), frame);
	int64_t number;

	sqlite3_randomness(sizeof(number), &number);
	number = (number & INT64_MAX) | 1;
	db_run(&d->db, NULL, "INSERT INTO journal_notes(cell,number,frame) VALUES(?,?,?)", "tib",
	       cell, number, frame, n);
}

void note_add(struct daemon *d, const char *cell, enum journal_kind kind, const void *record)
{
	struct cell *c = cell_by_id(d, cell);
	int64_t n;

	if (c ? !cell_has_journal(c) : !row_has_journal(d, cell))
		return;
	n = notes_waiting(d, cell);
	if (n > NOTES_CELL)
		return;
	if (n == NOTES_CELL) {
		struct journal_HOLE hole = { .reason = note_text(
						     "more records of vivd than it keeps") };

		log_warn("cell %s: too many records wait for its journal", cell);
		row_add(d, cell, J_HOLE, &hole);
		return;
	}
	row_add(d, cell, kind, record);
	uv_timer_start(&sending, cells_send, 0, 0);
}

struct jtext note_cut(const char *s, size_t n)
{
	n = MIN(n, (size_t)NOTE_TEXT);
	return (struct jtext){ s, (uint32_t)(n - text_utf8_tail(s, n)) };
}

/* ---- kinds ---- */

void note_operator(struct daemon *d, const char *cell, const char *action, const char *detail)
{
	struct journal_OPERATOR r = { .action = note_text(action), .detail = note_text(detail) };

	note_add(d, cell, J_OPERATOR, &r);
}

/* Words of a question, where they are: "GET /path", "example.org 443". */
static void question_add(struct buf *b, const json_t *o, const char *name)
{
	const json_t *v = json_object_get(o, name);
	char number[24];

	if (json_is_integer(v))
		snprintf(number, sizeof(number), "%lld", (long long)json_integer_value(v));
	else if (!json_is_string(v))
		return;
	if (b->len)
		buf_add(b, " ", 1);
	if (json_is_integer(v))
		buf_add_text(b, number);
	else
		buf_add(b, json_string_value(v), json_string_length(v));
}

void note_approval(struct daemon *d, const json_t *o)
{
	static const char *const words[] = { "action", "protocol", "method", "name", "address",
					     "port",   "path",	   "to",     "title" };
	const char *state = json_text(o, "state"), *scope = json_text(o, "scope");
	struct journal_APPROVAL r = { .scope = note_text(scope),
				      .by = note_text(json_text(o, "by")) };
	struct buf b = { 0 };
	char id[24];

	snprintf(id, sizeof(id), "%lld", (long long)json_integer_value(json_object_get(o, "id")));
	for (unsigned i = 0; i < ARRAY_LEN(words); i++)
		question_add(&b, o, words[i]);
	r.id = note_text(id);
	r.what =
		(struct jtext){ (const char *)b.p, (uint32_t)MIN(b.len, (size_t)JOURNAL_TEXT_MAX) };
	r.answer = note_text(!state			 ? ""
			     : !strcmp(state, "allowed") ? "allow"
			     : !strcmp(state, "denied")	 ? "deny"
							 : "withdrawn");
	note_add(d, json_text(o, "cell"), J_APPROVAL, &r);
	buf_free(&b);
}

/* Events that say what the operator did. keeper: one of a cell that runs is recorded by its keeper,
 * which did it. */
static const struct told {
	const char *type, *action, *detail; /* detail: a member */
	bool keeper;
} told[] = {
	{ "cell.renamed", "rename", "name", false },
	{ "cell.updated", "settings", "changed", false },
	{ "cell.forked", "forked from", "from", false },
	{ "cell.rolledback", "rollback", "snapshot", true },
	{ "policy.changed", "policy", NULL, true },
	{ "snapshot.created", "snapshot", "snapshot", true },
	{ "snapshot.removed", "forget", "snapshot", true },
};

/* What waits for a cell that is gone is appended to its journal, and with it what its last run left
 * in a ring, if that was killed. */
static void removed(struct daemon *d, const char *cell)
{
	const struct journal_OPERATOR r = { .action = note_text("remove"),
					    .detail = note_text("its last run was killed") };

	if (!notes_waiting(d, cell) && orphan_has_ring(cell))
		row_add(d, cell, J_OPERATOR, &r);
	uv_timer_start(&sending, cells_send, 0, 0);
}

static void event_told(struct daemon *d, const char *type, const char *cell, const json_t *data)
{
	const struct told *t = told;
	const struct cell *c;

	if (!strcmp(type, "cell.removed"))
		removed(d, cell);
	while (t < told + ARRAY_LEN(told) && strcmp(t->type, type))
		t++;
	c = t < told + ARRAY_LEN(told) ? cell_by_id(d, cell) : NULL;
	if (!c || (t->keeper && c->keeper))
		return;
	note_operator(d, cell, t->action, t->detail ? json_text(data, t->detail) : NULL);
	if (!strcmp(type, "cell.forked"))
		note_operator(d, json_text(data, "from"), "fork", json_text(data, "name"));
}

void notes_open(struct daemon *d)
{
	sending.data = again.data = d;
	uv_timer_init(&d->loop, &sending);
	uv_timer_init(&d->loop, &again);
	uv_unref((uv_handle_t *)&sending);
	uv_unref((uv_handle_t *)&again);
	orphans_open(d);
	/* What an earlier vivd did not finish. */
	uv_timer_start(&sending, cells_send, RETRY_MS, 0);
	d->told = event_told;
	d->met = cell_met;
}
