/* See file.h. The keys are read by their tables (keys.c); here the whole is looked at: names,
 * replicas, volumes, and what depends on what. */
#include "daemon/projects/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "daemon/cells/cellspec.h"
#include "daemon/projects/keys.h"
#include "keeper/run.h"

/* While a file is read: its tree and what becomes of it. */
struct building {
	struct project_reader r;
	struct project_file *p;
	struct ynode *cells; /* in the order of p->groups */
};

static int wrong_name(struct building *b, const struct ynode *at, const char *what)
{
	return yaml_wrong(b->r.y.f, &b->r.y.doc, at,
			  "this is not a valid name for a %s" REMEDY
			  "a name is 1 to %d letters, digits, '.', '_' or "
			  "'-', and starts with a letter or a digit",
			  what, CELL_NAME_LEN);
}

static int name_choose(struct building *b, const json_t *root)
{
	const struct project_input *in = b->r.in;
	const char *own = json_string_value(json_object_get(root, "name"));
	const char *name = in->project ? in->project : own ? own : in->fallback;

	if (own && !cell_name_is_valid(own))
		return wrong_name(b, ynode_get(b->r.y.doc.root, "name"), "project");
	if (!name)
		return yaml_wrong(b->r.y.f, &b->r.y.doc, b->r.y.doc.root,
				  "the project has no name" REMEDY
				  "give it one with the key 'name'");
	if (!cell_name_is_valid(name))
		return err_set(b->r.y.f, ERR_INVALID,
			       "this is not a valid name for a project" REMEDY
			       "use letters, digits, '.', '_' and "
			       "'-'");
	snprintf(b->p->name, sizeof(b->p->name), "%s", name);
	return 0;
}

/* ---- volumes ---- */

static int volumes_build(struct building *b, const json_t *volumes)
{
	struct ynode *n = ynode_get(b->r.y.doc.root, "volumes");

	b->p->volumes = xalloc((json_object_size(volumes) + 1) * sizeof(*b->p->volumes));
	for (n = n ? n->first : NULL; n; n = n->next) {
		struct project_volume *v = &b->p->volumes[b->p->nvolumes];
		const json_t *o = json_object_get(volumes, n->key->text);

		if (!cell_name_is_valid(n->key->text))
			return wrong_name(b, n->key, "volume");
		snprintf(v->name, sizeof(v->name), "%s", n->key->text);
		v->external = json_is_true(json_object_get(o, "external"));
		b->p->nvolumes++;
	}
	return 0;
}

static const char *volume_similar(const struct project_file *p, const char *name)
{
	const char *words[64];
	unsigned n = MIN(p->nvolumes, (unsigned)ARRAY_LEN(words));

	for (unsigned i = 0; i < n; i++)
		words[i] = p->volumes[i].name;
	return value_similar(name, words, n, sizeof(*words));
}

/* A volume that is mounted is one of the file's, and one that is written to belongs to one cell at
 * a time. */
static int mounts_check(struct building *b, const struct ynode *cell, unsigned replicas)
{
	const struct ynode *mounts = ynode_get(cell, "mounts");
	struct err *f = b->r.y.f;

	for (const struct ynode *m = mounts ? mounts->first : NULL; m; m = m->next) {
		const struct ynode *v = ynode_get(m, "volume"), *ro = ynode_get(m, "readonly");
		const char *similar;
		unsigned i = 0;

		if (!v)
			continue;
		while (i < b->p->nvolumes && strcmp(b->p->volumes[i].name, v->text))
			i++;
		similar = i == b->p->nvolumes ? volume_similar(b->p, v->text) : NULL;
		if (similar)
			return yaml_wrong(f, &b->r.y.doc, v,
					  "'volumes' of the file has no '%.64s'" REMEDY
					  "did you mean '%s'?",
					  v->text, similar);
		if (i == b->p->nvolumes)
			return yaml_wrong(f, &b->r.y.doc, v,
					  "'volumes' of the file has no '%.64s'" REMEDY
					  "write it there, with "
					  "'external: true' if it is made elsewhere",
					  v->text);
		if (replicas > 1 && (!ro || strcmp(ro->text, "true")))
			return yaml_wrong(f, &b->r.y.doc, m,
					  "a volume that is written to belongs to one cell at a "
					  "time, and this one has %u replicas" REMEDY
					  "mount it readonly",
					  replicas);
	}
	return 0;
}

/* ---- cells ---- */

static int cell_add(struct building *b, const struct ynode *at, const char *name, unsigned group,
		    unsigned replica)
{
	struct project_file *p = b->p;

	if (strlen(name) > CELL_NAME_LEN)
		return yaml_wrong(b->r.y.f, &b->r.y.doc, at,
				  "the name is too long for its replicas");
	for (unsigned i = 0; i < p->ncells; i++)
		if (!strcmp(p->cells[i].name, name))
			return yaml_wrong(b->r.y.f, &b->r.y.doc, at,
					  "there are two cells '%s'" REMEDY
					  "replicas are NAME-1, NAME-2 "
					  "and so on",
					  name);
	if (p->ncells == PROJECT_MAX_CELLS)
		return yaml_wrong(b->r.y.f, &b->r.y.doc, at, "a file has at most %d cells",
				  PROJECT_MAX_CELLS);
	strcpy(p->cells[p->ncells].name, name);
	p->cells[p->ncells].replica = replica;
	p->cells[p->ncells++].group = group;
	return 0;
}

/* The caller's; NULL: there is none. */
static char *text_of(const json_t *o, const char *key)
{
	const char *text = json_string_value(json_object_get(o, key));

	return text ? xstrndup(text, strlen(text)) : NULL;
}

static int group_build(struct building *b, struct ynode *n, json_t *o)
{
	struct project_file *p = b->p;
	unsigned i = p->ngroups;
	struct project_group *g = &p->groups[i];
	json_t *replicas = json_object_get(o, "replicas");
	bool listed = json_is_array(replicas);
	unsigned count = listed	    ? (unsigned)json_array_size(replicas)
			 : replicas ? (unsigned)json_integer_value(replicas)
				    : 1;
	char name[CELL_NAME_LEN + 16];

	if (!cell_name_is_valid(n->key->text))
		return wrong_name(b, n->key, "cell");
	snprintf(g->name, sizeof(g->name), "%s", n->key->text);
	g->line = n->key->line;
	g->column = n->key->column;
	g->first = p->ncells;
	g->ncells = count;
	p->ngroups++;
	if (mounts_check(b, n, count) < 0)
		return -1;
	for (unsigned r = 1; r <= count; r++) {
		if (replicas)
			snprintf(name, sizeof(name), "%s-%u", g->name, r);
		else
			strcpy(name, g->name);
		if (cell_add(b, n->key, name, i, r) < 0)
			return -1;
	}
	g->files = json_incref(json_object_get(o, "files"));
	g->each = listed ? json_incref(replicas) : NULL;
	g->numbered = replicas != NULL;
	g->agent = text_of(o, "agent");
	g->prompt = text_of(o, "prompt");
	g->spec = project_spec(o);
	return 0;
}

struct project_group *project_group_find(const struct project_file *p, const char *name)
{
	for (unsigned i = 0; i < p->ngroups; i++)
		if (!strcmp(p->groups[i].name, name))
			return &p->groups[i];
	return NULL;
}

/* ---- what depends on what ---- */

static int dep_build(struct building *b, struct project_group *g, const struct ynode *at,
		     const char *name, const json_t *o)
{
	struct project_group *other = project_group_find(b->p, name);
	enum dep_condition c =
		(enum dep_condition)json_integer_value(json_object_get(o, "condition"));
	const char *similar;
	struct restart r;

	if (!other) {
		similar = NULL;
		for (unsigned i = 0; i < b->p->ngroups && !similar; i++) {
			const char *word = b->p->groups[i].name;

			similar = value_similar(name, &word, 1, sizeof(word));
		}
		if (similar)
			return yaml_wrong(b->r.y.f, &b->r.y.doc, at,
					  "the file has no cell '%.64s'" REMEDY
					  "did you mean '%.64s'?",
					  name, similar);
		return yaml_wrong(b->r.y.f, &b->r.y.doc, at, "the file has no cell '%.64s'", name);
	}
	r = cellspec_restart(other->spec);
	if (c == DEP_HEALTHY && !json_object_get(other->spec, "health"))
		return yaml_wrong(b->r.y.f, &b->r.y.doc, at,
				  "'%s' has no health check, so it is never healthy", other->name);
	if (c == DEP_EXITED && r.policy == RESTART_ALWAYS)
		return yaml_wrong(b->r.y.f, &b->r.y.doc, at,
				  "'%s' is started again whenever it ends, so it is never over",
				  other->name);
	g->deps[g->ndeps++] = (struct project_dep){ (unsigned)(other - b->p->groups), c };
	return 0;
}

static int deps_build(struct building *b, struct project_group *g, const struct ynode *cell,
		      const json_t *o)
{
	const json_t *deps = json_object_get(o, "depends_on");
	const struct ynode *list = ynode_get(cell, "depends_on");

	g->deps = xalloc((json_object_size(deps) + 1) * sizeof(*g->deps));
	for (const struct ynode *n = list ? list->first : NULL; n; n = n->next) {
		const struct ynode *name = n->key ? n->key : n;

		if (dep_build(b, g, name, name->text, json_object_get(deps, name->text)) < 0)
			return -1;
	}
	return 0;
}

/* All of g's dependencies have an order. */
static bool deps_ordered(const struct project_file *p, const struct project_group *g)
{
	for (unsigned i = 0; i < g->ndeps; i++)
		if (!p->groups[g->deps[i].group].order)
			return false;
	return true;
}

/* g is on a cycle or leads to one: every one without an order depends on such a one. Names the
 * cycle. */
static int cycle_wrong(struct building *b, unsigned from)
{
	struct project_file *p = b->p;
	unsigned steps[PROJECT_MAX_GROUPS + 1], n = 0, first = 0;
	char text[300] = "";
	struct ynode at = { 0 };
	bool found = false;

	for (unsigned i = from; !found;) {
		const struct project_group *g = &p->groups[i];

		for (first = 0; first < n && steps[first] != i; first++)
			;
		found = first < n;
		steps[n++] = i;
		for (unsigned k = 0; k < g->ndeps; k++)
			if (!p->groups[g->deps[k].group].order) {
				i = g->deps[k].group;
				break;
			}
	}
	at.line = p->groups[steps[first]].line;
	at.column = p->groups[steps[first]].column;
	for (unsigned i = first; i < n && strlen(text) < 200; i++) {
		strcat(text, i > first ? " -> " : "");
		strcat(text, p->groups[steps[i]].name);
	}
	return yaml_wrong(b->r.y.f, &b->r.y.doc, &at, "cells depend on each other in a circle: %s",
			  text);
}

static int order_build(struct building *b)
{
	struct project_file *p = b->p;
	unsigned done = 0;
	bool moved = true;

	while (moved) {
		moved = false;
		for (unsigned i = 0; i < p->ngroups; i++)
			if (!p->groups[i].order && deps_ordered(p, &p->groups[i])) {
				p->groups[i].order = ++done;
				moved = true;
			}
	}
	for (unsigned i = 0; i < p->ngroups; i++)
		if (!p->groups[i].order)
			return cycle_wrong(b, i);
	return 0;
}

/* ---- workflows and schedules ---- */

/* PROJECT.NAME; false with an error. */
static bool name_join(struct building *b, const struct ynode *at, char ret[CELL_NAME_LEN + 1])
{
	if (snprintf(ret, CELL_NAME_LEN + 1, "%s.%s", b->p->name, at->text) <= CELL_NAME_LEN)
		return true;
	yaml_note(b->r.y.f, &b->r.y.doc, at,
		  "the name is too long: with the project's it has more than %d characters",
		  CELL_NAME_LEN);
	return false;
}

static int workflows_build(struct building *b, const json_t *workflows)
{
	struct ynode *n = ynode_get(b->r.y.doc.root, "workflows");
	char name[CELL_NAME_LEN + 1];

	b->p->workflows = json_object();
	for (n = n ? n->first : NULL; n; n = n->next) {
		if (!name_join(b, n->key, name))
			return -1;
		json_object_set(b->p->workflows, name, json_object_get(workflows, n->key->text));
	}
	return 0;
}

/* The group that a cell's name belongs to; NULL: the file has no such cell. */
static const struct project_group *group_of_cell(const struct project_file *p, const char *name)
{
	for (unsigned i = 0; i < p->ncells; i++)
		if (!strcmp(p->cells[i].name, name))
			return &p->groups[p->cells[i].group];
	return NULL;
}

/* What a schedule names is in the file. */
static int schedule_build(struct building *b, const struct ynode *at, json_t *o)
{
	const struct ynode *cell = ynode_get(at, "cell"), *workflow = ynode_get(at, "workflow");
	const struct project_group *g = cell ? group_of_cell(b->p, cell->text) : NULL;
	struct err *f = b->r.y.f;
	char name[CELL_NAME_LEN + 1];
	json_t *inputs;

	if (cell && !g)
		return yaml_wrong(f, &b->r.y.doc, cell, "the file has no cell '%.64s'%s%s",
				  cell->text, project_group_find(b->p, cell->text) ? REMEDY : "",
				  project_group_find(b->p, cell->text)
					  ? "it has replicas: name one of them"
					  : "");
	if (json_object_get(o, "prompt") && !g->prompt)
		return yaml_wrong(f, &b->r.y.doc, cell,
				  "'%s' has no agent with a prompt, whose session could go on",
				  g->name);
	if (!workflow)
		return 0;
	if (!ynode_get(ynode_get(b->r.y.doc.root, "workflows"), workflow->text))
		return yaml_wrong(f, &b->r.y.doc, workflow,
				  "'workflows' of the file has no '%.64s'", workflow->text);
	if (!name_join(b, workflow, name))
		return -1;
	inputs = json_incref(json_object_get(o, "inputs"));
	json_object_del(o, "inputs");
	json_object_set_new(o, "workflow", json_pack("{s:s,s:o*}", "name", name, "inputs", inputs));
	return 0;
}

static int schedules_build(struct building *b, json_t *schedules)
{
	struct ynode *n = ynode_get(b->r.y.doc.root, "schedules");
	char name[CELL_NAME_LEN + 1];
	json_t *o;

	b->p->schedules = json_object();
	if (json_object_size(schedules) > PROJECT_MAX_SCHEDULES)
		return yaml_wrong(b->r.y.f, &b->r.y.doc, n, "a file has at most %d schedules",
				  PROJECT_MAX_SCHEDULES);
	for (n = n ? n->first : NULL; n; n = n->next) {
		if (!cell_name_is_valid(n->key->text))
			return wrong_name(b, n->key, "schedule");
		o = json_object_get(schedules, n->key->text);
		if (!name_join(b, n->key, name) || schedule_build(b, n, o) < 0)
			return -1;
		json_object_set_new(o, "name", json_string(name));
		json_object_set(b->p->schedules, name, o);
	}
	return 0;
}

/* ---- all ---- */

static int project_build(struct building *b, const json_t *root)
{
	const json_t *cells = json_object_get(root, "cells");
	struct project_file *p = b->p;
	struct ynode *n;
	unsigned i = 0;

	b->cells = ynode_get(b->r.y.doc.root, "cells");
	if (json_object_size(cells) > PROJECT_MAX_GROUPS)
		return yaml_wrong(b->r.y.f, &b->r.y.doc, b->cells,
				  "a file has at most %d cells, not counting replicas",
				  PROJECT_MAX_GROUPS);
	p->groups = xalloc((json_object_size(cells) + 1) * sizeof(*p->groups));
	p->cells = xalloc(PROJECT_MAX_CELLS * sizeof(*p->cells));
	if (name_choose(b, root) < 0 || volumes_build(b, json_object_get(root, "volumes")) < 0)
		return -1;
	for (n = b->cells->first; n; n = n->next)
		if (group_build(b, n, json_object_get(cells, n->key->text)) < 0)
			return -1;
	for (n = b->cells->first; n; n = n->next, i++)
		if (deps_build(b, &p->groups[i], n, json_object_get(cells, n->key->text)) < 0)
			return -1;
	if (order_build(b) < 0 || workflows_build(b, json_object_get(root, "workflows")) < 0)
		return -1;
	return schedules_build(b, json_object_get(root, "schedules"));
}

int project_file_read(const struct project_input *in, struct project_file *ret, struct err *f)
{
	struct building b = { .p = ret };
	json_t *root = NULL, *none = json_object();
	int err;

	*ret = (struct project_file){ 0 };
	b.r.in = in;
	b.r.y.f = f;
	b.r.y.vars = in->vars ? in->vars : none;
	err = ydoc_parse(&b.r.y.doc, in->file, in->text, in->size, f);
	if (!err && (!b.r.y.doc.root || ynode_is_null(b.r.y.doc.root)))
		err = yaml_wrong(f, &b.r.y.doc, NULL,
				 "the file is empty" REMEDY "it must have a key 'cells'");
	if (!err)
		root = yschema_read(&b.r.y, b.r.y.doc.root, project_schema());
	err = root ? project_build(&b, root) : -1;
	json_decref(root);
	json_decref(none);
	ydoc_free(&b.r.y.doc);
	return err;
}

void project_file_free(struct project_file *p)
{
	for (unsigned i = 0; i < p->ngroups; i++) {
		json_decref(p->groups[i].spec);
		json_decref(p->groups[i].files);
		json_decref(p->groups[i].each);
		free(p->groups[i].agent);
		free(p->groups[i].prompt);
		free(p->groups[i].deps);
	}
	json_decref(p->workflows);
	json_decref(p->schedules);
	free(p->groups);
	free(p->cells);
	free(p->volumes);
	*p = (struct project_file){ 0 };
}
