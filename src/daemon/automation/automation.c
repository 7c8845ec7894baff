/* See automation.h. What is planned and what is done are made by one function: between the two,
 * cells come and go, and with them their schedules. */
#include "daemon/projects/automation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/projects/agent.h"
#include "daemon/schedules/schedules.h"
#include "daemon/workflows/defs.h"

/* ---- what is to be ---- */

/* A schedule as POST /v1/schedules takes it: a prompt goes to the session of its cell's agent.
 * NULL: there is none yet. The caller's. */
static json_t *schedule_spec(struct daemon *d, const struct project_file *file, const json_t *o)
{
	json_t *spec = json_deep_copy(o), *is;
	const char *name = json_text(o, "cell");
	struct session *s = NULL;
	struct cell *c;

	if (!json_object_get(o, "prompt"))
		return spec;
	c = cell_by_name(d, name);
	for (unsigned i = 0; c && i < file->ncells; i++)
		if (!strcmp(file->cells[i].name, name))
			s = group_session(d, &file->groups[file->cells[i].group], c);
	if (!s) {
		json_decref(spec);
		return NULL;
	}
	is = session_json(s);
	json_object_del(spec, "cell");
	json_object_set(spec, "session", json_object_get(is, "id"));
	json_decref(is);
	return spec;
}

static char *source_of(const json_t *spec)
{
	return json_dumps(spec, JSON_COMPACT | JSON_SORT_KEYS);
}

/* ---- what differs ---- */

static void action_add(json_t *list, const char *action, const char *what, const char *name)
{
	json_array_append_new(list, json_pack("{s:s,s:s}", "action", action, what, name));
}

/* Those of the database that the file does not have. */
static void others_remove(json_t *list, const json_t *known, const json_t *wanted, const char *what)
{
	const char *name;
	const json_t *v;

	json_object_foreach((json_t *)(uintptr_t)known, name, v)
		if (!json_object_get(wanted, name))
			action_add(list, "remove", what, name);
}

static int owner_wrong(struct err *f, const char *what, const char *name, const char *owner)
{
	return err_set(f, ERR_EXISTS,
		       "there is a %s '%s' already, which %s%s%s created" REMEDY
		       "choose another name for the project or the %s",
		       what, name, *owner ? "project '" : "somebody", owner, *owner ? "'" : "",
		       what);
}

static int workflows_plan(struct daemon *d, struct plan *p, struct err *f)
{
	json_t *known = workflow_defs_of(d, p->project), *doc;
	char owner[CELL_NAME_LEN + 1];
	const char *name;
	int r = 0;

	json_object_foreach(p->file.workflows, name, doc) {
		const char *is = json_string_value(json_object_get(known, name));
		char *text = workflow_def_text(doc);

		workflow_def_project(d, name, owner);
		if (!is && *owner)
			r = owner_wrong(f, "workflow", name, owner);
		action_add(p->automation,
			   !is			       ? "create"
			   : text && !strcmp(text, is) ? "keep"
						       : "change",
			   "workflow", name);
		free(text);
		if (r)
			break;
	}
	others_remove(p->automation, known, p->file.workflows, "workflow");
	json_decref(known);
	return r;
}

/* Its cell is made anew by this plan, and its schedules go with the old one. */
static bool cell_goes(const struct plan *p, const char *cell)
{
	for (unsigned i = 0; cell && i < p->n; i++)
		if (p->actions[i].kind == PLAN_RECREATE && !strcmp(p->actions[i].cell, cell))
			return true;
	return false;
}

static int schedules_plan(struct daemon *d, struct plan *p, struct err *f)
{
	json_t *known = schedules_declared(d, p->project), *o;
	char owner[CELL_NAME_LEN + 1];
	const char *name;
	bool exists;
	int r = 0;

	json_object_foreach(p->file.schedules, name, o) {
		const char *is = json_string_value(json_object_get(known, name));
		json_t *spec = schedule_spec(d, &p->file, o);
		char *text = spec ? source_of(spec) : NULL;

		schedule_project(d, name, owner, &exists);
		if (!is && exists)
			r = owner_wrong(f, "schedule", name, owner);
		action_add(p->automation,
			   !is || cell_goes(p, json_text(o, "cell")) ? "create"
			   : text && !strcmp(text, is)		     ? "keep"
								     : "change",
			   "schedule", name);
		free(text);
		json_decref(spec);
		if (r)
			break;
	}
	others_remove(p->automation, known, p->file.schedules, "schedule");
	json_decref(known);
	return r;
}

int automation_plan(struct daemon *d, struct plan *p, struct err *f)
{
	json_array_clear(p->automation);
	return workflows_plan(d, p, f) < 0 ? -1 : schedules_plan(d, p, f);
}

/* ---- doing it ---- */

struct doing {
	struct daemon *d;
	struct plan *p;
	void (*tell)(void *arg, json_t *o);
	void *arg;
	unsigned *changed, *failed;
};

static void told(struct doing *x, const char *what, const char *name, const char *step,
		 const struct err *f)
{
	json_t *o = json_pack("{s:s,s:s,s:s*}", "type", f->kind ? "failed" : "step", what, name,
			      "step", f->kind ? NULL : step);

	if (f->kind)
		json_object_update_new(o, json_err(f));
	++*(f->kind ? x->failed : x->changed);
	x->tell(x->arg, o);
}

static void schedule_put(struct doing *x, const char *name, bool new)
{
	const json_t *o = json_object_get(x->p->file.schedules, name);
	json_t *spec = schedule_spec(x->d, &x->p->file, o);
	char *source = spec ? source_of(spec) : NULL;
	struct err f = { 0 };

	if (!spec || !source) {
		json_decref(spec);
		err_note(&f, ERR_DEPENDENCY, "the agent of '%s' has no session",
			 json_text(o, "cell"));
	} else {
		(void)!schedule_declare(x->d, x->p->project, spec, source, &f);
	}
	free(source);
	told(x, "schedule", name, new ? "created" : "changed", &f);
}

static void one_do(struct doing *x, const json_t *a, bool removals)
{
	const char *action = json_text(a, "action"), *workflow = json_text(a, "workflow"),
		   *schedule = json_text(a, "schedule");
	bool new = !strcmp(action, "create"), gone = !strcmp(action, "remove");
	struct err f = { 0 };

	if (!strcmp(action, "keep") || gone != removals)
		return;
	if (gone && workflow) {
		workflow_def_remove(x->d, workflow);
		told(x, "workflow", workflow, "removed", &f);
	} else if (gone) {
		if (schedule_remove(x->d, schedule, "", true, &f) < 0 && f.kind == ERR_NOT_FOUND)
			f.kind = ERR_NONE; /* it went with its cell */
		told(x, "schedule", schedule, "removed", &f);
	} else if (workflow) {
		(void)!workflow_def_put(x->d, x->p->project, workflow,
					json_object_get(x->p->file.workflows, workflow), &f);
		told(x, "workflow", workflow, new ? "created" : "changed", &f);
	} else {
		schedule_put(x, schedule, new);
	}
}

/* Schedules name workflows: these come first, and go last. */
void automation_do(struct daemon *d, struct plan *p, void (*tell)(void *arg, json_t *o), void *arg,
		   unsigned *changed, unsigned *failed)
{
	struct doing x = { d, p, tell, arg, changed, failed };
	struct err f = { 0 };
	const json_t *a;
	size_t i;

	if (automation_plan(d, p, &f) < 0) {
		told(&x, "project", p->project, NULL, &f);
		return;
	}
	json_array_foreach(p->automation, i, a)
		one_do(&x, a, false);
	for (i = json_array_size(p->automation); i-- > 0;)
		one_do(&x, json_array_get(p->automation, i), true);
}
