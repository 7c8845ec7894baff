/* The transcript of a session: events in order, kept up to a size. The oldest go first, in lots,
 * and a reader who wants them is told of the gap. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/sessions/private.h"

#define OVERHEAD 64 /* of a row */
#define SWEEP (EVENTS_MAX_BYTES / 16) /* removed at once */

/* Rows that are kept in the way of a 64 MiB transcript are removed from its beginning on. */
static void events_sweep(struct session *s)
{
	sqlite3_stmt *q =
		db_query(&s->d->db,
			 "SELECT seq,length(CAST(data AS BLOB)) FROM session_events WHERE "
			 "session=? ORDER BY seq",
			 "i", s->row);
	int64_t upto = 0, freed = 0;

	while (freed < SWEEP && db_next(q) && db_int(q, 0) < s->seq) {
		upto = db_int(q, 0);
		freed += db_int(q, 1) + OVERHEAD;
	}
	db_done(q);
	if (!upto)
		return;
	search_forget(s, upto);
	db_run(&s->d->db, NULL, "DELETE FROM session_events WHERE session=? AND seq<=?", "ii",
	       s->row, upto);
	s->bytes -= freed;
	s->first = upto + 1;
	live_set(s, "dropped",
		 json_integer(json_integer_value(live_get(s, "dropped")) + (json_int_t)freed));
}

static void event_insert(struct session *s, const char *type, const char *data, int64_t time)
{
	s->seq++;
	s->bytes += (int64_t)strlen(data) + OVERHEAD;
	s->changed = true;
	db_run(&s->d->db, NULL,
	       "INSERT INTO session_events(session,seq,time,type,data) VALUES(?,?,?,?,?)", "iiitt",
	       s->row, s->seq,
	       time	? time
	       : s->now ? s->now
			: time_now(),
	       type, data);
	if (s->bytes > EVENTS_MAX_BYTES)
		events_sweep(s);
}

void event_put(struct session *s, const char *type, json_t *data, int64_t time)
{
	char *text = data ? json_dumps(data, JSON_COMPACT) : NULL;

	json_decref(data);
	event_insert(s, type, text ? text : "{}", time);
	free(text);
}

void event_put_raw(struct session *s, const char *type, const char *data, size_t n, int64_t time)
{
	char *text = xstrndup(data, n);

	event_insert(s, type, text, time);
	free(text);
}

void event_error(struct session *s, const struct err *e)
{
	event_put(s, "error", json_err(e), 0);
}

/* ---- reading ---- */

int64_t session_last(const struct session *s)
{
	return s->seq;
}

static char *gap_line(const struct session *s, int64_t from, int64_t to)
{
	json_t *o = json_pack(
		"{s:I,s:s,s:s,s:{s:I,s:I,s:I,s:s}}", "seq", (json_int_t)to, "time",
		time_text(s->updated).str, "type", "gap", "data", "from", (json_int_t)from, "to",
		(json_int_t)to, "bytes", json_integer_value(live_get(s, "dropped")), "reason",
		"the transcript is larger than 64 MiB, and its oldest events were removed");
	char *line = o ? json_dumps(o, JSON_COMPACT) : NULL;

	json_decref(o);
	return line;
}

char *session_event_next(struct session *s, int64_t *seq)
{
	char *line = NULL;
	sqlite3_stmt *q;

	if (*seq >= s->seq)
		return NULL;
	/* What is not on the disk yet is given the same number again if it must be (stream.c). */
	if (*seq + 1 < s->first) {
		int64_t from = *seq + 1;

		*seq = s->first - 1;
		return gap_line(s, from, *seq);
	}
	q = db_query(
		&s->d->db,
		"SELECT seq,time,type,data FROM session_events WHERE session=? AND seq>? ORDER BY "
		"seq LIMIT 1",
		"ii", s->row, *seq);
	if (db_next(q)) {
		*seq = db_int(q, 0);
		if (asprintf(&line, "{\"seq\":%lld,\"time\":\"%s\",\"type\":\"%s\",\"data\":%s}",
			     (long long)*seq, time_text(db_int(q, 1)).str, db_text(q, 2),
			     db_text(q, 3)) < 0)
			line = NULL;
	}
	db_done(q);
	return line;
}

void session_watch_add(struct session *s, struct session_watch *w,
		       void (*fn)(struct session_watch *w, bool gone))
{
	w->fn = fn;
	list_init(&w->link);
	list_append(&s->watches, &w->link);
}

void session_watch_remove(struct session_watch *w)
{
	list_remove(&w->link);
}
