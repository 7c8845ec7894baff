/* See events.h. */
#include "daemon/state/events.h"

#include <stdlib.h>
#include <string.h>

/* Removed in lots, or each event would cost a second write. */
#define SWEEP 256

void events_open(struct daemon *d)
{
	sqlite3_stmt *q;

	list_init(&d->watches);
	/* Not the biggest in the table: numbers are never used again, even when all is swept. */
	q = db_query(&d->db, "SELECT seq FROM sqlite_sequence WHERE name='events'", "");
	if (db_next(q))
		d->last_event = db_int(q, 0);
	db_done(q);
}

int64_t events_oldest(struct daemon *d)
{
	sqlite3_stmt *q = db_query(&d->db, "SELECT min(seq) FROM events", "");
	int64_t oldest = db_next(q) ? db_int(q, 0) : 0;

	db_done(q);
	return oldest ? oldest : d->last_event + 1;
}

void event_add(struct daemon *d, const char *type, const char *cell, json_t *data)
{
	char *text = data ? json_dumps(data, JSON_COMPACT) : NULL;
	struct event_watch *w, *tmp;

	json_decref(data);
	if (db_run(&d->db, NULL, "INSERT INTO events(time,type,cell,data) VALUES(?,?,?,?)", "ittt",
		   time_now(), type, cell, text ? text : "{}") < 0) {
		free(text);
		return;
	}
	free(text);
	d->last_event = sqlite3_last_insert_rowid(d->db.sql);
	d->count.events++;
	if (d->last_event % SWEEP == 0)
		db_run(&d->db, NULL, "DELETE FROM events WHERE seq<=?", "i",
		       d->last_event - EVENTS_KEPT);
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

char *event_next(struct daemon *d, int64_t *seq, const char *cell)
{
	sqlite3_stmt *q;
	char *line = NULL;

	if (*seq >= d->last_event)
		return NULL;
	/* A number that was told is not given again. */
	db_flush(&d->db);
	q = *cell ? db_query(&d->db,
			     "SELECT seq,time,type,cell,data FROM events WHERE seq>? AND cell=? "
			     "ORDER BY seq LIMIT 1",
			     "it", *seq, cell)
		  : db_query(&d->db,
			     "SELECT seq,time,type,cell,data FROM events WHERE seq>? ORDER BY seq "
			     "LIMIT 1",
			     "i", *seq);
	if (db_next(q)) {
		json_t *ev = json_pack("{s:I,s:s,s:s,s:s*,s:o}", "seq", (json_int_t)db_int(q, 0),
				       "time", time_text(db_int(q, 1)).str, "type", db_text(q, 2),
				       "cell", *db_text(q, 3) ? db_text(q, 3) : NULL, "data",
				       json_loads(db_text(q, 4), 0, NULL));

		*seq = db_int(q, 0);
		line = ev ? json_dumps(ev, JSON_COMPACT) : NULL;
		json_decref(ev);
	} else {
		*seq = d->last_event;
	}
	db_done(q);
	return line;
}
