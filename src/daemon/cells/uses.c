/* See uses.h. A use with an empty text says that there were more than are kept. */
#include "daemon/cells/uses.h"

#include <string.h>

#include "policy/learn.h"

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
	learn_write(&l, to);
	learn_fini(&l);
	return complete;
}

void uses_forget(struct daemon *d, const char *cell)
{
	db_run(&d->db, NULL, "DELETE FROM uses WHERE cell=?", "t", cell);
}
