/* /v1/up, /v1/down, /v1/projects: cells as a file says (daemon/projects/file.h). An answer is lines
 * of JSON: the plan, what is done, and the end. A file that is wrong is answered with 400, and
 * nothing is done. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/http/request.h"
#include "api/routes.h"
#include "api/subagents.h"
#include "api/subcells.h"
#include "daemon/cells/family.h"
#include "daemon/cells/cellspec.h"
#include "daemon/projects/run.h"
#include "daemon/sessions/sessions.h"

#define RETRY_MS 20
#define WAIT_MAX 1e9 /* seconds */

static const struct field up_fields[] = {
	{ "yaml", FIELD_TEXT, true },	   { "file", FIELD_TEXT, false },
	{ "dir", FIELD_TEXT, false },	   { "project", FIELD_TEXT, false },
	{ "fallback", FIELD_TEXT, false }, { "variables", FIELD_MAP, false },
	{ "cells", FIELD_TEXTS, false },   { "dry_run", FIELD_BOOL, false },
	{ "apply", FIELD_BOOL, false },	   { "restart", FIELD_BOOL, false },
	{ "recreate", FIELD_BOOL, false }, { "remove_orphans", FIELD_BOOL, false },
	{ "wait", FIELD_BOOL, false },	   { "wait_timeout", FIELD_NUMBER, false },
};

static const struct field down_fields[] = {
	{ "yaml", FIELD_TEXT, false },	   { "file", FIELD_TEXT, false },
	{ "dir", FIELD_TEXT, false },	   { "project", FIELD_TEXT, false },
	{ "fallback", FIELD_TEXT, false }, { "variables", FIELD_MAP, false },
	{ "dry_run", FIELD_BOOL, false },  { "volumes", FIELD_BOOL, false },
};

/* What was asked for, until it is being done. */
struct asking {
	struct op op;
	uv_timer_t timer;
	json_t *body;
	struct project_file file;
	char project[CELL_NAME_LEN + 1];
	bool down;
	bool inside; /* a cell asks */
};

static bool flag(const json_t *o, const char *name)
{
	return json_is_true(json_object_get(o, name));
}

/* ---- the answer ---- */

static ssize_t lines_read(struct request *r, char *buf, size_t size)
{
	return project_run_read(r->arg, buf, size);
}

static void lines_end(struct request *r)
{
	project_run_leave(r->arg);
}

static const struct stream lines = { .read = lines_read, .end = lines_end };

static void lines_news(void *arg)
{
	request_wake(arg);
}

static void asking_closed(uv_handle_t *h)
{
	struct asking *x = h->data;

	json_decref(x->body);
	project_file_free(&x->file);
	free(x);
}

/* ---- projects of cells ---- */

/* Agents that the file names are those that there are for the cell, and so many sessions. */
static int agents_check(const struct request *r, const struct project_file *file, struct err *f)
{
	const struct cell *top = cell_by_id(r->d, r->rights.cell), *above;
	unsigned sessions = 0;

	while ((above = family_parent(top)))
		top = above;
	for (unsigned i = 0; i < file->ngroups; i++) {
		if (file->groups[i].agent && subagent_check(r, file->groups[i].agent, f) < 0)
			return -1;
		if (file->groups[i].prompt)
			sessions += file->groups[i].ncells;
	}
	if (sessions && sessions_below(r->d, top->id) + sessions > SESSIONS_FAMILY)
		return err_set(f, ERR_TOO_MANY,
			       "the cells of the family would have more than %d sessions" REMEDY
			       "remove some with 'viv session rm'",
			       SESSIONS_FAMILY);
	return 0;
}

/* Nothing is begun if a cell of it cannot be. */
static int children_check(const struct request *r, const struct cell *parent, struct plan *p,
			  struct err *f)
{
	p->family.make = subcell_make;
	for (unsigned i = 0; i < p->n; i++)
		if (p->actions[i].spec &&
		    subcell_check(parent, r->grants, p->actions[i].spec, f) < 0)
			return err_wrap(f, "cell '%s'", plan_shown(p, p->actions[i].cell).str);
	return 0;
}

static void asking_do(struct asking *x, struct request *r)
{
	const struct plan_options o = {
		.down = x->down,
		.volumes = flag(x->body, "volumes"),
		.apply = flag(x->body, "apply"),
		.restart = flag(x->body, "restart"),
		.recreate = flag(x->body, "recreate"),
		.remove_orphans = flag(x->body, "remove_orphans"),
		.only = json_object_get(x->body, "cells"),
		.parent = r->rights.family ? cell_by_id(r->d, r->rights.cell) : NULL,
	};
	const struct project_wait wait = {
		.on = flag(x->body, "wait"),
		.ms = (int64_t)(MIN(json_number_value(json_object_get(x->body, "wait_timeout")),
				    WAIT_MAX) *
				1000),
	};
	struct plan plan;
	struct err f = { 0 };
	int err;

	if (r->rights.family && !o.parent) {
		reply_error(r, ERR_ENDED, "the cell has ended");
		return;
	}
	if (r->rights.family && agents_check(r, &x->file, &f) < 0) {
		reply_err(r, &f);
		return;
	}
	err = plan_make(r->d, &x->file, x->project, &o, &plan, &f);
	if (!err && o.parent)
		err = children_check(r, o.parent, &plan, &f);
	if (err < 0) {
		plan_free(&plan);
		reply_err(r, &f);
		return;
	}
	reply_stream(r, "application/x-ndjson", &lines,
		     project_run_new(r->d, &plan, &wait, flag(x->body, "dry_run"), lines_news, r));
}

/* Somebody who asked before and went away: what was begun then comes to its end first. */
static void on_retry(uv_timer_t *t)
{
	struct asking *x = t->data;
	struct request *r = x->op.r;
	enum project_busy busy =
		r ? project_busy(r->d, r->rights.family ? r->rights.cell : "", x->project)
		  : PROJECT_FREE;

	if (busy == PROJECT_ENDING)
		return;
	uv_timer_stop(t);
	r = op_end(&x->op);
	if (r && busy == PROJECT_BUSY)
		reply_error(r, ERR_BUSY,
			    "somebody else changes project '%s' now" REMEDY
			    "wait for the end of that",
			    x->project);
	else if (r)
		asking_do(x, r);
	uv_close((uv_handle_t *)t, asking_closed);
}

/* ---- the question ---- */

/* Reads the file, if there is one; the project's name. */
static int file_read(struct asking *x, struct err *f)
{
	const char *text = json_text(x->body, "yaml"), *file = json_text(x->body, "file");
	const char *project = json_text(x->body, "project"), *dir = json_text(x->body, "dir");
	struct project_input in = { .text = text,
				    .file = file ? file : "vivarium.yaml",
				    .dir = dir,
				    .project = project,
				    .fallback = json_text(x->body, "fallback"),
				    .vars = json_object_get(x->body, "variables"),
				    .inside = x->inside };

	if (dir && (dir[0] != '/' || strlen(dir) >= 4096))
		return err_set(f, ERR_INVALID, "'dir' is an absolute path");
	if (text) {
		in.size = strlen(text);
		if (project_file_read(&in, &x->file, f) < 0)
			return -1;
		project = x->file.name;
	}
	if (!project || !cell_name_is_valid(project))
		return err_set(f, ERR_INVALID,
			       project ? "this is not a valid name for a project"
				       : "one of 'yaml' and 'project' is needed");
	strcpy(x->project, project);
	return 0;
}

static void asking_begin(struct request *r, json_t *body, bool down)
{
	struct asking *x;
	struct err f = { 0 };

	if (!body)
		return;
	x = xalloc(sizeof(*x));
	x->body = body;
	x->down = down;
	x->inside = r->rights.family;
	uv_timer_init(&r->d->loop, &x->timer);
	x->timer.data = x;
	if (file_read(x, &f) < 0) {
		reply_err(r, &f);
		uv_close((uv_handle_t *)&x->timer, asking_closed);
		return;
	}
	op_begin(r, &x->op);
	uv_timer_start(&x->timer, on_retry, 0, RETRY_MS);
}

void project_up(struct request *r)
{
	asking_begin(r, request_json(r, up_fields, ARRAY_LEN(up_fields)), false);
}

void project_down(struct request *r)
{
	asking_begin(r, request_json(r, down_fields, ARRAY_LEN(down_fields)), true);
}

/* ---- which there are ---- */

void projects_list(struct request *r)
{
	json_t *projects = json_object(), *list = json_array(), *cells;
	const char *name;
	struct cell *c;

	list_for_each(c, &r->d->cells, link) {
		name = cell_project(c);
		/* Those of the host, or of the cell that asks. */
		if (!name || !c->name[0] ||
		    strcmp(c->parent, r->rights.family ? r->rights.cell : ""))
			continue;
		cells = json_object_get(projects, name);
		if (!cells) {
			cells = json_array();
			json_object_set_new(projects, name, cells);
		}
		json_array_append_new(cells,
				      json_pack("{s:s,s:s}", "name", family_name_shown(c).str,
						"state", cell_state_name(c->state)));
	}
	json_object_foreach(projects, name, cells)
		json_array_append_new(list, json_pack("{s:s,s:O}", "name", name, "cells", cells));
	json_decref(projects);
	reply_json(r, 200, json_pack("{s:o}", "projects", list));
}
