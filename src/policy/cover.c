/* Rules that can never decide: a later one of their layer matches whatever they match. Only what is
 * sure counts; globs are compared as texts, but for those that match everything. */
#include <string.h>

#include "policy/policy.h"

/* Does a match whatever b matches? NULL: all. */
static bool glob_covers(const char *a, const char *b)
{
	size_t n;

	if (!a)
		return true;
	if (!b)
		return !strcmp(a, "**") || !strcmp(a, "/**");
	n = strlen(a);
	if (!strcmp(a, "**") || !strcmp(a, b))
		return true;
	/* "/x/" and anything. */
	return n >= 3 && !strcmp(a + n - 2, "**") && !memchr(a, '*', n - 2) &&
	       !memchr(a, '?', n - 2) && !strncmp(a, b, n - 2);
}

static bool ports_cover(const struct net_rule *a, const struct net_rule *b)
{
	for (unsigned i = 0; i < b->nports; i++) {
		bool found = false;

		for (unsigned k = 0; k < a->nports && !found; k++)
			found = a->ports[k].from <= b->ports[i].from &&
				a->ports[k].to >= b->ports[i].to;
		if (!found)
			return false;
	}
	return true;
}

static bool dest_covers(const struct net_rule *a, const struct net_rule *b)
{
	size_t n, below;

	switch (a->kind) {
	case DEST_ANY:
		/* Addresses that are not public are never meant by it. */
		return b->kind != DEST_RANGE;
	case DEST_NAME:
		return b->kind == DEST_NAME && !strcmp(a->name, b->name);
	case DEST_BELOW:
		if (b->kind == DEST_BELOW && !strcmp(a->name, b->name))
			return true;
		if (b->kind != DEST_BELOW && b->kind != DEST_NAME)
			return false;
		n = strlen(b->name), below = strlen(a->name);
		return n > below + 1 && b->name[n - below - 1] == '.' &&
		       !strcmp(b->name + n - below, a->name);
	case DEST_RANGE:
		return b->kind == DEST_RANGE && ip_range_has(&a->range, &b->range);
	}
	return false;
}

static bool methods_cover(const struct net_rule *a, const struct net_rule *b)
{
	if (!a->nmethods)
		return true;
	for (unsigned i = 0; i < b->nmethods; i++) {
		unsigned k = 0;

		while (k < a->nmethods && strcmp(a->methods[k], b->methods[i]))
			k++;
		if (k == a->nmethods)
			return false;
	}
	return b->nmethods > 0;
}

/* A rule without a subcommand is about all of them. */
static bool tool_covers(const char *a, const char *b)
{
	size_t n = strcspn(b, "/");
	char name[GLOB_MAX];

	if (!b[n] || strchr(a, '/'))
		return !b[n] == !strchr(a, '/') && glob_covers(a, b);
	if (n >= sizeof(name))
		return false;
	memcpy(name, b, n);
	name[n] = '\0';
	return glob_covers(a, name);
}

bool rule_covers(const struct rule *a, const struct rule *b)
{
	if (a->scope != b->scope)
		return false;
	if (a->layer != b->layer)
		return false;
	if (a->scope == SCOPE_TOOLS)
		return tool_covers(a->glob, b->glob);
	if (a->scope == SCOPE_CELLS && rule_means_image(b, "host") && !rule_means_image(a, "host"))
		return false;
	if (a->scope != SCOPE_NET)
		return (b->access & ~a->access) == 0 && glob_covers(a->glob, b->glob);
	/* A wide range that allows does not mean special addresses: it may leave some out, which
	 * one of the same size that denies does not. */
	if (a->net.kind == DEST_RANGE && a->verdict != VERDICT_DENY &&
	    (a->net.range.prefix != b->net.range.prefix ||
	     (b->verdict == VERDICT_DENY && a->net.range.prefix < 128)))
		return false;
	if (a->verdict != VERDICT_DENY && (b->net.dns & ~a->net.dns))
		return false;
	return (b->net.protocols & ~a->net.protocols) == 0 && dest_covers(&a->net, &b->net) &&
	       ports_cover(&a->net, &b->net) && methods_cover(&a->net, &b->net) &&
	       (!a->net.path || (b->net.path && glob_covers(a->net.path, b->net.path))) &&
	       (!a->net.program || (b->net.program && glob_covers(a->net.program, b->net.program)));
}

const struct rule *policy_dead(const struct policy *p, struct err *e)
{
	for (unsigned i = 0; i < policy_count(p); i++) {
		const struct rule *r = policy_rule(p, i);

		for (unsigned k = i + 1; k < policy_count(p); k++) {
			const struct rule *later = policy_rule(p, k);
			struct buf a = { 0 }, b = { 0 };

			/* A preset may be narrowed and widened by what follows it. */
			if (!strncmp(r->from, "preset ", 7) || !rule_covers(later, r))
				continue;
			rule_print(r, &a);
			rule_print(later, &b);
			err_note(e, ERR_INVALID_FILE,
				 "'%s' can never decide: '%s' follows it and matches all of "
				 "it" REMEDY
				 "the last rule that matches decides; put the wider rule first, or "
				 "remove one of them",
				 (const char *)a.p, (const char *)b.p);
			if (r->line)
				err_wrap_note(e, "%s:%u:%u", r->from, r->line, r->column);
			else
				err_wrap_note(e, "%s", r->from);
			buf_free(&a);
			buf_free(&b);
			return r;
		}
	}
	return NULL;
}

int policy_check(const struct policy *p, struct err *e)
{
	return policy_dead(p, e) ? -1 : 0;
}
