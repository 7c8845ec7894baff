/* See compiled.h. */
#include "policy/compiled.h"

#include <errno.h>
#include <string.h>

static const char *text_at(const struct compiled *c, uint32_t at)
{
	return (const char *)c->head + at;
}

/* The bytes end with a NUL, so every string ends inside. */
static bool string_ok(const struct compiled_head *h, uint32_t at, size_t max)
{
	size_t strings = sizeof(*h) + h->nrules * sizeof(h->rules[0]);

	return at >= strings && at < h->size && strnlen((const char *)h + at, max) < max;
}

int compiled_check(const void *bytes, size_t size, struct compiled *ret)
{
	const struct compiled_head *h = bytes;

	*ret = (struct compiled){ 0 };
	if (size <= sizeof(*h) || size > COMPILED_MAX_BYTES || h->magic != COMPILED_MAGIC ||
	    h->size != size || h->nrules > POLICY_MAX_RULES ||
	    (size - sizeof(*h)) / sizeof(h->rules[0]) < h->nrules ||
	    ((const char *)bytes)[size - 1])
		return -EINVAL;
	for (uint32_t i = 0; i < h->nrules; i++) {
		const struct compiled_rule *r = &h->rules[i];

		if (r->verdict > VERDICT_ASK || r->layer >= POLICY_MAX_LAYERS ||
		    (i && r->layer < r[-1].layer) ||
		    (r->scope != SCOPE_FILES && r->scope != SCOPE_EXEC) ||
		    (r->scope == SCOPE_FILES) != (r->access != 0) || r->access > FILES_ALL ||
		    !string_ok(h, r->glob, GLOB_MAX) ||
		    !string_ok(h, r->text, COMPILED_MAX_BYTES) ||
		    glob_wrong((const char *)h + r->glob))
			return -EINVAL;
		if (r->verdict == VERDICT_ALLOW)
			continue;
		ret->restricts = true;
		ret->restricts_exec |= r->scope == SCOPE_EXEC ? 1u << r->layer : 0;
	}
	ret->head = h;
	return 0;
}

static bool rule_matches(const struct compiled *c, const struct compiled_rule *r, enum scope scope,
			 const char *path, unsigned access)
{
	return r->scope == scope && (!access || (r->access & access)) &&
	       glob_match(text_at(c, r->glob), path);
}

/* The first rule of the layer that rule i is in. */
static uint32_t layer_first(const struct compiled *c, uint32_t i)
{
	while (i > 0 && c->head->rules[i - 1].layer == c->head->rules[i].layer)
		i--;
	return i;
}

static int rank(enum verdict v)
{
	return v == VERDICT_DENY ? 2 : v == VERDICT_ASK ? 1 : 0;
}

/* Of an access alone. */
static enum verdict decide_one(const struct compiled *c, enum scope scope, const char *path,
			       unsigned access, const char **ret_rule)
{
	enum verdict worst = VERDICT_ALLOW;

	*ret_rule = NULL;
	for (uint32_t i = c->head ? c->head->nrules : 0; i-- > 0;) {
		const struct compiled_rule *r = &c->head->rules[i];

		if (!rule_matches(c, r, scope, path, access))
			continue;
		if (!*ret_rule || rank(r->verdict) > rank(worst)) {
			worst = (enum verdict)r->verdict;
			*ret_rule = text_at(c, r->text);
		}
		/* The first layer has the last word, and nothing is stricter than deny. */
		if (!r->layer || worst == VERDICT_DENY)
			break;
		i = layer_first(c, i);
	}
	return worst;
}

enum verdict compiled_decide(const struct compiled *c, enum scope scope, const char *path,
			     unsigned access, const char **ret_rule)
{
	enum verdict worst = VERDICT_ALLOW;

	*ret_rule = NULL;
	if (scope != SCOPE_FILES)
		return decide_one(c, scope, path, 0, ret_rule);
	for (unsigned bit = 1; bit <= FILES_DELETE; bit <<= 1) {
		const char *rule;
		enum verdict one;

		if (!(access & bit))
			continue;
		one = decide_one(c, scope, path, bit, &rule);
		if (one == VERDICT_DENY) {
			*ret_rule = rule;
			return one;
		}
		if (one == VERDICT_ASK || !*ret_rule) {
			worst = one == VERDICT_ASK ? one : worst;
			*ret_rule = rule;
		}
	}
	return worst;
}

/* The same within the rules from first to end - 1, which are one layer. */
static enum verdict layer_decide(const struct compiled *c, uint32_t first, uint32_t end,
				 enum scope scope, const char *path, unsigned access,
				 const char **ret_rule)
{
	*ret_rule = NULL;
	while (end-- > first) {
		const struct compiled_rule *r = &c->head->rules[end];

		if (!rule_matches(c, r, scope, path, access))
			continue;
		*ret_rule = text_at(c, r->text);
		return (enum verdict)r->verdict;
	}
	return VERDICT_ALLOW;
}

enum verdict compiled_escape(const struct compiled *c, enum scope scope, const char *at,
			     const char *to, unsigned access, const char **ret_rule)
{
	enum verdict worst = VERDICT_ALLOW;

	*ret_rule = NULL;
	for (uint32_t first, end = c->head ? c->head->nrules : 0; end; end = first) {
		const char *rule, *ignored;
		enum verdict before;

		first = layer_first(c, end - 1);
		before = layer_decide(c, first, end, scope, at, access, &rule);
		if (rank(before) <= rank(worst) ||
		    rank(layer_decide(c, first, end, scope, to, access, &ignored)) >= rank(before))
			continue;
		worst = before;
		*ret_rule = rule;
	}
	return worst;
}

bool compiled_may_cover(const struct compiled *c, const char *dir)
{
	for (uint32_t i = c->head ? c->head->nrules : 0; i-- > 0;) {
		const struct compiled_rule *r = &c->head->rules[i];
		bool counts = r->scope == SCOPE_EXEC
				      ? r->verdict == VERDICT_ALLOW &&
						(c->restricts_exec & 1u << r->layer)
				      : r->verdict != VERDICT_ALLOW && r->access != FILES_READ;

		if (counts && glob_is_near(text_at(c, r->glob), dir))
			return false;
	}
	return true;
}

bool compiled_may_move(const struct compiled *c, const char *a, const char *b)
{
	bool near = false, same = true;

	for (uint32_t i = c->head ? c->head->nrules : 0; i-- > 0;) {
		const struct compiled_rule *r = &c->head->rules[i];
		const char *glob = text_at(c, r->glob);

		near = near || (r->verdict != VERDICT_ALLOW &&
				(glob_is_near(glob, a) || glob_is_near(glob, b)));
		same = same && glob_is_same(glob, a, b);
		if (near && !same)
			return false;
		if (i && r[-1].layer != r->layer)
			near = false, same = true;
	}
	return true;
}
