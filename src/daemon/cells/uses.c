/* See uses.h. A use with an empty text says that there were more than are kept. */
#include "daemon/cells/uses.h"

#include <stdlib.h>
#include <string.h>

#include "policy/learn.h"
#include "store/store.h"
#include "store/useslog.h"

static int64_t count_of(struct cell *c)
{
	sqlite3_stmt *q = db_query(&c->d->db, "SELECT count(*) FROM uses WHERE cell=?", "t", c->id);
	int64_t n = db_next(q) ? db_int(q, 0) : 0;

	db_done(q);
	return n;
}

void uses_add(struct cell *c, const char *text, bool more)
{
	if (count_of(c) >= USES_MAX)
		more = true;
	else
		db_run(&c->d->db, NULL, "INSERT OR IGNORE INTO uses(cell,text) VALUES(?,?)", "tt",
		       c->id, text);
	if (more)
		db_run(&c->d->db, NULL, "INSERT OR IGNORE INTO uses(cell,text) VALUES(?,'')", "t",
		       c->id);
}

/* What runs of 'viv run' in the foreground left beside the disk. */
static void runs_add(const struct cell *c, struct learn *l)
{
	char *text = NULL;
	struct store s;
	struct err e;

	if (!c->name[0] || store_open(&s, &e) < 0)
		return;
	if (useslog_read(s.fd, c->id, &text) == 0)
		for (char *at = text; *at; at += strcspn(at, "\n"), at += *at != '\0')
			learn_add(l, at, strcspn(at, "\n"));
	free(text);
	store_close(&s);
}

bool uses_learn(const struct cell *c, struct buf *to)
{
	sqlite3_stmt *q = db_query(&c->d->db, "SELECT text FROM uses WHERE cell=?", "t", c->id);
	bool complete = true;
	struct learn l;

	learn_init(&l);
	while (db_next(q)) {
		const char *text = db_text(q, 0);

		complete &= *text != '\0';
		learn_add(&l, text, strlen(text));
	}
	db_done(q);
	runs_add(c, &l);
	learn_write(&l, to);
	learn_fini(&l);
	return complete;
}

void uses_forget(struct daemon *d, const char *cell)
{
	db_run(&d->db, NULL, "DELETE FROM uses WHERE cell=?", "t", cell);
}

void uses_restart(struct cell *c)
{
	struct store s;
	struct err e;

	uses_forget(c->d, c->id);
	if (!c->name[0] || store_open(&s, &e) < 0)
		return;
	useslog_remove(s.fd, c->id);
	store_close(&s);
}
