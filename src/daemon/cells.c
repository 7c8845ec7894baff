/* See cells.h. */
#include "daemon/cells.h"

#include <stdio.h>

int cells_open(struct daemon *d, struct err *e)
{
	(void)e;
	list_init(&d->cells);
	return 0;
}

void cells_close(struct daemon *d)
{
	(void)d;
}

int cell_id_find(struct daemon *d, const char *text, char ret[CELL_ID_LEN + 1], struct fault *f)
{
	sqlite3_stmt *q =
		db_query(&d->db, "SELECT id FROM cells WHERE id=?1 OR name=?1", "t", text);
	bool found = db_next(q);

	if (found)
		snprintf(ret, CELL_ID_LEN + 1, "%s", db_text(q, 0));
	db_done(q);
	return found ? 0 : fault_set(f, 404, "not_found", "there is no cell '%.80s'", text);
}
