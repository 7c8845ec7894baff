/* See plan.h. What is there is compared with what is to be, key by key, and the kind of a
 * difference decides what it takes. */
#include "daemon/projects/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "daemon/cells/cellspec.h"
#include "daemon/cells/change.h"
#include "daemon/projects/agent.h"
#include "daemon/projects/automation.h"
#include "store/named.h"
#include "store/store.h"

static const char *const kind_names[] = {
	[PLAN_KEEP] = "keep",		[PLAN_CREATE] = "create",
	[PLAN_START] = "start",		[PLAN_CHANGE] = "change",
	[PLAN_RESTART] = "restart",	[PLAN_RECREATE] = "recreate",
	[PLAN_REMOVE] = "remove",	[PLAN_ORPHAN] = "orphan",
	[PLAN_LATER] = "needs-restart", [PLAN_REFUSED] = "needs-recreate",
};

static const char *label_of(const struct cell *c, const char *name)
{
	return json_string_value(json_object_get(json_object_get(c->spec, "labels"), name));
}

const char *cell_project(const struct cell *c)
{
	return label_of(c, LABEL_PROJECT);
}

bool cell_is_over(const struct cell *c)
{
	return c->state == CELL_COMPLETED && cellspec_restart(c->spec).policy != RESTART_ALWAYS;
}

/* It is not what it is to be: running, or done with its work. */
static bool needs_start(const struct cell *c)
{
	/* One that is being started is waited for: whoever did that may be gone, and it with
	 * them. */
	if (c->state == CELL_STOPPING || c->state == CELL_STARTING)
		return true;
	/* One that sleeps is started by whoever uses it. */
	return !cell_state_is_live(c->state) && c->state != CELL_SLEEPING && !c->restart_at &&
	       !cell_is_over(c);
}

/* ---- differences ---- */

static bool is_ours(const char *label)
{
	return !strcmp(label, LABEL_PROJECT) || !strcmp(label, LABEL_CELL) ||
	       !strcmp(label, LABEL_SPEC) || !strcmp(label, LABEL_FILES);
}

static void change_add(json_t *to, const char *key, const char *sub)
{
	json_array_append_new(to, sub ? json_sprintf("%s.%s", key, sub) : json_string(key));
}

/* Members of two objects, which differ: their names only. */
static void members_compare(const char *key, json_t *is, json_t *wanted, json_t *to)
{
	const char *name;
	json_t *v;

	json_object_foreach(is, name, v)
		if (!is_ours(name) && !json_equal(v, json_object_get(wanted, name)))
			change_add(to, key, name);
	json_object_foreach(wanted, name, v)
		if (!is_ours(name) && !json_object_get(is, name))
			change_add(to, key, name);
}

static void key_compare(const char *key, json_t *is, json_t *wanted, json_t *to)
{
	const char *text = json_string_value(is ? is : wanted);

	/* No image is the host's. */
	if (!strcmp(key, "image") && (!is || !wanted) && !strcmp(text ? text : "", "host"))
		return;
	if (!strcmp(key, "env") || !strcmp(key, "labels") || !strcmp(key, "limits"))
		members_compare(key, is, wanted, to);
	else if (is && wanted ? !json_equal(is, wanted) : is != wanted)
		change_add(to, key, NULL);
}

/* The names of all that differs. */
static json_t *specs_compare(json_t *is, json_t *wanted)
{
	json_t *to = json_array(), *v;
	const char *key;

	json_object_foreach(is, key, v)
		key_compare(key, v, json_object_get(wanted, key), to);
	json_object_foreach(wanted, key, v)
		if (!json_object_get(is, key))
			key_compare(key, NULL, v, to);
	return to;
}

static bool changes_have(const json_t *changes, const char *name)
{
	json_t *v;
	size_t i;

	json_array_foreach(changes, i, v)
		if (!strcmp(json_string_value(v), name))
			return true;
	return false;
}

/* Those that a running cell cannot have. more_pids: that many processes are among them. */
static json_t *changes_hard(const json_t *changes, bool more_pids)
{
	json_t *list = json_array(), *v;
	char key[64];
	size_t i;

	json_array_foreach(changes, i, v) {
		const char *name = json_string_value(v);

		snprintf(key, sizeof(key), "%.60s", name);
		key[strcspn(key, ".")] = '\0';
		if (!setting_is_live(key) || (more_pids && !strcmp(name, "limits.pids")))
			json_array_append(list, v);
	}
	return list;
}

/* ---- a cell of the file ---- */

/* What a replica has besides: its number, and variables of its own. */
static void replica_env(const struct project_group *g, unsigned replica, json_t *spec)
{
	json_t *env = json_object_get(spec, "env");

	if (!g->numbered)
		return;
	env = env ? json_copy(env) : json_object();
	json_object_set_new(env, "VIV_REPLICA", json_sprintf("%u", replica));
	json_object_update(env, json_array_get(g->each, replica - 1));
	json_object_set_new(spec, "env", env);
}

/* Its spec with our labels; NULL: an error. */
static json_t *spec_wanted(struct daemon *d, const struct plan *p, struct project_group *g,
			   unsigned replica, struct err *f)
{
	json_t *spec = json_copy(g->spec), *labels;

	if (group_agent_add(d, p->family.parent, g, spec, f) < 0) {
		err_wrap(f, "cell '%s'", g->name);
		json_decref(spec);
		return NULL;
	}
	replica_env(g, replica, spec);
	labels = json_object_get(spec, "labels");
	labels = labels ? json_copy(labels) : json_object();
	json_object_set_new(labels, LABEL_PROJECT, json_string(p->project));
	json_object_set_new(labels, LABEL_CELL, json_string(g->name));
	json_object_set_new(labels, LABEL_SPEC, json_string(group_spec_hash(d, g)));
	json_object_set_new(spec, "labels", labels);
	return spec;
}

/* What of the change can be made now, on what there is; the hashes stay those of what there was. */
static json_t *spec_in_place(const struct cell *c, const json_t *wanted, bool more_pids)
{
	json_t *spec = json_copy(c->spec), *labels, *limits, *v;
	const char *key, *was = label_of(c, LABEL_SPEC), *files = label_of(c, LABEL_FILES);

	json_object_foreach(c->spec, key, v)
		if (setting_is_live(key))
			json_object_del(spec, key);
	json_object_foreach((json_t *)(uintptr_t)wanted, key, v)
		if (setting_is_live(key))
			json_object_set(spec, key, v);
	if (more_pids) {
		limits = json_copy(json_object_get(wanted, "limits"));
		v = json_object_get(json_object_get(c->spec, "limits"), "pids");
		json_object_del(limits, "pids");
		if (v)
			json_object_set(limits, "pids", v);
		json_object_set_new(spec, "limits", limits);
	}
	labels = json_copy(json_object_get(wanted, "labels"));
	json_object_set_new(labels, LABEL_SPEC, json_string(was ? was : ""));
	if (files)
		json_object_set_new(labels, LABEL_FILES, json_string(files));
	json_object_set_new(spec, "labels", labels);
	return spec;
}

static void existing_plan(struct plan_action *a, const struct cell *c, const char *group,
			  const struct plan_options *o)
{
	bool live = cell_state_is_live(c->state) || c->restart_at, fresh = c->state == CELL_CREATED;
	const char *was = label_of(c, LABEL_CELL);
	bool more_pids = live && change_needs_restart(c->spec, a->spec);
	json_t *part;

	a->changes = specs_compare(c->spec, a->spec);
	if (!was || strcmp(was, group))
		change_add(a->changes, "labels", LABEL_CELL);
	if (a->files)
		change_add(a->changes, "files", NULL);
	a->restart = changes_hard(a->changes, more_pids);
	if (!json_array_size(a->changes)) {
		a->kind = needs_start(c) ? PLAN_START : PLAN_KEEP;
	} else if (changes_have(a->changes, "image")) {
		a->kind = o->recreate || fresh ? PLAN_RECREATE : PLAN_REFUSED;
	} else if (!json_array_size(a->restart)) {
		a->kind = PLAN_CHANGE;
		a->start = needs_start(c);
	} else if (o->apply && !o->restart && live) {
		a->kind = PLAN_LATER;
		part = spec_in_place(c, a->spec, more_pids);
		json_decref(a->spec);
		a->spec = part;
	} else {
		a->kind = PLAN_RESTART;
	}
	if (a->kind != PLAN_RESTART && a->kind != PLAN_LATER)
		json_array_clear(a->restart);
	if (a->prompt)
		change_add(a->changes, "prompt", NULL);
	if (a->prompt && a->kind == PLAN_KEEP)
		a->kind = PLAN_CHANGE;
}

/* A child's settings are what it got, not what it asked for: whether that has changed is said by a
 * label. */
static void child_plan(struct plan_action *a, const struct cell *c, const struct project_group *g,
		       const struct plan_options *o)
{
	const char *was = label_of(c, LABEL_SPEC),
		   *wanted = json_text(json_object_get(a->spec, "labels"), LABEL_SPEC);
	bool same = was && !strcmp(was, wanted) && !a->files;

	if (same) {
		a->kind = needs_start(c) || a->prompt ? PLAN_START : PLAN_KEEP;
		return;
	}
	a->changes = json_array();
	change_add(a->changes, a->files ? "files" : "settings", NULL);
	a->kind = o->recreate || c->state == CELL_CREATED ? PLAN_RECREATE : PLAN_REFUSED;
	/* Its files go with it, and are written once more. */
	a->files = json_array_size(g->files) > 0;
	json_object_del(json_object_get(a->spec, "labels"), LABEL_FILES);
}

static int cell_plan(struct daemon *d, struct plan *p, const struct project_cell *pc,
		     const struct plan_options *o, struct err *f)
{
	struct project_group *g = &p->file.groups[pc->group];
	struct cell *c = cell_by_name(d, pc->name);
	struct plan_action *a = &p->actions[p->n++];
	const char *owner = c ? cell_project(c) : NULL, *written, *hash;

	strcpy(a->cell, pc->name);
	a->group = (int)pc->group;
	a->spec = spec_wanted(d, p, g, pc->replica, f);
	if (!a->spec)
		return -1;
	if (c && strcmp(c->parent, p->family.parent))
		return err_set(f, ERR_EXISTS,
			       "there is a cell '%s' already" REMEDY "choose another name",
			       plan_shown(p, pc->name).str);
	if (c && owner && strcmp(owner, p->project))
		return err_set(f, ERR_EXISTS,
			       "cell '%s' belongs to project '%.64s'" REMEDY
			       "give one of them another "
			       "name",
			       pc->name, owner);
	if (c && !owner)
		return err_set(f, ERR_EXISTS,
			       "there is a cell '%s' already that project '%s' did not make" REMEDY
			       "remove it, "
			       "or give one of them another name",
			       pc->name, p->project);
	if (json_array_size(g->files)) {
		hash = group_files_hash(d, g);
		written = c ? label_of(c, LABEL_FILES) : NULL;
		a->files = !written || strcmp(written, hash);
		if (!a->files)
			json_object_set_new(json_object_get(a->spec, "labels"), LABEL_FILES,
					    json_string(hash));
	}
	a->prompt = g->prompt && !(c && group_session(d, g, c));
	if (c && p->family.parent[0])
		child_plan(a, c, g, o);
	else if (c)
		existing_plan(a, c, g->name, o);
	else
		a->kind = PLAN_CREATE;
	p->refused |= a->kind == PLAN_REFUSED;
	return 0;
}

/* ---- which ---- */

static void group_mark(const struct project_file *file, unsigned g, bool *marks)
{
	if (marks[g])
		return;
	marks[g] = true;
	/* What depends on each other is no circle, so this ends. */
	for (unsigned i = 0; i < file->groups[g].ndeps; i++)
		group_mark(file, file->groups[g].deps[i].group, marks);
}

/* Which cells are meant: marks[i] for each of the file. */
static int only_mark(const struct plan *p, const json_t *only, bool *marks, struct err *f)
{
	const struct project_file *file = &p->file;
	bool groups[PROJECT_MAX_GROUPS] = { false };
	json_t *v;
	size_t i;

	for (unsigned k = 0; k < file->ncells; k++)
		marks[k] = !json_array_size(only);
	json_array_foreach(only, i, v) {
		const char *name = json_string_value(v);
		const struct project_group *g = project_group_find(file, name);
		unsigned k = 0;

		if (g) {
			group_mark(file, (unsigned)(g - file->groups), groups);
			continue;
		}
		while (k < file->ncells && strcmp(file->cells[k].name, name) &&
		       strcmp(plan_shown(p, file->cells[k].name).str, name))
			k++;
		if (k == file->ncells)
			return err_set(f, ERR_NOT_FOUND, "the file has no cell '%.80s'", name);
		marks[k] = true;
		g = &file->groups[file->cells[k].group];
		for (unsigned n = 0; n < g->ndeps; n++)
			group_mark(file, g->deps[n].group, groups);
	}
	for (unsigned k = 0; k < file->ncells; k++)
		marks[k] |= groups[file->cells[k].group];
	return 0;
}

static bool file_has(const struct project_file *file, const char *cell)
{
	for (unsigned i = 0; i < file->ncells; i++)
		if (!strcmp(file->cells[i].name, cell))
			return true;
	return false;
}

/* Cells of the project that are not in the file: surplus replicas go, others are orphans. With
 * down, all go. */
static void others_plan(struct daemon *d, struct plan *p, const struct plan_options *o)
{
	struct cell *c;

	list_for_each(c, &d->cells, link) {
		const char *owner = cell_project(c), *name = label_of(c, LABEL_CELL);
		const struct project_group *g;
		struct plan_action *a;

		if (!c->name[0] || !owner || strcmp(owner, p->project) ||
		    strcmp(c->parent, p->family.parent) ||
		    (!o->down && file_has(&p->file, c->name)))
			continue;
		g = name ? project_group_find(&p->file, name) : NULL;
		a = &p->actions[p->n++];
		strcpy(a->cell, c->name);
		a->group = g ? (int)(g - p->file.groups) : -1;
		a->kind = o->down || o->remove_orphans || g ? PLAN_REMOVE : PLAN_ORPHAN;
	}
}

/* ---- volumes ---- */

int project_volume_note(struct daemon *d, const char *project, const char *volume, struct err *f)
{
	return db_run(&d->db, f,
		      "INSERT OR REPLACE INTO project_volumes(volume,project) VALUES(?,?)", "tt",
		      volume, project) < 0
		       ? -1
		       : 0;
}

void project_volume_forget(struct daemon *d, const char *volume)
{
	db_run(&d->db, NULL, "DELETE FROM project_volumes WHERE volume=?", "t", volume);
}

json_t *project_volumes(struct daemon *d)
{
	sqlite3_stmt *q = db_query(&d->db, "SELECT volume FROM project_volumes", "");
	json_t *o = json_object();

	while (db_next(q))
		json_object_set_new(o, db_text(q, 0), json_true());
	db_done(q);
	return o;
}

static void volumes_down(struct daemon *d, struct plan *p)
{
	sqlite3_stmt *q =
		db_query(&d->db, "SELECT volume FROM project_volumes WHERE project=? ORDER BY 1",
			 "t", p->project);

	while (db_next(q))
		json_array_append_new(p->volumes, json_string(db_text(q, 0)));
	db_done(q);
}

static int volumes_up(struct plan *p, struct err *f)
{
	struct store s;
	int ret = 0;

	/* Those that a cell can mount are its own. */
	if (!p->file.nvolumes || p->family.parent[0])
		return 0;
	if (store_open(&s, f) < 0)
		return -1;
	for (unsigned i = 0; i < p->file.nvolumes && ret == 0; i++) {
		const struct project_volume *v = &p->file.volumes[i];
		struct named n;

		if (named_find(s.fd, NAMED_VOLUME, v->name, &n) == 0)
			continue;
		if (v->external)
			ret = err_set(f, ERR_NOT_FOUND,
				      "there is no volume '%s', which the file says is created "
				      "elsewhere" REMEDY "'viv volume create %s' makes it",
				      v->name, v->name);
		else
			json_array_append_new(p->volumes, json_string(v->name));
	}
	store_close(&s);
	return ret;
}

/* ---- all ---- */

struct family_name plan_shown(const struct plan *p, const char *cell)
{
	struct cell c = { 0 };

	strcpy(c.name, cell);
	strcpy(c.parent, p->family.parent);
	return family_name_shown(&c);
}

/* Names of the file become those of the store; what only the host has is refused. */
static int family_prepare(const struct cell *parent, struct plan *p, const struct plan_options *o,
			  struct err *f)
{
	char name[CELL_NAME_LEN + 1];

	for (unsigned i = 0; i < p->file.nvolumes; i++)
		if (!p->file.volumes[i].external)
			return err_set(f, ERR_FORBIDDEN,
				       "volume '%s': a cell cannot make volumes" REMEDY
				       "write 'external: true' for one that this cell has",
				       p->file.volumes[i].name);
	if (o->volumes)
		return err_set(f, ERR_FORBIDDEN, "a cell has no volumes to remove");
	for (unsigned i = 0; i < p->file.ncells; i++) {
		if (family_name(parent, p->file.cells[i].name, name, f) < 0)
			return -1;
		strcpy(p->file.cells[i].name, name);
	}
	return 0;
}

int plan_make(struct daemon *d, struct project_file *file, const char *project,
	      const struct plan_options *o, struct plan *p, struct err *f)
{
	bool marks[PROJECT_MAX_CELLS];
	bool all = !json_array_size(o->only);

	*p = (struct plan){ .file = *file, .down = o->down, .volumes = json_array() };
	*file = (struct project_file){ 0 };
	if (o->parent) {
		strcpy(p->family.parent, o->parent->id);
		if (family_prepare(o->parent, p, o, f) < 0)
			return -1;
	}
	snprintf(p->project, sizeof(p->project), "%s", p->file.name[0] ? p->file.name : project);
	p->actions = xalloc((p->file.ncells + d->ncells + 1) * sizeof(*p->actions));
	if (all)
		p->automation = json_array();
	if (o->down) {
		others_plan(d, p, o);
		if (o->volumes && !o->parent)
			volumes_down(d, p);
		/* Whatever the file says. */
		json_decref(p->file.workflows);
		json_decref(p->file.schedules);
		p->file.workflows = p->file.schedules = NULL;
		return automation_plan(d, p, f);
	}
	if (only_mark(p, o->only, marks, f) < 0 || volumes_up(p, f) < 0)
		return -1;
	for (unsigned i = 0; i < p->file.ncells; i++)
		if (marks[i] && cell_plan(d, p, &p->file.cells[i], o, f) < 0)
			return -1;
	if (!all)
		return 0;
	others_plan(d, p, o);
	return automation_plan(d, p, f);
}

void plan_free(struct plan *p)
{
	for (unsigned i = 0; i < p->n; i++) {
		json_decref(p->actions[i].changes);
		json_decref(p->actions[i].restart);
		json_decref(p->actions[i].spec);
	}
	free(p->actions);
	json_decref(p->volumes);
	json_decref(p->automation);
	project_file_free(&p->file);
	*p = (struct plan){ 0 };
}

json_t *plan_json(const struct plan *p)
{
	json_t *list = json_array(), *plan;

	for (unsigned i = 0; i < p->n; i++) {
		const struct plan_action *a = &p->actions[i];
		json_t *o = json_pack("{s:s,s:s}", "action", kind_names[a->kind], "cell",
				      plan_shown(p, a->cell).str);

		if (json_array_size(a->changes))
			json_object_set(o, "changes", a->changes);
		if (json_array_size(a->restart))
			json_object_set(o, "restart", a->restart);
		json_array_append_new(list, o);
	}
	plan = json_pack("{s:s,s:s,s:o,s:O}", "type", "plan", "project", p->project, "actions",
			 list, "volumes", p->volumes);
	if (json_array_size(p->automation))
		json_object_set(plan, "automation", p->automation);
	return plan;
}

bool plan_does(const struct plan_action *a)
{
	if (a->kind == PLAN_LATER) /* some of it */
		return json_array_size(a->changes) > json_array_size(a->restart);
	return a->kind != PLAN_KEEP && a->kind != PLAN_ORPHAN && a->kind != PLAN_REFUSED;
}
