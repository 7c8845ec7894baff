/* Searching transcripts: the texts of prompts, of what agents say, and the titles of their tool
 * calls, in an index of SQLite's FTS5. Agents write a message in many small pieces; pieces that
 * follow each other are one text here. The index is brought up to date when somebody searches, from
 * the events. */
#include <stdlib.h>
#include <string.h>

#include "daemon/sessions/private.h"
#include "daemon/state/output.h"

#define TEXT_MAX 16384 /* bytes of one text */
#define STEP 2000 /* events at once */

struct text {
	struct buf b;
	int64_t seq;
	char kind[24];
};

static void text_flush(struct session *s, struct text *t)
{
	struct db *db = &s->d->db;
	char *text;

	if (!t->b.len)
		return;
	text = xstrndup((char *)t->b.p, t->b.len);
	db_run(db, NULL, "INSERT INTO session_texts(session,seq,type,text) VALUES(?,?,?,?)", "iitt",
	       s->row, t->seq, t->kind, text);
	db_run(db, NULL, "INSERT INTO transcripts(rowid,text) VALUES(?,?)", "it",
	       (int64_t)sqlite3_last_insert_rowid(db->sql), text);
	free(text);
	t->b.len = 0;
}

static void text_add(struct session *s, struct text *t, const char *kind, int64_t seq,
		     const char *text)
{
	if (strcmp(t->kind, kind) || t->b.len > TEXT_MAX)
		text_flush(s, t);
	if (!t->b.len)
		t->seq = seq;
	snprintf(t->kind, sizeof(t->kind), "%s", kind);
	buf_add(&t->b, text, strnlen(text, TEXT_MAX));
}

static void blocks_add(struct session *s, struct text *t, const json_t *blocks, int64_t seq)
{
	const json_t *block;
	size_t i;

	json_array_foreach(blocks, i, block)
		if (json_text(block, "text"))
			text_add(s, t, "prompt", seq, json_text(block, "text"));
	text_flush(s, t);
}

static void event_index(struct session *s, struct text *t, int64_t seq, const char *type,
			const char *data)
{
	json_t *o = json_loads(data, JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL, NULL);
	const json_t *update = json_object_get(o, "update");
	const char *kind = json_text(update, "sessionUpdate");
	const char *text = json_text(json_object_get(update, "content"), "text");

	if (!strcmp(type, "prompt")) {
		text_flush(s, t);
		blocks_add(s, t, json_object_get(o, "content"), seq);
	} else if (kind && text &&
		   (!strcmp(kind, "agent_message_chunk") || !strcmp(kind, "agent_thought_chunk"))) {
		text_add(s, t, kind[6] == 'm' ? "message" : "thought", seq, text);
	} else if (kind && !strncmp(kind, "tool_call", 9) && json_text(update, "title")) {
		text_flush(s, t);
		text_add(s, t, "tool", seq, json_text(update, "title"));
		text_flush(s, t);
	} else if (strcmp(type, "stderr") != 0) {
		text_flush(s, t);
	}
	json_decref(o);
}

/* False: there is more. */
static bool session_index(struct session *s)
{
	struct text t = { 0 };
	sqlite3_stmt *q;
	int n = 0;

	if (s->indexed >= s->seq)
		return true;
	session_begin(s);
	q = db_query(
		&s->d->db,
		"SELECT seq,type,data FROM session_events WHERE session=? AND seq>? ORDER BY seq "
		"LIMIT ?",
		"iii", s->row, s->indexed, (int64_t)STEP);
	while (db_next(q)) {
		event_index(s, &t, db_int(q, 0), db_text(q, 1), db_text(q, 2));
		s->indexed = db_int(q, 0);
		n++;
	}
	db_done(q);
	text_flush(s, &t);
	buf_free(&t.b);
	return session_end(s, NULL) < 0 || n < STEP;
}

void search_forget(struct session *s, int64_t upto)
{
	struct db *db = &s->d->db;

	db_run(db, NULL,
	       "INSERT INTO transcripts(transcripts,rowid,text) SELECT 'delete',id,text FROM "
	       "session_texts WHERE session=? AND seq<=?",
	       "ii", s->row, upto);
	db_run(db, NULL, "DELETE FROM session_texts WHERE session=? AND seq<=?", "ii", s->row,
	       upto);
}

/* Each word in quotes: nothing in it is an operator. */
static char *query_make(const char *words)
{
	struct buf b = { 0 };
	const char *p = words;

	while (*p) {
		size_t n = strcspn(p, " \t\r\n");

		if (n) {
			buf_add(&b, " \"", b.len ? 2 : 2);
			for (size_t i = 0; i < n; i++) {
				if (p[i] == '"')
					buf_add(&b, "\"", 1);
				buf_add(&b, p + i, 1);
			}
			buf_add(&b, "\"", 1);
		}
		p += n + strspn(p + n, " \t\r\n");
	}
	buf_add(&b, "", 1);
	return (char *)b.p;
}

json_t *transcripts_search(struct daemon *d, const char *words, const char *cell, unsigned limit,
			   struct err *e)
{
	json_t *list = json_array();
	struct session *s;
	sqlite3_stmt *q;
	char *query;

	if (!words[strspn(words, " \t\r\n")] || strlen(words) > 1000) {
		json_decref(list);
		err_note(e, ERR_INVALID, "'q' is a list of words to search for");
		return NULL;
	}
	list_for_each(s, sessions_all(), link)
		while (!session_index(s))
			;
	query = query_make(words);
	q = db_query(
		&d->db,
		"SELECT s.id,s.cell,t.seq,coalesce(e.time,0),t.type,"
		"snippet(transcripts,0,'[',']','...',16) FROM transcripts JOIN session_texts t ON "
		"t.id=transcripts.rowid JOIN sessions s ON s.row=t.session LEFT JOIN "
		"session_events "
		"e ON e.session=t.session AND e.seq=t.seq WHERE transcripts MATCH ?1 AND (?2='' OR "
		"s.cell=?2) ORDER BY t.id DESC LIMIT ?3",
		"tti", query, cell, (int64_t)limit);
	while (db_next(q))
		json_array_append_new(
			list,
			json_pack("{s:s,s:s,s:I,s:s,s:s,s:o}", "session", db_text(q, 0), "cell",
				  db_text(q, 1), "seq", (json_int_t)db_int(q, 2), "time",
				  time_text(db_int(q, 3)).str, "type", db_text(q, 4), "snippet",
				  output_text(db_text(q, 5), strlen(db_text(q, 5)), 2000)));
	db_done(q);
	free(query);
	return list;
}
