/* See family.h: who belongs to whom, names, and the end of a family. What is counted is in
 * familybudget.c. */
#include "daemon/cells/family.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "daemon/cells/life.h"
#include "daemon/cells/lifepriv.h"
#include "daemon/state/fields.h"

/* No chain is longer: more is a damaged database. */
#define CHAIN_MAX 64
#define PREFIX_MIN 4

struct cell *family_parent(const struct cell *c)
{
	return c->parent[0] ? cell_by_id(c->d, c->parent) : NULL;
}

bool family_is_below(const struct cell *c, const char *ancestor)
{
	for (unsigned i = 0; c && i < CHAIN_MAX; i++) {
		if (c->parent[0] && !strcmp(c->parent, ancestor))
			return true;
		c = family_parent(c);
	}
	return false;
}

static const struct cell *family_first(const struct cell *c)
{
	const struct cell *above;

	for (unsigned i = 0; i < CHAIN_MAX && (above = family_parent(c)); i++)
		c = above;
	return c;
}

struct family_group family_group(const struct cell *c)
{
	struct family_group g;

	snprintf(g.str, sizeof(g.str), "%s%s", family_first(c)->id, c->parent[0] ? "+" : "");
	return g;
}

bool family_has_children(const struct cell *c)
{
	const struct cell *child;

	list_for_each(child, &c->d->cells, link)
		if (!strcmp(child->parent, c->id))
			return true;
	return false;
}

bool family_has_running(const struct cell *c)
{
	const struct cell *child;

	list_for_each(child, &c->d->cells, link)
		if (!strcmp(child->parent, c->id) && cell_state_is_live(child->state))
			return true;
	return false;
}

bool family_is_orphan(const struct cell *c)
{
	return c->parent[0] && !family_parent(c);
}

/* ---- names ---- */

int family_name(const struct cell *parent, const char *name, char ret[CELL_NAME_LEN + 1],
		struct err *f)
{
	size_t n = strlen(name), tag = MIN(strlen(parent->id), (size_t)FAMILY_TAG);

	if (n + 1 + tag > CELL_NAME_LEN)
		return err_set(f, ERR_INVALID,
			       "the name of a cell in a cell has at most %zu characters",
			       CELL_NAME_LEN - 1 - tag);
	memcpy(ret, name, n);
	ret[n] = '.';
	memcpy(ret + n + 1, parent->id, tag);
	ret[n + 1 + tag] = '\0';
	return 0;
}

struct family_name family_name_shown(const struct cell *c)
{
	struct family_name shown;
	size_t n = strlen(c->name), tag = MIN(strlen(c->parent), (size_t)FAMILY_TAG);

	strcpy(shown.str, c->name);
	if (tag && n > tag + 1 && c->name[n - tag - 1] == '.' &&
	    !strncmp(c->name + n - tag, c->parent, tag))
		shown.str[n - tag - 1] = '\0';
	return shown;
}

/* ---- finding ---- */

static bool is_family(const struct cell *c, const char *caller)
{
	return !strcmp(c->id, caller) || family_is_below(c, caller);
}

static struct cell *child_named(struct daemon *d, const char *caller, const char *name)
{
	struct cell *c;

	list_for_each(c, &d->cells, link)
		if (c->name[0] && !strcmp(c->parent, caller) &&
		    !strcmp(family_name_shown(c).str, name))
			return c;
	return NULL;
}

/* The only one of the family whose id begins so; NULL: none, or several. */
static struct cell *id_begins(struct daemon *d, const char *caller, const char *text)
{
	struct cell *c, *found = NULL;
	size_t n = strlen(text);

	if (n < PREFIX_MIN)
		return NULL;
	list_for_each(c, &d->cells, link) {
		if (strncmp(c->id, text, n) || !is_family(c, caller))
			continue;
		if (found)
			return NULL;
		found = c;
	}
	return found;
}

struct cell *family_find(struct daemon *d, const char *caller, const char *text, struct err *f)
{
	struct cell *c = cell_by_id(d, text);

	if (c && !is_family(c, caller))
		c = NULL;
	if (!c)
		c = child_named(d, caller, text);
	if (!c)
		c = id_begins(d, caller, text);
	if (!c)
		err_note(f, ERR_NOT_FOUND, "there is no cell '%.80s'" REMEDY "'viv ls' lists them",
			 text);
	return c;
}

/* ---- what is told ---- */

/* Settings that say nothing of the host, and nothing that the cell could not see itself. */
static const char *const shown[] = { "image",	 "command",	"entrypoint",  "workdir",
				     "user",	 "group_add",	"ulimits",     "read_only",
				     "hostname", "labels",	"limits",      "timeout",
				     "restart",	 "stop_grace",	"stop_signal", "idle_timeout",
				     "health",	 "auto_remove", "tty",	       "journal" };

json_t *family_json(const struct cell *c, const char *caller)
{
	static const char *const facts[] = { "id",	   "state",   "image",	   "restarts",
					     "labels",	   "created", "started",   "ended",
					     "restart_at", "command", "exit_code", "reason",
					     "health" };
	json_t *all = cell_json(c, false), *spec = json_object_get(all, "spec");
	json_t *o = json_object(), *some = json_object();
	const struct family_name name = family_name_shown(c);

	for (unsigned i = 0; i < ARRAY_LEN(facts); i++)
		if (json_object_get(all, facts[i]))
			json_object_set(o, facts[i], json_object_get(all, facts[i]));
	for (unsigned i = 0; i < ARRAY_LEN(shown); i++)
		if (json_object_get(spec, shown[i]))
			json_object_set(some, shown[i], json_object_get(spec, shown[i]));
	if (name.str[0])
		json_object_set_new(o, "name", json_string(name.str));
	if (strcmp(c->id, caller))
		json_object_set_new(o, "parent", json_string(c->parent));
	/* Of a start that failed the message says why, and may name paths of the host: its kind
	 * does not. */
	if (c->failure)
		json_object_set_new(o, "detail", json_string(err_code(c->failure)));
	json_object_set_new(o, "spec", some);
	json_decref(all);
	return o;
}

/* ---- the end ---- */

static void child_stop(struct cell *c)
{
	struct err f = { 0 };

	if ((cell_state_is_live(c->state) || c->restart_at) && cell_stop(c, 0, &f) < 0)
		log_warn("cell %s, whose parent has ended, cannot be stopped: %s", c->id,
			 err_line(&f).str);
}

void family_over(struct cell *c)
{
	struct cell *child, *parent = family_parent(c);

	list_for_each(child, &c->d->cells, link)
		if (!strcmp(child->parent, c->id))
			child_stop(child);
	if (!c->layering && c->layer_bytes + c->layer_files) {
		c->layer_bytes = c->layer_files = 0;
		family_layers_count(c);
	}
	if (parent)
		family_limits_tell(parent);
}

static bool is_over(const struct cell *c)
{
	return c->parent[0] && !c->name[0] && !c->restart_at &&
	       (c->state == CELL_STOPPED || c->state == CELL_COMPLETED || c->state == CELL_FAILED);
}

static bool ended_before(const struct cell *a, const struct cell *b)
{
	return a->ended != b->ended ? a->ended < b->ended : strcmp(a->id, b->id) < 0;
}

struct cell *family_surplus(struct cell *c, const struct cell *after)
{
	const struct cell *first = family_first(c);
	struct cell *o, *found = NULL;
	unsigned n = 0;

	if (!is_over(c))
		return NULL;
	list_for_each(o, &c->d->cells, link) {
		if (!is_over(o) || family_first(o) != first || (after && !ended_before(after, o)))
			continue;
		n++;
		if (!found || ended_before(o, found))
			found = o;
	}
	return n > FAMILY_ENDED ? found : NULL;
}

void family_gone(struct daemon *d, const char *id)
{
	struct cell *c;

	list_for_each(c, &d->cells, link) {
		if (strcmp(c->parent, id))
			continue;
		child_stop(c);
		if (!cell_state_is_live(c->state))
			cell_linger(c);
	}
}
