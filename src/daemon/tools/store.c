/* See tools.h: tools in the database. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/state/fields.h"
#include "daemon/tools/tools.h"

json_t *tools_all(struct daemon *d)
{
	sqlite3_stmt *q = db_query(&d->db, "SELECT tool FROM tools ORDER BY name", "");
	json_t *list = json_array(), *t;

	while (db_next(q)) {
		t = json_loads(db_text(q, 0), 0, NULL);
		if (t)
			json_array_append_new(list, t);
	}
	db_done(q);
	return list;
}

json_t *tool_load(struct daemon *d, const char *name, struct err *e)
{
	sqlite3_stmt *q = db_query(&d->db, "SELECT tool FROM tools WHERE name=?", "t", name);
	json_t *t = db_next(q) ? json_loads(db_text(q, 0), 0, NULL) : NULL;

	db_done(q);
	if (!t)
		err_note(e, ERR_NOT_FOUND,
			 "there is no tool '%.64s'" REMEDY "'viv tool ls' lists them", name);
	return t;
}

static int64_t tools_count(struct daemon *d)
{
	sqlite3_stmt *q = db_query(&d->db, "SELECT count(*) FROM tools", "");
	int64_t n = db_next(q) ? db_int(q, 0) : 0;

	db_done(q);
	return n;
}

int tool_save(struct daemon *d, const json_t *tool, bool *ret_new, struct err *e)
{
	const char *name = json_text(tool, "name");
	char *text = json_dumps(tool, JSON_COMPACT);
	struct err none;
	json_t *old = tool_load(d, name, &none);
	int r;

	*ret_new = !old;
	json_decref(old);
	if (*ret_new && tools_count(d) >= TOOLS_MAX) {
		free(text);
		return err_set(e, ERR_TOO_MANY,
			       "there are %d tools already" REMEDY "'viv tool rm' removes one",
			       TOOLS_MAX);
	}
	db_begin(&d->db);
	db_run(&d->db, e,
	       "INSERT INTO tools(name,tool) VALUES(?,?) ON CONFLICT(name) DO UPDATE SET "
	       "tool=excluded.tool",
	       "tt", name, text);
	event_add(d, "tool.added", NULL,
		  json_pack("{s:s,s:O}", "name", name, "command",
			    json_object_get(tool, "command")));
	r = db_end(&d->db, e);
	free(text);
	return r;
}

int tool_remove(struct daemon *d, const char *name, struct err *e)
{
	int n;

	db_begin(&d->db);
	n = db_run(&d->db, e, "DELETE FROM tools WHERE name=?", "t", name);
	if (n > 0)
		event_add(d, "tool.removed", NULL, json_pack("{s:s}", "name", name));
	if (db_end(&d->db, e) < 0)
		return -1;
	return n > 0 ? 0
		     : err_set(e, ERR_NOT_FOUND,
			       "there is no tool '%.64s'" REMEDY "'viv tool ls' lists them", name);
}

static json_t *part_shown(const json_t *o, bool schemas)
{
	json_t *made = json_pack("{s:O,s:O}", "name", json_object_get(o, "name"), "description",
				 json_object_get(o, "description"));

	if (schemas && json_object_get(o, "schema"))
		json_object_set(made, "schema", json_object_get(o, "schema"));
	return made;
}

json_t *tool_shown(const json_t *tool, bool schemas, bool (*shown)(void *arg, const char *sub),
		   void *arg)
{
	const json_t *subs = json_object_get(tool, "subcommands"), *s;
	json_t *made = part_shown(tool, schemas), *list;
	size_t i;

	if (!subs)
		return made;
	list = json_array();
	json_array_foreach(subs, i, s)
		if (!shown || shown(arg, json_text(s, "name")))
			json_array_append_new(list, part_shown(s, schemas));
	json_object_set_new(made, "subcommands", list);
	return made;
}

const json_t *tool_sub(const json_t *tool, const char *name)
{
	const json_t *s;
	size_t i;

	json_array_foreach(json_object_get(tool, "subcommands"), i, s)
		if (name && !strcmp(json_text(s, "name"), name))
			return s;
	return NULL;
}

bool tool_is_mcp(const json_t *tool)
{
	return !strcmp(json_text(tool, "kind"), "mcp");
}

struct tool_path tool_path(const char *tool, const char *sub)
{
	struct tool_path p;

	snprintf(p.str, sizeof(p.str), "%.40s%s%.80s", tool, sub ? "/" : "", sub ? sub : "");
	return p;
}
