/* See def.h. A file and what it names are read one after the other; then the graph of who names
 * whom is checked: no circles, not too deep, and not so many steps in all that a run could not hold
 * them. A foreach counts as one round, as its items are not known yet; the engine counts the real
 * ones. */
#include "daemon/workflows/def.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "daemon/state/fields.h"
#include "daemon/workflows/inputs.h"
#include "daemon/workflows/limits.h"
#include "daemon/workflows/steps.h"
#include "daemon/workflows/value.h"
#include "store/files.h"

#define KEY(key, kind, ...)                                   \
	{                                                     \
		.name = key, .type = YKEY_##kind, __VA_ARGS__ \
	}

/* ---- one workflow ---- */

static int any_read(struct yread *y, struct ynode *n, json_t **ret)
{
	*ret = value_of(&y->doc, n, y->f);
	return *ret ? exprs_check(y, n, *ret) : -1;
}

static const struct ykey input_keys[] = {
	KEY("type", TEXT),
	KEY("default", OWN, .read = any_read),
	KEY("required", BOOL),
	KEY("description", TEXT),
};

static int input_check(struct yread *y, struct ynode *at, json_t *o)
{
	const char *type = json_text(o, "type");
	const json_t *value = json_object_get(o, "default");

	if (type && !input_type_is_valid(type))
		return yaml_wrong(y->f, &y->doc, ynode_get(at, "type"),
				  "'type' must be string, number, boolean, array, object or any");
	if (value && !input_fits(type ? type : "any", value))
		return yaml_wrong(y->f, &y->doc, ynode_get(at, "default"),
				  "'default' is not of type %s", type);
	return 0;
}
static const struct yschema input_schema = { "an input", input_keys, ARRAY_LEN(input_keys),
					     input_check };

/* NAME: nothing is an input of any type that must be given; NAME: VALUE is its default. */
static int inputs_read(struct yread *y, struct ynode *n, json_t **ret)
{
	json_t *v;

	if (n->kind != YNODE_MAP)
		return yaml_wrong(y->f, &y->doc, n, "'inputs' must be a map");
	*ret = json_object();
	for (struct ynode *i = n->first; i; i = i->next) {
		if (!def_name_is_valid(i->key->text))
			return yaml_wrong(y->f, &y->doc, i->key,
					  "the name of an input has letters, digits and '_', and "
					  "does not begin with a digit");
		if (ynode_is_null(i))
			v = json_pack("{s:b}", "required", 1);
		else if (i->kind == YNODE_MAP)
			v = yschema_read(y, i, &input_schema);
		else
			v = any_read(y, i, &v) < 0 ? NULL : json_pack("{s:o}", "default", v);
		if (!v)
			return -1;
		json_object_set_new(*ret, i->key->text, v);
	}
	return 0;
}

static int list_read(struct yread *y, struct ynode *n, json_t **ret)
{
	*ret = steps_read(y, n);
	return *ret ? 0 : -1;
}

#define WORKFLOW_KEYS                                                      \
	KEY("description", TEXT), KEY("inputs", OWN, .read = inputs_read), \
		KEY("outputs", OWN, .read = any_read),                     \
		KEY("steps", OWN, .flags = YKEY_REQUIRED, .read = list_read)

static const struct ykey part_keys[] = { WORKFLOW_KEYS };
static const struct yschema part_schema = { "a workflow", part_keys, ARRAY_LEN(part_keys), NULL };

static int name_read(struct yread *y, struct ynode *n, json_t **ret)
{
	if (n->kind != YNODE_TEXT || !*n->text || strlen(n->text) > WF_NAME_MAX ||
	    n->text[strspn(n->text,
			   "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"
			   "-.")])
		return yaml_wrong(y->f, &y->doc, n,
				  "'name' has at most %d letters, digits, '_', '-' and '.'",
				  WF_NAME_MAX);
	*ret = json_string(n->text);
	return 0;
}

static const struct ykey file_keys[] = {
	KEY("name", OWN, .read = name_read),
	KEY("cell", OWN, .read = cell_spec_read),
	KEY("workflows", NAMED, .sub = &part_schema),
	WORKFLOW_KEYS,
};
static const struct yschema file_schema = { "a workflow", file_keys, ARRAY_LEN(file_keys), NULL };

/* ---- files ---- */

struct reading {
	json_t *workflows; /* all, by key: the path of a file, or FILE#NAME */
	struct err *e;
	unsigned nsteps;
};

/* What a step calls it becomes its key. */
static void keys_resolve(json_t *steps, const json_t *keys)
{
	static const char *const lists[] = { "steps", "then", "else", "rollback" };
	json_t *step;
	size_t i;

	json_array_foreach(steps, i, step) {
		const char *name = json_text(step, "workflow");

		if (name)
			json_object_set(step, "workflow", json_object_get(keys, name));
		for (unsigned k = 0; k < ARRAY_LEN(lists); k++)
			keys_resolve(json_object_get(step, lists[k]), keys);
	}
}

static int file_read(struct reading *r, const struct def_input *in, const char *key,
		     unsigned depth);

static int named_file_read(struct reading *r, const struct def_input *from, const char *path,
			   const char *place, const char *key, unsigned depth)
{
	struct def_input in = { 0 };
	char *text = NULL, *slash, dir[4096];
	int err;

	if (depth >= WF_DEPTH || json_object_size(r->workflows) >= WF_FILES)
		return err_set(
			r->e, ERR_INVALID_FILE,
			"%.200s:%s: workflows name each other more than %d deep, or are more "
			"than %d",
			from->file, place, WF_DEPTH, WF_FILES);
	err = file_read_all(AT_FDCWD, path, YAML_MAX_BYTES, &text, &in.size);
	if (err)
		return err_set(r->e, ERR_INVALID_FILE, "%.200s:%s: cannot read '%.300s': %s",
			       from->file, place, path,
			       err == -EFBIG ? "it has more than 1 MiB" : strerror(-err));
	snprintf(dir, sizeof(dir), "%s", path);
	slash = strrchr(dir, '/');
	slash[slash == dir] = '\0';
	in.text = text;
	in.file = path;
	in.dir = dir;
	err = file_read(r, &in, key, depth + 1);
	free(text);
	return err;
}

static bool is_file(const char *name)
{
	size_t n = strlen(name);

	return strchr(name, '/') || (n > 5 && !strcmp(name + n - 5, ".yaml")) ||
	       (n > 4 && !strcmp(name + n - 4, ".yml"));
}

/* Reads what the file names; keys gets {name: key}. */
static int names_read(struct reading *r, const struct def_input *in, const json_t *names,
		      const json_t *inside, const char *key, json_t *keys, unsigned depth)
{
	const char *name;
	const json_t *place;
	char path[4096], plain[4096];

	json_object_foreach((json_t *)(uintptr_t)names, name, place) {
		const char *at = json_string_value(place);

		if (json_object_get(inside, name)) {
			snprintf(plain, sizeof(plain), "%.2000s#%.1000s", key, name);
			json_object_set_new(keys, name, json_string(plain));
			continue;
		}
		if (!is_file(name))
			return err_set(
				r->e, ERR_INVALID_FILE,
				"%.200s:%s: there is no workflow '%.80s' in 'workflows'" REMEDY
				"a file is named by its path: ./%.80s.yaml",
				in->file, at, name, name);
		if (!in->dir && name[0] != '/')
			return err_set(r->e, ERR_INVALID_FILE,
				       "%.200s:%s: the path must be absolute here", in->file, at);
		snprintf(plain, sizeof(plain), "%.2000s%s%.1024s", name[0] == '/' ? "" : in->dir,
			 name[0] == '/' ? "" : "/", name);
		/* The same file by another way is the same workflow. */
		if (!realpath(plain, path))
			return err_set(r->e, ERR_INVALID_FILE,
				       "%.200s:%s: cannot read '%.300s': %s", in->file, at, plain,
				       strerror(errno));
		json_object_set_new(keys, name, json_string(path));
		if (!json_object_get(r->workflows, path) &&
		    named_file_read(r, in, path, at, path, depth) < 0)
			return -1;
	}
	return 0;
}

static int parts_add(struct reading *r, const char *key, const json_t *root, const json_t *keys)
{
	const char *name;
	json_t *part;
	char full[4096];

	json_object_foreach(json_object_get(root, "workflows"), name, part) {
		if (json_object_size(r->workflows) >= WF_FILES)
			return err_set(r->e, ERR_INVALID_FILE, "there are more than %d workflows",
				       WF_FILES);
		keys_resolve(json_object_get(part, "steps"), keys);
		snprintf(full, sizeof(full), "%.2000s#%.1000s", key, name);
		json_object_set_new(part, "name", json_string(name));
		json_object_set(r->workflows, full, part);
	}
	return 0;
}

/* A workflow in the tree at root, which is d's. */
static int root_read(struct reading *r, struct def_reader *d, struct ynode *at,
		     const struct def_input *in, const char *key, unsigned depth)
{
	const struct project_input place = { .dir = in->dir, .file = in->file };
	json_t *root, *keys = json_object();
	int err = -1;

	d->p.in = &place;
	d->p.y.literal = true;
	d->p.y.f = r->e;
	d->nsteps = r->nsteps;
	d->names = json_object();
	root = yschema_read(&d->p.y, at, &file_schema);
	r->nsteps = d->nsteps;
	if (root) {
		/* Known before it is complete, so that a circle of files ends. */
		json_object_set(r->workflows, key, root);
		err = names_read(r, in, d->names, json_object_get(root, "workflows"), key, keys,
				 depth);
	}
	if (!err) {
		keys_resolve(json_object_get(root, "steps"), keys);
		err = parts_add(r, key, root, keys);
		json_object_del(root, "workflows");
	}
	json_decref(root);
	json_decref(keys);
	json_decref(d->names);
	return err;
}

static int file_read(struct reading *r, const struct def_input *in, const char *key, unsigned depth)
{
	struct def_reader d = { 0 };
	struct ydoc *y = &d.p.y.doc;
	int err = ydoc_parse(y, in->file, in->text, in->size, r->e);

	if (!err && (!y->root || ynode_is_null(y->root)))
		err = yaml_wrong(r->e, y, NULL,
				 "the file is empty" REMEDY "it must have a key 'steps'");
	if (!err)
		err = root_read(r, &d, y->root, in, key, depth);
	ydoc_free(y);
	return err;
}

/* ---- the graph ---- */

struct walk {
	const json_t *workflows;
	json_t *sizes; /* steps of a run of one, by its key */
	const char *open[WF_DEPTH + 1];
	struct err *e;
};

static double workflow_size(struct walk *w, const char *key, unsigned depth);

static double steps_size(struct walk *w, const json_t *steps, unsigned depth)
{
	const json_t *step;
	double n = 0, more;
	size_t i;

	json_array_foreach(steps, i, step) {
		const json_t *items = json_object_get(json_object_get(step, "args"), "foreach");
		const char *key = json_text(step, "workflow");

		more = steps_size(w, json_object_get(step, "steps"), depth) +
		       MAX(steps_size(w, json_object_get(step, "then"), depth),
			   steps_size(w, json_object_get(step, "else"), depth));
		/* An item is a step, too. */
		if (items)
			more = (more + 1) *
			       (json_is_array(items) ? (double)json_array_size(items) : 1);
		more += steps_size(w, json_object_get(step, "rollback"), depth);
		if (key)
			more += workflow_size(w, key, depth + 1);
		if (w->e->kind)
			return 0;
		n += more + 1;
	}
	return n;
}

static double workflow_size(struct walk *w, const char *key, unsigned depth)
{
	const json_t *known = json_object_get(w->sizes, key);
	double n;

	if (known)
		return json_number_value(known);
	for (unsigned i = 0; i < depth; i++)
		if (!strcmp(w->open[i], key)) {
			err_note(w->e, ERR_INVALID_FILE,
				 "%.300s:1:1: workflows name each other in a circle",
				 w->open[i][0] ? w->open[i] : key);
			return 0;
		}
	if (depth >= WF_DEPTH) {
		err_note(w->e, ERR_INVALID_FILE,
			 "%.300s:1:1: workflows name each other more than %d deep", key, WF_DEPTH);
		return 0;
	}
	w->open[depth] = key;
	n = steps_size(w, json_object_get(json_object_get(w->workflows, key), "steps"), depth);
	if (!w->e->kind && n > WF_STEPS_MAX)
		err_note(w->e, ERR_INVALID_FILE, "%.300s:1:1: a run would have more than %d steps",
			 key, WF_STEPS_MAX);
	if (w->e->kind)
		return 0;
	json_object_set_new(w->sizes, key, json_real(n));
	return n;
}

/* The document of what was read under this key. */
static json_t *doc_make(struct reading *r, const char *key)
{
	struct walk w = { .workflows = r->workflows, .sizes = json_object(), .e = r->e };
	json_t *doc = NULL;

	workflow_size(&w, key, 0);
	if (!r->e->kind)
		doc = json_pack("{s:O,s:O}", "main", json_object_get(r->workflows, key),
				"workflows", r->workflows);
	/* Nobody names it: that would be a circle. */
	json_object_del(r->workflows, key);
	json_decref(w.sizes);
	return doc;
}

json_t *def_read(const struct def_input *in, struct err *e)
{
	struct reading r = { .workflows = json_object(), .e = e };
	json_t *doc = NULL;

	e->kind = ERR_NONE;
	if (file_read(&r, in, in->file, 0) == 0)
		doc = doc_make(&r, in->file);
	json_decref(r.workflows);
	return doc;
}

json_t *def_read_node(const struct ydoc *y, struct ynode *at, const struct def_input *in,
		      struct err *e)
{
	struct reading r = { .workflows = json_object(), .e = e };
	struct def_reader d = { .p.y.doc = *y };
	json_t *doc = NULL;

	e->kind = ERR_NONE;
	if (root_read(&r, &d, at, in, in->file, 0) == 0)
		doc = doc_make(&r, in->file);
	json_decref(r.workflows);
	return doc;
}
