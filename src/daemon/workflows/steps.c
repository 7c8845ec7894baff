/* See steps.h. All keys of a step are in one table; what may stand with which kind is in another.
 * The kind of a step is that of its one key that is a kind. 'steps' is one by itself, and belongs
 * to 'foreach' where that is there; 'if' is one with 'then' or 'else', and else a condition. */
#include "daemon/workflows/steps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "daemon/state/fields.h"
#include "daemon/workflows/def.h"
#include "daemon/workflows/expr.h"
#include "daemon/workflows/limits.h"
#include "daemon/workflows/value.h"

#define KEY(key, kind, ...)                                   \
	{                                                     \
		.name = key, .type = YKEY_##kind, __VA_ARGS__ \
	}

struct def_reader *def_reader_of(struct yread *y)
{
	return container_of(container_of(y, struct project_reader, y), struct def_reader, p);
}

bool def_name_is_valid(const char *s)
{
	size_t n = strlen(s);

	return n && n <= WF_NAME_MAX && (s[0] < '0' || s[0] > '9') &&
	       strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") == n;
}

int exprs_check(struct yread *y, const struct ynode *n, const json_t *v)
{
	json_t *list = json_array();
	const char *bad;
	int err = expr_collect(v, list, &bad);

	json_decref(list);
	return err ? yaml_wrong(y->f, &y->doc, n,
				"an expression is not closed with '}}', is empty, or has more than "
				"%d bytes",
				WF_EXPR_MAX)
		   : 0;
}

/* ---- values of keys ---- */

static int any_read(struct yread *y, struct ynode *n, json_t **ret)
{
	*ret = value_of(&y->doc, n, y->f);
	if (!*ret)
		return -1;
	return exprs_check(y, n, *ret);
}

static int map_read(struct yread *y, struct ynode *n, json_t **ret)
{
	if (n->kind != YNODE_MAP)
		return yaml_wrong(y->f, &y->doc, n, "'%s' must be a map",
				  n->key ? n->key->text : "this");
	return any_read(y, n, ret);
}

/* An expression alone, with or without ${{ }}. */
static int expr_read(struct yread *y, struct ynode *n, json_t **ret)
{
	char *bare = n->kind == YNODE_TEXT ? expr_bare(n->text) : NULL;

	if (!bare)
		return yaml_wrong(y->f, &y->doc, n,
				  "'%s' must be an expression of at most %d bytes", n->key->text,
				  WF_EXPR_MAX);
	*ret = json_string(bare);
	free(bare);
	return *ret ? 0 : yaml_wrong(y->f, &y->doc, n, "'%s' is not UTF-8", n->key->text);
}

static int foreach_read(struct yread *y, struct ynode *n, json_t **ret)
{
	char text[WF_EXPR_MAX + 16];
	json_t *expr = NULL;
	size_t items = 0;

	if (n->kind == YNODE_LIST) {
		for (const struct ynode *i = n->first; i; i = i->next)
			items++;
		if (items > WF_ITEMS_MAX)
			return yaml_wrong(y->f, &y->doc, n, "'foreach' has at most %d items",
					  WF_ITEMS_MAX);
		return any_read(y, n, ret);
	}
	if (expr_read(y, n, &expr) < 0)
		return -1;
	snprintf(text, sizeof(text), "${{ %s }}", json_string_value(expr));
	json_decref(expr);
	*ret = json_string(text);
	return 0;
}

/* A shell's text, or words. Values that come from steps are never part of a shell's text. */
static int command_read(struct yread *y, struct ynode *n, json_t **ret)
{
	static const struct ykey words = { .name = "run", .type = YKEY_WORDS };

	if (n->kind == YNODE_LIST) {
		if (ykey_read(y, n, &words, ret) < 0)
			return -1;
		if (!json_array_size(*ret))
			return yaml_wrong(y->f, &y->doc, n, "'run' is empty");
		return exprs_check(y, n, *ret);
	}
	if (n->kind != YNODE_TEXT || !*n->text)
		return yaml_wrong(y->f, &y->doc, n,
				  "'run' must be a text for a shell or a list of words");
	if (strstr(n->text, "${{"))
		return yaml_wrong(
			y->f, &y->doc, n,
			"a shell's text has no expressions in it" REMEDY
			"set a variable with 'env: {NAME: ${{ ... }}}' and write \"$NAME\"");
	*ret = json_pack("[s,s,s]", "/bin/sh", "-c", n->text);
	return *ret ? 0 : yaml_wrong(y->f, &y->doc, n, "'run' is not UTF-8");
}

static int text_read(struct yread *y, struct ynode *n, json_t **ret)
{
	if (n->kind != YNODE_TEXT || !*n->text)
		return yaml_wrong(y->f, &y->doc, n, "'%s' must be a text", n->key->text);
	*ret = json_string(n->text);
	if (!*ret)
		return yaml_wrong(y->f, &y->doc, n, "'%s' is not UTF-8", n->key->text);
	return exprs_check(y, n, *ret);
}

static int words_read(struct yread *y, struct ynode *n, json_t **ret)
{
	static const struct ykey words = { .name = "command", .type = YKEY_WORDS };

	return ykey_read(y, n, &words, ret) < 0 ? -1 : exprs_check(y, n, *ret);
}

static int env_read(struct yread *y, struct ynode *n, json_t **ret)
{
	static const struct ykey map = { .name = "env", .type = YKEY_MAP };

	if (ykey_read(y, n, &map, ret) < 0)
		return -1;
	for (const struct ynode *i = n->first; i; i = i->next)
		if (strchr(i->key->text, '='))
			return yaml_wrong(y->f, &y->doc, i->key, "a variable's name has no '='");
	return exprs_check(y, n, *ret);
}

static int sleep_read(struct yread *y, struct ynode *n, json_t **ret)
{
	static const struct ykey time = { .name = "sleep", .type = YKEY_SECONDS, .max = 3.2e8 };

	return n->kind == YNODE_TEXT && strstr(n->text, "${{") ? text_read(y, n, ret)
							       : ykey_read(y, n, &time, ret);
}

static const struct ykey retry_keys[] = {
	KEY("count", COUNT, .flags = YKEY_REQUIRED, .min = 0, .max = WF_RETRY_MAX),
	KEY("backoff", SECONDS, .max = 86400),
	KEY("max", SECONDS, .max = 86400),
};
static const struct yschema retry_schema = { "'retry'", retry_keys, ARRAY_LEN(retry_keys), NULL };

/* A number, or a map. */
static int retry_read(struct yread *y, struct ynode *n, json_t **ret)
{
	json_t *count = NULL;

	if (n->kind == YNODE_MAP) {
		*ret = yschema_read(y, n, &retry_schema);
		return *ret ? 0 : -1;
	}
	if (ykey_read(y, n, &retry_keys[0], &count) < 0)
		return -1;
	*ret = json_pack("{s:o}", "count", count);
	return 0;
}

int cell_spec_read(struct yread *y, struct ynode *n, json_t **ret)
{
	const struct yschema *s = project_schema(), *cell = NULL;
	json_t *spec;

	for (unsigned i = 0; i < s->n; i++)
		if (!strcmp(s->keys[i].name, "cells"))
			cell = s->keys[i].sub;
	*ret = ynode_is_null(n) ? json_object() : yschema_read(y, n, cell);
	if (!*ret)
		return -1;
	/* What only vivarium.yaml has. */
	spec = project_spec(*ret);
	for (struct ynode *i = n->kind == YNODE_MAP ? n->first : NULL; i; i = i->next)
		if (!json_object_get(spec, i->key->text)) {
			json_decref(spec);
			return yaml_wrong(y->f, &y->doc, i->key, "a cell of a workflow has no '%s'",
					  i->key->text);
		}
	json_decref(spec);
	return exprs_check(y, n, *ret);
}

static int list_read(struct yread *y, struct ynode *n, json_t **ret)
{
	*ret = steps_read(y, n);
	return *ret ? 0 : -1;
}

static int named_read(struct yread *y, struct ynode *n, json_t **ret)
{
	char place[32];

	if (n->kind != YNODE_TEXT || !*n->text || strlen(n->text) > 1024 || strstr(n->text, "${{"))
		return yaml_wrong(
			y->f, &y->doc, n,
			"'workflow' must be a name of 'workflows', or the path of a file");
	snprintf(place, sizeof(place), "%u:%u", n->line, n->column);
	if (!json_object_get(def_reader_of(y)->names, n->text))
		json_object_set_new(def_reader_of(y)->names, n->text, json_string(place));
	*ret = json_string(n->text);
	return *ret ? 0 : yaml_wrong(y->f, &y->doc, n, "'workflow' is not UTF-8");
}

/* ---- the tables ---- */

static int step_check(struct yread *y, struct ynode *at, json_t *o);

static const struct ykey step_keys[] = {
	KEY("name", TEXT),
	KEY("if", OWN, .read = expr_read),
	KEY("timeout", SECONDS, .min = 0.001, .max = 3.2e8),
	KEY("retry", OWN, .read = retry_read),
	KEY("rollback", OWN, .read = list_read),
	KEY("run", OWN, .read = command_read),
	KEY("in", OWN, .read = text_read),
	KEY("env", OWN, .read = env_read),
	KEY("workdir", OWN, .read = text_read),
	KEY("user", OWN, .read = text_read),
	KEY("prompt", OWN, .read = text_read),
	KEY("session", OWN, .read = text_read),
	KEY("agent", OWN, .read = text_read),
	KEY("command", OWN, .read = words_read),
	KEY("acp", BOOL),
	KEY("cell", OWN, .read = cell_spec_read),
	KEY("keep", BOOL),
	KEY("wait", BOOL),
	KEY("workflow", OWN, .read = named_read),
	KEY("with", OWN, .read = map_read),
	KEY("approve", OWN, .read = text_read),
	KEY("sleep", OWN, .read = sleep_read),
	KEY("parallel", OWN, .read = list_read),
	KEY("foreach", OWN, .read = foreach_read),
	KEY("max", COUNT, .min = 1, .max = WF_PARALLEL_MAX),
	KEY("steps", OWN, .read = list_read),
	KEY("then", OWN, .read = list_read),
	KEY("else", OWN, .read = list_read),
};
static const struct yschema step_schema = { "a step", step_keys, ARRAY_LEN(step_keys), step_check };

/* What each kind has beside what all have; those in args are evaluated when it begins. */
static const struct kind {
	const char *name, *key; /* NULL: the same */
	const char *args[10], *others[3];
} kinds[] = {
	{ "run", NULL, { "run", "in", "env", "workdir", "user" }, { NULL } },
	{ "prompt",
	  NULL,
	  { "prompt", "in", "session", "agent", "command", "acp", "env", "workdir", "user" },
	  { NULL } },
	{ "cell", NULL, { "cell", "keep", "wait" }, { NULL } },
	{ "approve", NULL, { "approve" }, { NULL } },
	{ "sleep", NULL, { "sleep" }, { NULL } },
	{ "workflow", NULL, { "with" }, { "workflow" } },
	{ "parallel", NULL, { NULL }, { "parallel", "max" } },
	{ "foreach", NULL, { "foreach" }, { "steps", "max" } },
	{ "if", "then", { NULL }, { "then", "else" } },
	{ "if", "else", { NULL }, { "else" } },
	{ "steps", NULL, { NULL }, { "steps" } },
};
static const char *const common[] = { "name", "if", "timeout", "retry", "rollback" };

static bool is_one_of(const char *s, const char *const *list, unsigned n)
{
	for (unsigned i = 0; i < n && list[i]; i++)
		if (!strcmp(s, list[i]))
			return true;
	return false;
}

static const struct kind *kind_find(struct yread *y, struct ynode *at)
{
	const struct kind *found = NULL;

	for (unsigned i = 0; i < ARRAY_LEN(kinds); i++) {
		const struct kind *k = &kinds[i];
		const struct ynode *n = ynode_get(at, k->key ? k->key : k->name);

		if (!n || (found && is_one_of(n->key->text, found->others, 3)))
			continue;
		if (found) {
			yaml_note(y->f, &y->doc, n->key, "a step has either '%s' or '%s'",
				  found->key ? found->key : found->name, n->key->text);
			return NULL;
		}
		found = k;
	}
	if (!found)
		yaml_note(y->f, &y->doc, at,
			  "a step must have one of run, prompt, cell, workflow, approve, sleep, "
			  "parallel, foreach, steps, and if with then");
	return found;
}

static int keys_check(struct yread *y, struct ynode *at, const struct kind *k)
{
	for (const struct ynode *i = at->first; i; i = i->next)
		if (!is_one_of(i->key->text, k->args, ARRAY_LEN(k->args)) &&
		    !is_one_of(i->key->text, k->others, ARRAY_LEN(k->others)) &&
		    !is_one_of(i->key->text, common, ARRAY_LEN(common)))
			return yaml_wrong(y->f, &y->doc, i->key, "a step of kind '%s' has no '%s'",
					  k->name, i->key->text);
	return 0;
}

static int kind_check(struct yread *y, struct ynode *at, const struct kind *k, const json_t *o)
{
	const char *name = json_text(o, "name");

	if (name && !def_name_is_valid(name))
		return yaml_wrong(y->f, &y->doc, ynode_get(at, "name"),
				  "a name has letters, digits and '_', and does not begin with a "
				  "digit" REMEDY "expressions use it: .steps.NAME.output");
	if (!strcmp(k->name, "foreach") && !json_object_get(o, "steps"))
		return yaml_wrong(y->f, &y->doc, at, "'foreach' needs 'steps'");
	if (!strcmp(k->name, "if") && !json_object_get(o, "if"))
		return yaml_wrong(y->f, &y->doc, at, "'then' and 'else' need 'if'");
	if (!strcmp(k->name, "sleep") && json_object_get(o, "timeout"))
		return yaml_wrong(y->f, &y->doc, ynode_get(at, "timeout"),
				  "a step of kind 'sleep' has no 'timeout'");
	if (!strcmp(k->name, "prompt")) {
		int how = !!json_object_get(o, "session") + !!json_object_get(o, "agent") +
			  !!json_object_get(o, "command");

		if (how != 1)
			return yaml_wrong(y->f, &y->doc, at,
					  "a prompt has one of 'session', 'agent' and 'command'");
		if (!json_object_get(o, "session") && !json_object_get(o, "in"))
			return yaml_wrong(y->f, &y->doc, at,
					  "a prompt for a new session needs 'in', the cell");
	}
	return 0;
}

/* o becomes a step as def.h has it. */
static int step_check(struct yread *y, struct ynode *at, json_t *o)
{
	const struct kind *k = kind_find(y, at);
	json_t *args;

	if (!k || keys_check(y, at, k) < 0 || kind_check(y, at, k, o) < 0)
		return -1;
	args = json_object();
	for (unsigned i = 0; i < ARRAY_LEN(k->args) && k->args[i]; i++) {
		json_object_set(args, k->args[i], json_object_get(o, k->args[i]));
		json_object_del(o, k->args[i]);
	}
	if (json_object_get(o, "parallel")) {
		json_object_set(o, "steps", json_object_get(o, "parallel"));
		json_object_del(o, "parallel");
	}
	json_object_set_new(o, "args", args);
	json_object_set_new(o, "kind", json_string(k->name));
	json_object_set_new(o, "line", json_integer(at->line));
	return 0;
}

/* ---- lists ---- */

/* Names of steps without one: "step1". Every name is there once in a list. */
static int names_check(struct yread *y, const struct ynode *n, json_t *list)
{
	json_t *seen = json_object(), *step;
	struct ynode *at = n->first;
	char name[32];
	int ret = 0;
	size_t i;

	json_array_foreach(list, i, step) {
		if (!json_text(step, "name")) {
			snprintf(name, sizeof(name), "step%zu", i + 1);
			json_object_set_new(step, "name", json_string(name));
		}
		if (json_object_get(seen, json_text(step, "name")))
			ret = yaml_wrong(y->f, &y->doc, at, "there is a step '%s' already",
					 json_text(step, "name"));
		if (ret < 0)
			break;
		json_object_set_new(seen, json_text(step, "name"), json_true());
		at = at->next;
	}
	json_decref(seen);
	return ret;
}

json_t *steps_read(struct yread *y, struct ynode *n)
{
	json_t *list = NULL, *step;

	if (n->kind != YNODE_LIST || !n->first) {
		yaml_note(y->f, &y->doc, n, "'%s' must be a list of steps",
			  n->key ? n->key->text : "steps");
		return NULL;
	}
	list = json_array();
	for (struct ynode *i = n->first; i; i = i->next) {
		step = NULL;
		if (++def_reader_of(y)->nsteps > WF_FILE_STEPS)
			yaml_note(y->f, &y->doc, i, "a workflow has at most %d steps written down",
				  WF_FILE_STEPS);
		else
			step = yschema_read(y, i, &step_schema);
		if (!step) {
			json_decref(list);
			return NULL;
		}
		json_array_append_new(list, step);
	}
	if (names_check(y, n, list) < 0) {
		json_decref(list);
		return NULL;
	}
	return list;
}
