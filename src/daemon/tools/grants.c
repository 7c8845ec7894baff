/* See tools.h: what a cell may call, decided by its tools and its rules (policy/policy.h). */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "daemon/state/fields.h"
#include "daemon/tools/tools.h"
#include "policy/policy.h"

#define GRANTS_MAX (8u << 20)

struct grants {
	struct policy policy;
	json_t *o; /* the words of tools are its */
	char **tools;
};

void grants_free(struct grants *g)
{
	if (!g)
		return;
	policy_fini(&g->policy);
	free(g->tools);
	json_decref(g->o);
	free(g);
}

struct grants *grants_read(int fd)
{
	struct grants *g = xalloc(sizeof(*g));
	char **rules = NULL, *text = NULL;
	struct stat st;
	struct err e;
	bool ok;

	policy_init(&g->policy);
	ok = fstat(fd, &st) == 0 && st.st_size > 0 && st.st_size <= (off_t)GRANTS_MAX;
	if (ok) {
		text = xalloc((size_t)st.st_size);
		ok = pread(fd, text, (size_t)st.st_size, 0) == st.st_size;
		g->o = ok ? json_loadb(text, (size_t)st.st_size, 0, NULL) : NULL;
	}
	ok = json_is_array(json_object_get(g->o, "tools")) &&
	     json_is_array(json_object_get(g->o, "policy"));
	if (ok) {
		g->tools = json_words(json_object_get(g->o, "tools"));
		rules = json_words(json_object_get(g->o, "policy"));
	}
	for (char **r = rules; ok && *r; r++)
		ok = policy_parse(&g->policy, *r, strlen(*r), "policy", 0, 0, &e) == 0;
	free(rules);
	free(text);
	if (ok)
		return g;
	grants_free(g);
	return NULL;
}

static enum tool_verdict verdict_of(const struct decision *d, char **ret_rule)
{
	struct buf b = { 0 };

	if (ret_rule && d->rule) {
		rule_print(d->rule, &b);
		*ret_rule = (char *)b.p;
	} else if (ret_rule) {
		*ret_rule = NULL;
	}
	return d->verdict == VERDICT_ALLOW ? TOOL_ALLOW
	       : d->verdict == VERDICT_ASK ? TOOL_ASK
					   : TOOL_DENY;
}

enum tool_verdict grants_decide(const struct grants *g, const char *path, char **ret_rule)
{
	struct decision d = policy_tools(&g->policy, g->tools, path);

	return verdict_of(&d, ret_rule);
}

/* ---- cells ---- */

enum tool_verdict grants_cells(const struct grants *g, const struct grants_cells *q,
			       char **ret_rule)
{
	const struct cells_question asked = { .image = q->image,
					      .count = q->count,
					      .depth = q->depth };
	struct decision d = policy_cells(&g->policy, &asked);

	if (!d.rule || (!d.rule->max && q->count >= q->max) ||
	    (!d.rule->depth && q->depth > q->depth_max))
		d.verdict = VERDICT_DENY;
	return verdict_of(&d, ret_rule);
}

json_t *grants_within(const struct grants *g, const json_t *own, struct err *e)
{
	char **above = json_words(json_object_get(g->o, "policy"));
	json_t *rules, *none = json_array();
	char **mine = json_words(own ? own : none);
	char **all = policy_within(above, g->tools, mine, e);

	free(above);
	free(mine);
	json_decref(none);
	if (!all)
		return NULL;
	rules = json_array();
	for (char **l = all; *l; l++) {
		json_array_append_new(rules, json_string(*l));
		free(*l);
	}
	free(all);
	return rules;
}

json_t *grants_denied(const struct grants *g, const json_t *rules)
{
	json_t *list = json_array();
	const json_t *line;
	struct policy p;
	struct err e;
	size_t i;

	policy_init(&p);
	json_array_foreach(rules, i, line) {
		const char *text = json_string_value(line);

		if (policy_parse(&p, text, strlen(text), "policy", 0, 0, &e) < 0)
			break;
	}
	for (unsigned k = 0; k < policy_count(&p); k++) {
		const struct rule *r = policy_rule(&p, k);
		bool named = r->net.kind == DEST_NAME || r->net.kind == DEST_BELOW;

		if (r->scope == SCOPE_NET && r->verdict == VERDICT_ALLOW && named &&
		    policy_name(&g->policy, r->net.name).verdict == VERDICT_DENY)
			json_array_append_new(list, json_string(r->net.name));
	}
	policy_fini(&p);
	return list;
}

bool grants_may_have_cells(const struct grants *g)
{
	return policy_may_have_cells(&g->policy);
}

const json_t *grants_rules(const struct grants *g)
{
	return json_object_get(g->o, "policy");
}

const json_t *grants_settings(const struct grants *g)
{
	return json_object_get(g->o, "settings");
}
