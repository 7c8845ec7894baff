/* See defs.h. */
#include "daemon/workflows/defs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/state/events.h"
#include "daemon/state/fields.h"
#include "daemon/workflows/def.h"
#include "daemon/workflows/limits.h"

char *workflow_def_text(const json_t *doc)
{
	return json_dumps(doc, JSON_COMPACT | JSON_SORT_KEYS);
}

json_t *workflow_def_find(struct daemon *d, const char *name, struct err *e)
{
	sqlite3_stmt *q = db_query(&d->db,
				   "SELECT doc,name FROM workflow_defs WHERE name=? OR short=? "
				   "ORDER BY name<>? LIMIT 3",
				   "ttt", name, name, name);
	json_t *doc = NULL;
	unsigned n = 0;

	while (db_next(q)) {
		bool exact = !strcmp(db_text(q, 1), name);

		if (!n++)
			doc = json_loads(db_text(q, 0), 0, NULL);
		if (exact)
			break;
	}
	db_done(q);
	if (n > 1) {
		json_decref(doc);
		doc = NULL;
		err_note(e, ERR_AMBIGUOUS,
			 "several projects have a workflow '%.64s'" REMEDY "name it PROJECT.%.64s",
			 name, name);
	} else if (!doc) {
		err_note(e, ERR_NOT_FOUND,
			 "there is no workflow '%.128s'" REMEDY
			 "'viv workflow ls --defined' lists those of projects",
			 name);
	}
	return doc;
}

json_t *workflow_doc(struct daemon *d, const json_t *request, struct err *e)
{
	const char *text = json_text(request, "yaml"), *file = json_text(request, "file"),
		   *name = json_text(request, "name");
	struct def_input in = { .text = text,
				.size = text ? strlen(text) : 0,
				.file = file ? file : "workflow.yaml",
				.dir = json_text(request, "dir") };

	if (!text == !name) {
		err_note(e, ERR_MISSING_FIELD, "give one of 'yaml' and 'name'");
		return NULL;
	}
	if (in.dir && (in.dir[0] != '/' || strlen(in.dir) >= 2000)) {
		err_note(e, ERR_INVALID, "'dir' is an absolute path");
		return NULL;
	}
	return name ? workflow_def_find(d, name, e) : def_read(&in, e);
}

json_t *workflow_defs(struct daemon *d)
{
	sqlite3_stmt *q =
		db_query(&d->db, "SELECT name,project,doc FROM workflow_defs ORDER BY name", "");
	json_t *list = json_array();

	while (db_next(q)) {
		json_t *doc = json_loads(db_text(q, 2), 0, NULL);
		const json_t *def = json_object_get(doc, "main");

		json_array_append_new(
			list,
			json_pack("{s:s,s:s,s:O*,s:O*,s:I}", "name", db_text(q, 0), "project",
				  db_text(q, 1), "inputs", json_object_get(def, "inputs"),
				  "description", json_object_get(def, "description"), "steps",
				  (json_int_t)json_array_size(json_object_get(def, "steps"))));
		json_decref(doc);
	}
	db_done(q);
	return list;
}

json_t *workflow_defs_of(struct daemon *d, const char *project)
{
	sqlite3_stmt *q =
		db_query(&d->db, "SELECT name,doc FROM workflow_defs WHERE project=? ORDER BY name",
			 "t", project);
	json_t *o = json_object();

	while (db_next(q))
		json_object_set_new(o, db_text(q, 0), json_string(db_text(q, 1)));
	db_done(q);
	return o;
}

void workflow_def_project(struct daemon *d, const char *name, char ret[65])
{
	sqlite3_stmt *q =
		db_query(&d->db, "SELECT project FROM workflow_defs WHERE name=?", "t", name);

	snprintf(ret, 65, "%s", db_next(q) ? db_text(q, 0) : "");
	db_done(q);
}

int workflow_def_put(struct daemon *d, const char *project, const char *name, const json_t *doc,
		     struct err *e)
{
	char *text = workflow_def_text(doc);
	int r = -1;

	if (!text || strlen(text) > WF_DOC_BYTES)
		err_note(e, ERR_TOO_LARGE, "the workflow with all that it names is too large");
	else
		r = db_run(&d->db, e,
			   "INSERT OR REPLACE INTO workflow_defs(name,project,short,doc) "
			   "VALUES(?,?,?,?)",
			   "tttt", name, project, name + strlen(project) + 1, text) < 0
			    ? -1
			    : 0;
	free(text);
	return r;
}

void workflow_def_remove(struct daemon *d, const char *name)
{
	db_run(&d->db, NULL, "DELETE FROM workflow_defs WHERE name=?", "t", name);
}
