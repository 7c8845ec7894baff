/* Layers of a policy: rules within rules.
 *
 * A line "within" ends a layer. In each layer the last rule that matches decides, or what counts
 * when none does; then the strictest answer of all layers is that of the policy: deny beats ask
 * beats allow. No line of a later layer can allow what an earlier one denies, so a list that begins
 * with the rules of a parent and "within" gives nobody more than the parent has, whatever follows.
 *
 * A layer that begins with "use parent" allows what no rule of it matches. In the first layer that
 * means nothing, as there is nothing to inherit. */
#include <stdlib.h>
#include <string.h>

#include "policy/policy.h"

struct layer policy_layer(const struct policy *p, unsigned i)
{
	return (struct layer){ .first = i ? p->marks[i - 1] : 0,
			       .end = i < p->nmarks ? p->marks[i] : policy_count(p),
			       .inherits = i && (p->inherits & 1u << i) };
}

bool policy_layer_begin(struct policy *p)
{
	if (p->nmarks == ARRAY_LEN(p->marks))
		return false;
	p->marks[p->nmarks++] = policy_count(p);
	return true;
}

bool policy_layer_inherit(struct policy *p)
{
	if (policy_layer(p, p->nmarks).first != policy_count(p))
		return false;
	p->inherits |= 1u << p->nmarks;
	return true;
}

int verdict_rank(enum verdict v)
{
	return v == VERDICT_DENY ? 2 : v == VERDICT_ASK ? 1 : 0;
}

/* ---- sub-cells ---- */

static void list_add(struct buf *list, const char *text)
{
	char *copy = text ? xstrndup(text, strlen(text)) : NULL;

	buf_add(list, &copy, sizeof(copy));
}

/* The tools that a cell was given come before its rules. Here they become rules, so that those of a
 * sub-cell are asked about them; not where they could never decide. */
static void tools_add(struct buf *list, const struct policy *p, unsigned layer, char *const *tools)
{
	const struct layer l = policy_layer(p, layer);

	for (; !l.inherits && tools && *tools; tools++) {
		struct rule given = { .scope = SCOPE_TOOLS,
				      .verdict = VERDICT_ALLOW,
				      .layer = layer,
				      .glob = *tools };
		struct buf text = { 0 };
		unsigned i = l.first;

		while (i < l.end && !rule_covers(policy_rule(p, i), &given))
			i++;
		if (i == l.end) {
			rule_print(&given, &text);
			list_add(list, (const char *)text.p);
		}
		buf_free(&text);
	}
}

char **policy_within(char *const *parent, char *const *tools, char *const *own, struct err *e)
{
	struct buf list = { 0 };
	struct policy above, below;
	unsigned layer = 0;
	bool good;

	policy_init(&above);
	policy_init(&below);
	good = policy_words(&above, parent, "policy of the parent", NULL, e) == 0 &&
	       policy_words(&below, own, "policy", NULL, e) == 0;
	if (good && below.nmarks) {
		err_note(e, ERR_INVALID,
			 "the policy of a sub-cell cannot have 'within'" REMEDY
			 "its rules are within those of its parent already");
		good = false;
	}
	if (good && !policy_layer_begin(&above)) {
		err_note(e, ERR_INVALID,
			 "the policy of the parent has %u layers, which is the limit" REMEDY
			 "start the sub-cell from a cell that is nearer to the root",
			 POLICY_MAX_LAYERS);
		good = false;
	}
	if (good)
		tools_add(&list, &above, 0, tools);
	for (unsigned i = 0; good && i < policy_nlines(&above); i++) {
		list_add(&list, policy_line(&above, i));
		if (!strcmp(policy_line(&above, i), "within"))
			tools_add(&list, &above, ++layer, tools);
	}
	if (good)
		list_add(&list, "within");
	for (unsigned i = 0; good && i < policy_nlines(&below); i++)
		list_add(&list, policy_line(&below, i));
	policy_fini(&above);
	policy_fini(&below);
	list_add(&list, NULL);
	/* All of it together has bounds, too. */
	policy_init(&above);
	good = good && policy_words(&above, BUF_ITEM(&list, char *, 0), "policy", NULL, e) == 0;
	policy_fini(&above);
	for (char **l = BUF_ITEM(&list, char *, 0); !good && *l; l++)
		free(*l);
	if (!good)
		buf_free(&list);
	return BUF_ITEM(&list, char *, 0);
}

char *const *policy_own(char *const *rules)
{
	char *const *own = rules;

	for (; rules && *rules; rules++)
		if (!strcmp(*rules, "within"))
			own = rules + 1;
	return own;
}
