/* See prompt.h: names, and rules in words. A rule that no cell could have is not here, as a spec is
 * checked when it is made; if it cannot be read nevertheless, that is what is said. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "daemon/agents/prompt.h"
#include "daemon/state/fields.h"
#include "policy/policy.h"

/* Controls are escaped, and what would end the quotes is replaced. */
void prompt_name(struct buf *to, const char *name)
{
	char line[PROMPT_NAME_MAX + 8];

	text_clean(name, strlen(name), line, PROMPT_NAME_MAX);
	for (char *s = line; *s; s++)
		if (*s == '"' || *s == '`')
			*s = '\'';
	buf_add_text(to, "\"");
	buf_add_text(to, line);
	buf_add_text(to, "\"");
}

static void ports_write(const struct net_rule *n, bool deny, struct buf *to)
{
	char text[40];

	if (n->nports == 1 && n->ports[0].from <= 1 && n->ports[0].to == 65535) {
		buf_add_text(to, deny ? "" : " on every port");
		return;
	}
	if (n->nports == 2 && n->ports[0].from == n->ports[0].to &&
	    n->ports[1].from == n->ports[1].to && n->ports[0].from + n->ports[1].from == 443 + 80 &&
	    (n->ports[0].from == 443 || n->ports[1].from == 443) && n->protocols == NET_WEB)
		return;
	for (unsigned i = 0; i < n->nports; i++) {
		const struct port_range *p = &n->ports[i];

		if (p->from == p->to)
			snprintf(text, sizeof(text), "%u", p->from);
		else
			snprintf(text, sizeof(text), "%u to %u", p->from, p->to);
		buf_add_text(to, i				     ? ", "
				 : n->nports > 1 || p->from != p->to ? " on ports "
								     : " on port ");
		buf_add_text(to, text);
	}
}

static void host_write(const struct net_rule *n, struct buf *to)
{
	switch (n->kind) {
	case DEST_ANY:
		buf_add_text(to, "every public host");
		return;
	case DEST_NAME:
		prompt_name(to, n->name);
		return;
	case DEST_BELOW:
		buf_add_text(to, "every name below ");
		prompt_name(to, n->name);
		return;
	case DEST_RANGE:
		buf_add_text(to, n->range.prefix == 128 ? "the address " : "the addresses ");
		buf_add_text(to, ip_range_text(&n->range).str);
		return;
	}
}

static void net_write(const struct net_rule *n, bool deny, struct buf *to)
{
	host_write(n, to);
	ports_write(n, deny, to);
	if (!deny && n->protocols != NET_WEB)
		buf_add_text(to, n->protocols == NET_UDP  ? " over UDP"
				 : n->protocols & NET_UDP ? " over TCP and UDP"
							  : " over TCP, any protocol");
	for (unsigned i = 0; i < n->nmethods; i++) {
		buf_add_text(to, i ? ", " : ", only requests with ");
		buf_add_text(to, n->methods[i]);
	}
	if (n->path) {
		buf_add_text(to, ", only paths like ");
		prompt_name(to, n->path);
	}
	if (n->program) {
		buf_add_text(to, ", only by programs like ");
		prompt_name(to, n->program);
	}
}

static void inner_write(const struct rule *r, struct buf *to)
{
	static const char *const words[] = { "reading", "writing", "creating", "deleting" };
	unsigned n = 0;

	if (r->scope == SCOPE_FILES && r->access != FILES_ALL) {
		for (unsigned i = 0; i < ARRAY_LEN(words); i++)
			if (r->access & (1u << i)) {
				buf_add_text(to, n++ ? ", " : "");
				buf_add_text(to, words[i]);
			}
		buf_add_text(to, " files like ");
	} else {
		buf_add_text(to, r->scope == SCOPE_FILES   ? "files like "
				 : r->scope == SCOPE_EXEC  ? "starting programs like "
				 : r->scope == SCOPE_TOOLS ? "tools like "
				 : r->scope == SCOPE_CELLS ? "cells of images like "
							   : "variables like ");
	}
	prompt_name(to, r->glob);
}

static void rule_write(const struct rule *r, struct buf *to)
{
	buf_add_text(to, r->verdict == VERDICT_ALLOW  ? "- allowed: "
			 : r->verdict == VERDICT_DENY ? "- denied: "
						      : "- after a person has agreed: ");
	if (r->scope == SCOPE_NET)
		net_write(&r->net, r->verdict == VERDICT_DENY, to);
	else
		inner_write(r, to);
	buf_add_text(to, "\n");
}

/* How many were written or counted. */
static unsigned rules_write(const struct policy *p, bool net, struct buf *to)
{
	unsigned n = 0, layer = 0;
	char more[80];

	for (unsigned i = 0; i < policy_count(p); i++) {
		const struct rule *r = policy_rule(p, i);

		if ((r->scope == SCOPE_NET) != net)
			continue;
		if (n++ >= PROMPT_LINES_MAX)
			continue;
		if (n > 1 && r->layer != layer)
			buf_add_text(to, "\nAnd of that, only what these allow as well:\n\n");
		layer = r->layer;
		rule_write(r, to);
	}
	if (n > PROMPT_LINES_MAX) {
		snprintf(more, sizeof(more), "- and %u more rules\n", n - PROMPT_LINES_MAX);
		buf_add_text(to, more);
	}
	return n;
}

static bool asks(const struct policy *p)
{
	for (unsigned i = 0; i < policy_count(p); i++)
		if (policy_rule(p, i)->verdict == VERDICT_ASK)
			return true;
	return false;
}

static void policy_write(const struct policy *p, struct buf *to)
{
	struct buf inner = { 0 };

	buf_add_text(to, "## Network\n\n");
	if (!policy_has_net(p)) {
		buf_add_text(to, "There is none: only programs in this cell reach each other "
				 "(127.0.0.1). Installing packages or fetching pages does not "
				 "work.\n\n");
	} else {
		buf_add_text(to, "Only what these rules allow can be reached, over HTTPS and HTTP "
				 "unless a rule says otherwise. If several match, the last one "
				 "counts. Private networks and the host itself are out of reach "
				 "unless a rule lists their address.\n\n");
		rules_write(p, true, to);
		buf_add_text(to, "- denied: everything that no line above matches\n\n");
	}
	if (rules_write(p, false, &inner)) {
		buf_add_text(to, "## Rules for files, programs, variables, tools and cells\n\n"
				 "The last one that matches counts. If none does, files, programs "
				 "and variables are allowed, tools and cells are not.\n\n");
		buf_add(to, inner.p, inner.len);
		buf_add_text(to, "\n");
	}
	buf_free(&inner);
	if (asks(p))
		buf_add_text(to, "Where a person has to agree, the call waits until they have "
				 "answered: that can take long and is not an error. Do not try "
				 "another way around it.\n\n");
}

void prompt_rules(const json_t *policy, struct buf *to)
{
	char **words = json_words(policy);
	struct err e = { 0 };
	struct policy p;

	policy_init(&p);
	if (policy_words(&p, words, "policy", NULL, &e) == 0)
		policy_write(&p, to);
	else
		buf_add_text(to, "## Network\n\nThe rules of this cell cannot be read.\n\n");
	policy_fini(&p);
	free(words);
}
