/* The compiled form of a policy (compiled.h), from its rules. */
#include <string.h>

#include "policy/policy.h"

static bool is_for_kernel(const struct rule *r)
{
	return r->scope == SCOPE_FILES || r->scope == SCOPE_EXEC;
}

unsigned policy_compile(const struct policy *p, struct buf *to)
{
	struct compiled_head head = { .magic = COMPILED_MAGIC };
	struct buf rules = { 0 }, strings = { 0 };
	uint32_t first;

	for (unsigned i = 0; i < policy_count(p); i++)
		head.nrules += is_for_kernel(policy_rule(p, i));
	first = (uint32_t)(sizeof(head) + head.nrules * sizeof(struct compiled_rule));
	for (unsigned i = 0; i < policy_count(p); i++) {
		const struct rule *r = policy_rule(p, i);
		struct compiled_rule out = { .verdict = (uint8_t)r->verdict,
					     .scope = (uint8_t)r->scope,
					     .access = (uint8_t)r->access,
					     .layer = (uint8_t)r->layer };
		struct buf text = { 0 };

		if (!is_for_kernel(r))
			continue;
		rule_print(r, &text);
		out.glob = first + (uint32_t)buf_add(&strings, r->glob, strlen(r->glob) + 1);
		out.text = first + (uint32_t)buf_add(&strings, text.p, text.len + 1);
		buf_add(&rules, &out, sizeof(out));
		buf_free(&text);
	}
	buf_add(&strings, "", 1);
	head.size = first + (uint32_t)strings.len;
	buf_add(to, &head, sizeof(head));
	buf_add(to, rules.p, rules.len);
	buf_add(to, strings.p, strings.len);
	buf_free(&rules);
	buf_free(&strings);
	return head.nrules;
}
