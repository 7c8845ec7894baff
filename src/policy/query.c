/* What a policy would say to something, asked by people and programs. It is decided by the same
 * functions as what really happens. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/jsontext.h"
#include "policy/policy.h"
#include "policy/query.h"

#define NAME_MAX_HERE 254
#define PATH_MAX_HERE 4096

/* A destination as it was written. */
struct dest {
	char name[NAME_MAX_HERE]; /* "": addr */
	struct ip addr;
	uint16_t port;
	bool web, udp; /* a URL of the web; of udp */
	char path[PATH_MAX_HERE];
};

static int dest_wrong(const char *text, struct err *e)
{
	return err_set(e, ERR_USAGE,
		       "'%.200s' is not a destination" REMEDY
		       "write https://HOST[:PORT]/PATH, HOST:PORT or udp://HOST:PORT",
		       text);
}

static bool port_read(const char *text, uint16_t *ret)
{
	char *end;
	unsigned long n = isdigit((unsigned char)*text) ? strtoul(text, &end, 10) : 0;

	*ret = (uint16_t)n;
	return n && n <= UINT16_MAX && !*end;
}

/* HOST, [IPV6] and a port behind it. */
static int host_read(char *text, struct dest *d)
{
	char *colon = *text == '[' ? strchr(text, ']') : strchr(text, ':');
	size_t n;

	if (*text == '[') {
		if (!colon)
			return -1;
		*colon++ = '\0';
		text++;
		if (*colon && *colon != ':')
			return -1;
		colon = *colon ? colon : NULL;
	}
	if (colon) {
		*colon = '\0';
		if (!port_read(colon + 1, &d->port))
			return -1;
	}
	if (ip_parse(text, &d->addr))
		return d->port ? 0 : -1;
	n = strlen(text);
	if (n && text[n - 1] == '.')
		n--;
	if (!n || n >= sizeof(d->name) ||
	    strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") < n)
		return -1;
	for (size_t i = 0; i < n; i++)
		d->name[i] = (char)tolower((unsigned char)text[i]);
	return d->port ? 0 : -1;
}

static int dest_read(const char *text, struct dest *ret, struct err *e)
{
	const char *at = strstr(text, "://");
	char host[512];
	size_t n;

	*ret = (struct dest){ .path = "/" };
	if (at) {
		if (!strncmp(text, "https://", 8) || !strncmp(text, "wss://", 6))
			ret->port = 443, ret->web = true;
		else if (!strncmp(text, "http://", 7) || !strncmp(text, "ws://", 5))
			ret->port = 80, ret->web = true;
		else if (!strncmp(text, "udp://", 6))
			ret->udp = true;
		else if (strncmp(text, "tcp://", 6))
			return dest_wrong(text, e);
	}
	at = at ? at + 3 : text;
	n = strcspn(at, ret->web ? "/?#" : "");
	if (n >= sizeof(host) || strlen(at + n) + 2 >= sizeof(ret->path))
		return dest_wrong(text, e);
	memcpy(host, at, n);
	host[n] = '\0';
	/* A rule's path is compared without the query. */
	if (at[n] == '/')
		snprintf(ret->path, sizeof(ret->path), "%.*s", (int)strcspn(at + n, "?#"), at + n);
	return strchr(host, '@') || host_read(host, ret) < 0 ? dest_wrong(text, e) : 0;
}

static int connect_query(const struct policy *p, const struct policy_query *q, struct decision *ret,
			 const char **ret_why, struct err *e)
{
	struct net_question n = { .program = q->program ? q->program : "", .protocol = NET_UDP };
	struct decision raw;
	struct dest d;

	if (dest_read(q->connect, &d, e) < 0)
		return -1;
	n.name = d.name[0] ? d.name : NULL;
	n.addr = d.name[0] ? NULL : &d.addr;
	n.port = d.port;
	if (d.udp) {
		*ret = policy_net(p, &n);
		return 0;
	}
	n.protocol = NET_TCP;
	*ret = raw = policy_net(p, &n);
	if (raw.verdict == VERDICT_ALLOW && !raw.opened)
		return 0;
	n.protocol = NET_WEB;
	if (d.web) {
		n.method = q->method ? q->method : "GET";
		n.path = d.path;
	}
	*ret = policy_net(p, &n);
	if (ret->opened)
		*ret_why = "it depends on the request: give a URL";
	else if (ret->verdict == VERDICT_ALLOW && !d.web)
		*ret_why = "only TLS with this name as the server's, or HTTP for it";
	else if (ret->verdict == VERDICT_DENY && raw.verdict == VERDICT_ASK)
		*ret = raw;
	if (!d.name[0] && ret->verdict == VERDICT_DENY && !ret->rule && ip_special(&d.addr, NULL))
		*ret_why = "this address is not public: a rule must list it";
	return 0;
}

static int query_decide(const struct policy *p, const struct policy_query *q, struct decision *ret,
			const char **ret_why, struct err *e)
{
	unsigned access = q->access ? files_access(q->access) : FILES_READ;

	*ret_why = "";
	if (!!q->connect + !!q->file + !!q->exec + !!q->env + !!q->tool + !!q->cell != 1)
		return err_set(e, ERR_USAGE,
			       "exactly one of connect, file, exec, env, tool and cell is needed");
	if (q->cell) {
		*ret = policy_cells(p, &(struct cells_question){ .image = q->cell, .depth = 1 });
		return 0;
	}
	if (q->tool) {
		*ret = policy_tools(p, q->tools, q->tool);
		if (ret->verdict == VERDICT_ALLOW && !ret->rule)
			*ret_why = "the cell was given this tool";
		return 0;
	}
	if (q->connect)
		return connect_query(p, q, ret, ret_why, e);
	if (!access)
		return err_set(e, ERR_USAGE,
			       "unknown access '%.60s'" REMEDY
			       "known are read, write, create and delete, several with commas",
			       q->access);
	if ((q->file && *q->file != '/') || (q->exec && *q->exec != '/'))
		return err_set(e, ERR_USAGE, "'%.200s' is not an absolute path",
			       q->file ? q->file : q->exec);
	*ret = q->file	 ? policy_files(p, q->file, access)
	       : q->exec ? policy_exec(p, q->exec)
			 : policy_env(p, q->env);
	return 0;
}

/* "FILE, line 3"; of a preset: "preset packages". */
static void origin_write(const struct rule *r, struct buf *to)
{
	char text[32];

	buf_add_text(to, r->from);
	if (!r->line || !strncmp(r->from, "preset ", 7))
		return;
	snprintf(text, sizeof(text), ", line %u", r->line);
	buf_add_text(to, text);
}

int policy_answer(const struct policy *p, const struct policy_query *q, struct buf *to,
		  struct err *e)
{
	struct decision d = { 0 };
	const char *why;

	if (query_decide(p, q, &d, &why, e) < 0)
		return -1;
	buf_add_text(to, "{");
	json_member_text(to, "verdict", verdict_name(d.verdict));
	if (d.rule) {
		struct buf rule = { 0 }, origin = { 0 };

		rule_print(d.rule, &rule);
		origin_write(d.rule, &origin);
		json_member_text(to, "rule", (const char *)rule.p);
		json_member_text(to, "origin", (const char *)origin.p);
		buf_free(&rule);
		buf_free(&origin);
		if (d.rule->audit)
			json_member_add(to, "audit", "true");
	}
	json_member_text(to, "note", *why ? why : NULL);
	buf_add_text(to, "}");
	return 0;
}

int policy_answer_words(char *const *rules, const struct policy_query *q, struct buf *to,
			struct err *e)
{
	struct policy p;
	int r;

	policy_init(&p);
	r = policy_words(&p, rules, "policy", NULL, e);
	if (r == 0)
		r = policy_answer(&p, q, to, e);
	policy_fini(&p);
	return r;
}

/* ---- lists ---- */

/* Of a list that more rules were added to: can line i never decide any more because of them? */
static bool line_is_dead(const struct policy *p, unsigned i, unsigned added)
{
	for (unsigned a = 0; a < policy_count(p); a++) {
		const struct rule *r = policy_rule(p, a);

		if (r->line != i + 1 || strcmp(r->from, "policy") != 0)
			continue;
		for (unsigned b = a + 1; b < policy_count(p); b++)
			if (policy_rule(p, b)->line > added &&
			    !strcmp(policy_rule(p, b)->from, "policy") &&
			    rule_covers(policy_rule(p, b), r))
				return true;
	}
	return false;
}

char **policy_list(char *const *rules, char *const *more, struct err *e)
{
	unsigned n = 0, nmore = 0, kept = 0;
	char **all, **ret = NULL;
	struct policy p;

	while (rules && rules[n])
		n++;
	while (more && more[nmore])
		nmore++;
	all = xalloc((n + nmore + 1) * sizeof(*all));
	for (unsigned i = 0; i < n + nmore; i++)
		all[i] = i < n ? rules[i] : more[i - n];
	all[n + nmore] = NULL;
	policy_init(&p);
	for (unsigned i = 0; more && i < n + nmore; i++) {
		if (policy_parse(&p, all[i], strlen(all[i]), "policy", i + 1, 1, e) < 0)
			goto out;
	}
	/* Those that stay, in their order. */
	for (unsigned i = 0; i < n + nmore; i++)
		if (!more || i >= n || !line_is_dead(&p, i, n))
			all[kept++] = all[i];
	all[kept] = NULL;
	policy_fini(&p);
	policy_init(&p);
	if (policy_words(&p, all, "policy", NULL, e) < 0)
		goto out;
	kept = policy_nlines(&p);
	ret = xalloc((kept + 1) * sizeof(*ret));
	for (unsigned i = 0; i < kept; i++)
		ret[i] = xstrndup(policy_line(&p, i), strlen(policy_line(&p, i)));
	ret[kept] = NULL;
out:
	policy_fini(&p);
	free(all);
	return ret;
}
