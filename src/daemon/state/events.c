/* See events.h. */
#include "daemon/state/events.h"

#include <stdlib.h>
#include <string.h>

/* Removed in lots, or each event would cost a second write. */
#define SWEEP 256

void events_open(struct daemon *d)
{
	list_init(&d->watches);
}

static int64_t number(struct daemon *d, const char *sql)
{
	sqlite3_stmt *q = db_query(&d->db, sql, "");
	int64_t n = db_next(q) ? db_int(q, 0) : 0;

	db_done(q);
	return n;
}

/* Not the biggest in the table: numbers are never used again, even when all is swept. Asked for
 * each time: an event is undone with the change that it belongs to, and the next one gets its
 * number. */
int64_t events_last(struct daemon *d)
{
	return number(d, "SELECT seq FROM sqlite_sequence WHERE name='events'");
}

static int64_t events_oldest(struct daemon *d)
{
	int64_t oldest = number(d, "SELECT min(seq) FROM events");

	return oldest ? oldest : events_last(d) + 1;
}

void event_add(struct daemon *d, const char *type, const char *cell, json_t *data)
{
	char *text = data ? json_dumps(data, JSON_COMPACT) : NULL;
	struct event_watch *w, *tmp;
	int64_t seq;

	if (db_run(&d->db, NULL, "INSERT INTO events(time,type,cell,data) VALUES(?,?,?,?)", "ittt",
		   time_now(), type, cell, text ? text : "{}") < 0) {
		free(text);
		json_decref(data);
		return;
	}
	free(text);
	seq = sqlite3_last_insert_rowid(d->db.sql);
	d->count.events++;
	if (d->told && cell)
		d->told(d, type, cell, data);
	json_decref(data);
	if (seq % SWEEP == 0)
		db_run(&d->db, NULL, "DELETE FROM events WHERE seq<=?", "i", seq - EVENTS_KEPT);
	list_for_each_safe(w, tmp, &d->watches, link)
		w->fn(w);
}

void event_watch_add(struct daemon *d, struct event_watch *w, void (*fn)(struct event_watch *w))
{
	w->fn = fn;
	list_append(&d->watches, &w->link);
}

void event_watch_remove(struct event_watch *w)
{
	list_remove(&w->link);
}

static char *gap(int64_t from, int64_t to)
{
	json_t *o = json_pack("{s:s,s:I,s:I}", "type", "gap", "from", (json_int_t)from, "to",
			      (json_int_t)to);
	char *line = o ? json_dumps(o, JSON_COMPACT) : NULL;

	json_decref(o);
	return line;
}

/* The event that the query stands at. */
static char *event_line(sqlite3_stmt *q)
{
	json_t *ev = json_pack("{s:I,s:s,s:s,s:s*,s:o}", "seq", (json_int_t)db_int(q, 0), "time",
			       time_text(db_int(q, 1)).str, "type", db_text(q, 2), "cell",
			       *db_text(q, 3) ? db_text(q, 3) : NULL, "data",
			       json_loads(db_text(q, 4), 0, NULL));
	char *line = ev ? json_dumps(ev, JSON_COMPACT) : NULL;

	json_decref(ev);
	return line;
}

/* The one after *seq of a query that gives it; NULL: none. */
static char *event_take(struct daemon *d, int64_t *seq, const char *sql, const char *cell)
{
	int64_t last, from;
	sqlite3_stmt *q;
	char *line = NULL;

	if (*seq >= events_last(d))
		return NULL;
	/* A number that was told is not given again. */
	db_flush(&d->db);
	last = events_last(d);
	from = *seq + 1;
	if (events_oldest(d) > from) {
		*seq = events_oldest(d) - 1;
		return gap(from, *seq);
	}
	q = *cell ? db_query(&d->db, sql, "it", *seq, cell) : db_query(&d->db, sql, "i", *seq);
	if (db_next(q)) {
		*seq = db_int(q, 0);
		line = event_line(q);
	} else {
		*seq = MAX(*seq, last);
	}
	db_done(q);
	return line;
}

char *event_next(struct daemon *d, int64_t *seq, const char *cell)
{
	static const char one[] =
		"SELECT seq,time,type,cell,data FROM events WHERE seq>? AND cell=? "
		"ORDER BY seq LIMIT 1";
	static const char all[] =
		"SELECT seq,time,type,cell,data FROM events WHERE seq>? ORDER BY seq LIMIT 1";

	return event_take(d, seq, *cell ? one : all, cell);
}

/* What the operator does with tokens and previews of the cell is not told. */
char *event_next_family(struct daemon *d, int64_t *seq, const char *cell)
{
	static const char family[] =
		"SELECT seq,time,type,cell,data FROM events WHERE seq>?1 AND cell IN "
		"(WITH RECURSIVE f(id) AS (SELECT ?2 UNION SELECT c.id FROM cells c JOIN f "
		"ON c.parent=f.id) SELECT id FROM f) AND (type LIKE 'cell.%' OR type LIKE "
		"'process.%' OR type LIKE 'session.%' OR type IN ('limit','oom','warning')) "
		"ORDER BY seq LIMIT 1";

	return event_take(d, seq, family, cell);
}
