/* Rules back to text, in the shortest form that parse.c reads as the same rule: words that stand
 * for what holds without them are left out. The tables of the words that both use are here
 * (words.h). */
#include <stdio.h>
#include <string.h>

#include "policy/policy.h"
#include "policy/words.h"

const char *const verdict_names[VERDICT_NAMES] = {
	[VERDICT_DENY] = "deny", [VERDICT_ALLOW] = "allow", [VERDICT_ASK] = "ask"
};
const char *const scope_names[SCOPE_NAMES] = {
	[SCOPE_NET] = "net", [SCOPE_FILES] = "files", [SCOPE_EXEC] = "exec",
	[SCOPE_ENV] = "env", [SCOPE_TOOLS] = "tools", [SCOPE_CELLS] = "cells"
};
const struct policy_word protocol_names[PROTOCOL_NAMES] = {
	{ "web", NET_WEB }, { "tcp", NET_WEB | NET_TCP }, { "udp", NET_UDP }, { "any", NET_ALL }
};
const struct policy_word access_names[ACCESS_NAMES] = { { "read", FILES_READ },
							{ "write", FILES_WRITE },
							{ "create", FILES_CREATE },
							{ "delete", FILES_DELETE } };

static bool ports_are_usual(const struct net_rule *r, bool deny)
{
	if (deny)
		return r->nports == 1 && !r->ports[0].from && r->ports[0].to == UINT16_MAX;
	return r->nports == 2 && r->ports[0].from == 443 && r->ports[0].to == 443 &&
	       r->ports[1].from == 80 && r->ports[1].to == 80;
}

static void net_print(const struct net_rule *r, bool deny, struct buf *to)
{
	bool usual_ports;
	unsigned usual;
	char word[64];

	/* As they are when none are given. */
	deny &= !r->nmethods && !r->path;
	usual = deny ? NET_ALL : NET_WEB;
	usual_ports = ports_are_usual(r, deny);
	if (r->kind == DEST_RANGE) {
		struct ip_text text = ip_range_text(&r->range);
		bool brackets = !usual_ports && strchr(text.str, ':');

		snprintf(word, sizeof(word), brackets ? "[%.50s]" : "%.50s", text.str);
		buf_add_text(to, word);
	} else {
		buf_add_text(to, r->kind == DEST_ANY ? "*" : r->kind == DEST_BELOW ? "*." : "");
		buf_add_text(to, r->name ? r->name : "");
	}
	for (unsigned i = 0; !usual_ports && i < r->nports; i++) {
		const struct port_range *p = &r->ports[i];

		snprintf(word, sizeof(word), p->from == p->to ? "%s%u" : "%s%u-%u", i ? "," : ":",
			 p->from, p->to);
		buf_add_text(to, p->from || p->to != UINT16_MAX ? word : ":*");
	}
	for (unsigned i = 0; r->protocols != usual && i < ARRAY_LEN(protocol_names); i++) {
		if (r->protocols != protocol_names[i].bits)
			continue;
		buf_add_text(to, " ");
		buf_add_text(to, protocol_names[i].name);
	}
	buf_add_text(to, r->tls_any ? " tls=any" : "");
	dns_types_print(r->dns, to);
	for (unsigned i = 0; i < r->nmethods; i++) {
		buf_add_text(to, i ? "," : " ");
		buf_add_text(to, r->methods[i]);
	}
	if (r->path) {
		buf_add_text(to, " ");
		buf_add_text(to, r->path);
	}
	if (r->program) {
		buf_add_text(to, " program=");
		buf_add_text(to, r->program);
	}
}

static void cells_print(const struct rule *r, struct buf *to)
{
	char word[32];

	buf_add_text(to, strcmp(r->glob, "**") ? r->glob : "*");
	snprintf(word, sizeof(word), r->max ? " max=%u" : "", r->max);
	buf_add_text(to, word);
	snprintf(word, sizeof(word), r->depth ? " depth=%u" : "", r->depth);
	buf_add_text(to, word);
}

const char *verdict_name(enum verdict v)
{
	return verdict_names[v];
}

void rule_print(const struct rule *r, struct buf *to)
{
	buf_add_text(to, r->audit ? "audit" : verdict_names[r->verdict]);
	buf_add_text(to, " ");
	buf_add_text(to, scope_names[r->scope]);
	buf_add_text(to, " ");
	if (r->scope == SCOPE_NET) {
		net_print(&r->net, r->verdict == VERDICT_DENY, to);
		return;
	}
	if (r->scope == SCOPE_CELLS) {
		cells_print(r, to);
		return;
	}
	buf_add_text(to, r->glob);
	for (unsigned i = 0, n = 0; r->access != FILES_ALL && i < ARRAY_LEN(access_names); i++) {
		if (!(r->access & access_names[i].bits))
			continue;
		buf_add_text(to, n++ ? "," : " ");
		buf_add_text(to, access_names[i].name);
	}
}

void policy_text(const struct policy *p, struct buf *to)
{
	for (unsigned i = 0; i < policy_nlines(p); i++) {
		buf_add_text(to, policy_line(p, i));
		buf_add_text(to, "\n");
	}
}
