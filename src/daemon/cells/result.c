/* See result.h. */
#include "daemon/cells/result.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "daemon/cells/cells.h"
#include "daemon/state/output.h"
#include "keeper/client.h"
#include "wire/bootspec.h"

/* Its bytes; 0: none. More than there can be is nobody's result. */
static size_t bytes_read(int fd, char *p)
{
	size_t n = 0;
	ssize_t got;

	while (n <= CELL_RESULT_MAX && (got = read(fd, p + n, CELL_RESULT_MAX + 1 - n)) > 0)
		n += (size_t)got;
	return n <= CELL_RESULT_MAX ? n : 0;
}

void cell_result_take(struct cell *c)
{
	char name[CELL_ID_LEN + 8], *p, *text;
	struct stat st;
	struct err e;
	json_t *v;
	int dir = keep_cells_dir(&e), fd;
	size_t n;

	if (dir < 0)
		return;
	snprintf(name, sizeof(name), "%s.result", c->id);
	fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	close(dir);
	if (fd < 0)
		return;
	p = xalloc(CELL_RESULT_MAX + 1);
	n = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? bytes_read(fd, p) : 0;
	close(fd);
	v = n ? output_value(p, n) : NULL;
	text = v ? json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
	if (text &&
	    db_run(&c->d->db, NULL, "UPDATE cells SET result=? WHERE id=?", "tt", text, c->id) >= 0)
		c->has_result = true;
	free(text);
	json_decref(v);
	free(p);
}

void cell_result_forget(struct cell *c)
{
	if (c->has_result)
		db_run(&c->d->db, NULL, "UPDATE cells SET result='' WHERE id=?", "t", c->id);
	c->has_result = false;
}

json_t *cell_result(const struct cell *c)
{
	sqlite3_stmt *q;
	json_t *v = NULL;

	if (!c->has_result)
		return NULL;
	q = db_query(&c->d->db, "SELECT result FROM cells WHERE id=?", "t", c->id);
	if (db_next(q))
		v = json_loads(db_text(q, 0), JSON_DECODE_ANY, NULL);
	db_done(q);
	return v;
}

void cell_result_set(const struct cell *c, json_t *o)
{
	json_t *v = cell_result(c);

	if (v)
		json_object_set_new(o, "result", v);
}
