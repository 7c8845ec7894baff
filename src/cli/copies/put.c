/* Copying host directories into a cell; see copies.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/copies/copies.h"
#include "cli/cp.h"
#include "cli/vivd.h"

/* The owner of the copy: the user that the cell's processes run as. */
static int owner_find(const struct run_options *o, struct tree_owner *ret, struct err *e)
{
	const char *text = o->user_text;
	unsigned uid, gid;
	int n = 0;

	*ret = (struct tree_owner){ 0 };
	if (!text || !strcmp(text, "root"))
		return 0;
	if (!strcmp(text, "agent")) {
		*ret = (struct tree_owner){ 1000, 1000 };
	} else if (sscanf(text, "%u:%u%n", &uid, &gid, &n) == 2 && !text[n]) {
		*ret = (struct tree_owner){ uid, gid };
	} else if (sscanf(text, "%u%n", &uid, &n) == 1 && !text[n]) {
		*ret = (struct tree_owner){ uid, uid };
	} else {
		return err_set(e, ERR_USAGE,
			       "--copy does not know the number of user '%s'" REMEDY
			       "give it as --user UID:GID",
			       text);
	}
	return 0;
}

static int entry_seen(void *arg, const char *line, size_t size)
{
	(void)line;
	(void)size;
	*(bool *)arg = true;
	return 0;
}

/* Makes the place of the copy, which must be empty. */
static int place_make(const char *cell_id, const struct copied *c, struct tree_owner owner,
		      struct err *e)
{
	struct buf path = { 0 };
	bool any = false;
	char number[32];
	int r;

	buf_add_text(&path, cell_path(cell_id, "/files/list").str);
	query_add(&path, "path", c->dst);
	r = vivd_stream("GET", (char *)path.p, NULL, entry_seen, &any, e);
	path.len = 0;
	if (r == 0 || any) {
		buf_free(&path);
		return any ? err_set(e, ERR_EXISTS,
				     "cannot copy to '%s': the cell has something there" REMEDY
				     "choose another place",
				     c->dst)
			   : 0;
	}
	if (e->kind != ERR_NOT_FOUND) {
		buf_free(&path);
		return err_wrap(e, "cannot copy to '%s'", c->dst);
	}
	buf_add_text(&path, cell_path(cell_id, "/files/mkdir").str);
	query_add(&path, "path", c->dst);
	query_add(&path, "parents", "1");
	snprintf(number, sizeof(number), "%u", owner.uid);
	query_add(&path, "uid", number);
	snprintf(number, sizeof(number), "%u", owner.gid);
	query_add(&path, "gid", number);
	r = vivd_ask("POST", (char *)path.p, NULL, NULL, e);
	buf_free(&path);
	return r < 0 ? err_wrap(e, "cannot copy to '%s'", c->dst) : 0;
}

static int copied_put(struct copied *c, const struct run_copy *from, const char *cell_id,
		      struct tree_owner owner, bool quiet, struct err *e)
{
	c->dir = realpath(from->src, NULL);
	if (!c->dir)
		return err_set(e, errno == ENOENT ? ERR_NOT_FOUND : ERR_FAILED,
			       "cannot copy '%s': %s", from->src, strerror(errno));
	c->dst = xstrndup(from->dst, strlen(from->dst));
	/* What changes while it is copied counts as a change of the host's. */
	if (copied_scan(c, e) < 0 || place_make(cell_id, c, owner, e) < 0)
		return -1;
	return tree_copy_in(cell_id, c->dir, c->dst, owner, quiet, e);
}

static bool cell_is_gone(const char *id)
{
	struct err e;

	return vivd_ask("GET", cell_path(id, "").str, NULL, NULL, &e) < 0 &&
	       e.kind == ERR_NOT_FOUND;
}

int copies_put(const struct run_options *o, const char *cell_id, struct err *e)
{
	struct tree_owner owner;
	struct copies c;
	struct err unused;
	int r = 0;

	if (owner_find(o, &owner, e) < 0)
		return -1;
	if (copies_read(&c, cell_id, &unused) == 0)
		return err_set(e, ERR_EXISTS,
			       "cell '%s' has a copy already" REMEDY
			       "leave --copy out; 'viv merge %s' brings its changes back",
			       o->name, o->name);
	for (unsigned i = 0; i < o->ncopies && !r; i++) {
		c.n = i + 1;
		r = copied_put(&c.v[i], &o->copies[i], cell_id, owner, o->quiet, e);
	}
	if (!r)
		r = copies_write(&c, e);
	copies_prune(cell_is_gone);
	copies_fini(&c);
	return r;
}
