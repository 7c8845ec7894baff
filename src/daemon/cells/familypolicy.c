/* See family.h: other rules of a parent become the upper layers of its children's, at once. A child
 * that cannot get them (its keeper refuses, or it is being changed) is stopped: it does not go on
 * with rules that its parent has no more. */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "daemon/cells/change.h"
#include "daemon/cells/family.h"
#include "daemon/cells/life.h"
#include "daemon/state/fields.h"
#include "policy/policy.h"

struct following {
	struct daemon *d;
	char id[CELL_ID_LEN + 1];
};

static void child_end(struct cell *c, const struct err *why)
{
	struct err f = { 0 };

	log_warn("cell %s is stopped, as the rules of the cell that made it have changed: %s",
		 c->id, err_line(why).str);
	if (cell_state_is_live(c->state) && cell_stop(c, 0, &f) < 0)
		log_warn("cell %s cannot be stopped: %s", c->id, err_line(&f).str);
}

static void child_changed(void *arg, struct cell *c, const struct err *f)
{
	struct following *x = arg;

	if (!c)
		c = cell_by_id(x->d, x->id);
	if (c && f)
		child_end(c, f);
	free(x);
}

/* The rules of a child within those of its parent; NULL: an error. */
static json_t *rules_of(const struct cell *parent, const struct cell *child, struct err *e)
{
	json_t *none = json_array(), *rules = NULL;
	const json_t *above = json_object_get(parent->spec, "policy"),
		     *tools = json_object_get(parent->spec, "tools"),
		     *now = json_object_get(child->spec, "policy");
	char **a = json_words(above ? above : none), **t = json_words(tools ? tools : none);
	char **c = json_words(now ? now : none);
	char **all = policy_within(a, t, (char **)(uintptr_t)policy_own(c), e);

	if (all)
		rules = json_array();
	for (char **l = all; l && *l; l++) {
		json_array_append_new(rules, json_string(*l));
		free(*l);
	}
	free(all);
	free(a);
	free(t);
	free(c);
	json_decref(none);
	return rules;
}

static void child_follow(const struct cell *parent, struct cell *c)
{
	struct following *x;
	struct err f = { 0 };
	json_t *rules = rules_of(parent, c, &f), *spec;

	/* One that takes its time to stop is not asked: it ends now. */
	if (rules && c->state == CELL_STOPPING)
		err_note(&f, ERR_BUSY, "it is being stopped");
	if (f.kind)
		child_end(c, &f);
	if (!rules)
		return;
	spec = json_copy(c->spec);
	json_object_set_new(spec, "policy", rules);
	x = xalloc(sizeof(*x));
	x->d = c->d;
	strcpy(x->id, c->id);
	cell_change(c, spec, 0, child_changed, x);
}

int family_policy_renew(struct cell *c, struct err *f)
{
	const struct cell *parent = family_parent(c);
	uint32_t restarts = c->restarts;
	json_t *rules, *spec;
	int ret;

	if (!parent)
		return 0;
	if (!json_array_size(json_object_get(parent->spec, "policy")))
		return err_set(f, ERR_FORBIDDEN,
			       "the rules of the cell that made it are not known");
	rules = rules_of(parent, c, f);
	if (!rules)
		return -1;
	if (json_equal(rules, json_object_get(c->spec, "policy"))) {
		json_decref(rules);
		return 0;
	}
	spec = json_copy(c->spec);
	json_object_set_new(spec, "policy", rules);
	ret = cell_respec(c, spec, c->run, f);
	c->restarts = restarts;
	return ret;
}

void family_policy_follow(struct cell *parent)
{
	struct cell *c, *tmp;

	list_for_each_safe(c, tmp, &parent->d->cells, link)
		if (!strcmp(c->parent, parent->id))
			child_follow(parent, c);
}
