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

		if (r->verdict > VERDICT_ASK || r->unused ||
		    (r->scope != SCOPE_FILES && r->scope != SCOPE_EXEC) ||
		    (r->scope == SCOPE_FILES) != (r->access != 0) || r->access > FILES_ALL ||
		    !string_ok(h, r->glob, GLOB_MAX) ||
		    !string_ok(h, r->text, COMPILED_MAX_BYTES) ||
		    glob_wrong((const char *)h + r->glob))
			return -EINVAL;
		if (r->verdict == VERDICT_ALLOW)
			continue;
		ret->restricts = true;
		ret->restricts_exec |= r->scope == SCOPE_EXEC;
	}
	ret->head = h;
	return 0;
}

static enum verdict decide_one(const struct compiled *c, enum scope scope, const char *path,
			       unsigned access, const char **ret_rule)
{
	for (uint32_t i = c->head ? c->head->nrules : 0; i-- > 0;) {
		const struct compiled_rule *r = &c->head->rules[i];

		if (r->scope != scope || (access && !(r->access & access)) ||
		    !glob_match(text_at(c, r->glob), path))
			continue;
		*ret_rule = text_at(c, r->text);
		return (enum verdict)r->verdict;
	}
	*ret_rule = NULL;
	return VERDICT_ALLOW;
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

bool compiled_is_near(const struct compiled *c, const char *dir, unsigned access)
{
	for (uint32_t i = c->head ? c->head->nrules : 0; i-- > 0;) {
		const struct compiled_rule *r = &c->head->rules[i];

		if (r->verdict != VERDICT_ALLOW &&
		    (r->scope == SCOPE_EXEC || (r->access & access)) &&
		    glob_is_near(text_at(c, r->glob), dir))
			return true;
	}
	return false;
}

bool compiled_may_cover(const struct compiled *c, const char *dir)
{
	for (uint32_t i = c->head ? c->head->nrules : 0; i-- > 0;) {
		const struct compiled_rule *r = &c->head->rules[i];
		bool counts = r->scope == SCOPE_EXEC
				      ? r->verdict == VERDICT_ALLOW && c->restricts_exec
				      : r->verdict != VERDICT_ALLOW && r->access != FILES_READ;

		if (counts && glob_is_near(text_at(c, r->glob), dir))
			return false;
	}
	return true;
}

bool compiled_is_same(const struct compiled *c, const char *a, const char *b)
{
	for (uint32_t i = c->head ? c->head->nrules : 0; i-- > 0;)
		if (!glob_is_same(text_at(c, c->head->rules[i].glob), a, b))
			return false;
	return true;
}
