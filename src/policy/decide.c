/* Which rule decides. Rules are looked at from the last to the first; the first that matches is the
 * answer. Nothing matches: deny what leads out of the cell, allow what stays in it. */
#include <string.h>

#include "policy/policy.h"

static bool dest_matches(const struct net_rule *r, const struct net_question *q)
{
	size_t n, below;

	switch (r->kind) {
	case DEST_ANY:
		return q->name || (q->addr && !ip_special(q->addr, NULL));
	case DEST_NAME:
		return q->name && !strcmp(q->name, r->name);
	case DEST_BELOW:
		n = q->name ? strlen(q->name) : 0, below = strlen(r->name);
		return n > below + 1 && q->name[n - below - 1] == '.' &&
		       !strcmp(q->name + n - below, r->name);
	case DEST_RANGE:
		return !q->name && q->addr && ip_is_in(q->addr, &r->range);
	}
	return false;
}

static bool port_matches(const struct net_rule *r, uint16_t port)
{
	for (unsigned i = 0; i < r->nports; i++)
		if (port >= r->ports[i].from && port <= r->ports[i].to)
			return true;
	return false;
}

static bool method_matches(const struct net_rule *r, const char *method)
{
	for (unsigned i = 0; i < r->nmethods; i++)
		if (!strcmp(r->methods[i], method))
			return true;
	return !r->nmethods;
}

static bool asks_for_request(const struct net_rule *r)
{
	return r->nmethods || r->path;
}

bool policy_opens(const struct policy *p)
{
	for (unsigned i = 0; i < policy_count(p); i++)
		if (policy_rule(p, i)->scope == SCOPE_NET &&
		    asks_for_request(&policy_rule(p, i)->net))
			return true;
	return false;
}

/* A rule that allows addresses which are not public must mean them. */
static bool range_means(const struct rule *r, const struct ip *a)
{
	unsigned prefix;

	return r->verdict == VERDICT_DENY || !ip_special(a, &prefix) ||
	       r->net.range.prefix >= prefix;
}

/* But for requests. */
static bool connection_matches(const struct rule *r, const struct net_question *q)
{
	return r->scope == SCOPE_NET && (r->net.protocols & q->protocol) &&
	       dest_matches(&r->net, q) && port_matches(&r->net, q->port) &&
	       (!r->net.program || glob_match(r->net.program, q->program)) &&
	       (r->net.kind != DEST_RANGE || range_means(r, q->addr));
}

struct decision policy_net(const struct policy *p, const struct net_question *q)
{
	struct decision d = { .verdict = VERDICT_DENY };

	for (unsigned i = policy_count(p); i-- > 0;) {
		const struct rule *r = policy_rule(p, i);

		if (!connection_matches(r, q))
			continue;
		if (asks_for_request(&r->net)) {
			if (!q->method) {
				d.opened = true;
				continue;
			}
			if (!method_matches(&r->net, q->method) ||
			    (r->net.path && !(q->path && glob_match(r->net.path, q->path))))
				continue;
		}
		d.verdict = r->verdict;
		d.rule = r;
		break;
	}
	return d;
}

/* The next rule before i that has a say in the requests of a connection; *i becomes its number. */
static const struct rule *rule_before(const struct policy *p, const struct net_question *q,
				      unsigned *i)
{
	while ((*i)-- > 0)
		if (connection_matches(policy_rule(p, *i), q))
			return policy_rule(p, *i);
	*i = 0;
	return NULL;
}

static bool requests_equal(const struct rule *a, const struct rule *b)
{
	if (a->verdict != b->verdict || a->net.nmethods != b->net.nmethods ||
	    !a->net.path != !b->net.path || (a->net.path && strcmp(a->net.path, b->net.path)))
		return false;
	for (unsigned i = 0; i < a->net.nmethods; i++)
		if (strcmp(a->net.methods[i], b->net.methods[i]))
			return false;
	return true;
}

bool policy_same(const struct policy *a, const struct policy *b, const struct net_question *q)
{
	unsigned i = policy_count(a), k = policy_count(b);

	for (;;) {
		const struct rule *x = rule_before(a, q, &i), *y = rule_before(b, q, &k);

		if (!x || !y)
			return x == y;
		if (!requests_equal(x, y))
			return false;
		if (!asks_for_request(&x->net))
			return true; /* what comes before has no say */
	}
}

/* Is it about all that can be done with the names that it matches? */
static bool is_whole(const struct net_rule *n)
{
	return n->ports[0].from <= 1 && n->ports[0].to == UINT16_MAX && !n->program &&
	       !asks_for_request(n) && n->protocols == NET_ALL;
}

/* types: 0, or a rule that allows must have them. */
static struct decision name_decide(const struct policy *p, const char *name, unsigned types)
{
	struct net_question q = { .name = name };
	struct decision d = { .verdict = VERDICT_DENY };

	for (unsigned i = policy_count(p); i-- > 0;) {
		const struct rule *r = policy_rule(p, i);

		/* A rule that denies a part of it leaves the rest to those before it. */
		if (r->scope != SCOPE_NET || !dest_matches(&r->net, &q) ||
		    (r->verdict == VERDICT_DENY ? !is_whole(&r->net)
						: (r->net.dns & types) != types))
			continue;
		d.verdict = r->verdict;
		d.rule = r;
		break;
	}
	return d;
}

struct decision policy_name(const struct policy *p, const char *name)
{
	return name_decide(p, name, 0);
}

struct decision policy_dns(const struct policy *p, const char *name, uint16_t type)
{
	unsigned bit = dns_type_bit(type);

	return bit ? name_decide(p, name, bit) : (struct decision){ .verdict = VERDICT_DENY };
}

struct decision policy_address(const struct policy *p, const struct ip *a, uint16_t port,
			       unsigned protocol)
{
	struct decision d = { .verdict = ip_special(a, NULL) ? VERDICT_DENY : VERDICT_ALLOW };

	for (unsigned i = policy_count(p); i-- > 0;) {
		const struct rule *r = policy_rule(p, i);

		if (r->scope != SCOPE_NET || r->net.kind != DEST_RANGE ||
		    !(r->net.protocols & protocol) || !ip_is_in(a, &r->net.range) ||
		    !(port_matches(&r->net, port) || (!port && r->verdict != VERDICT_DENY)) ||
		    r->net.program || asks_for_request(&r->net) || !range_means(r, a))
			continue;
		d.verdict = r->verdict;
		d.rule = r;
		break;
	}
	return d;
}

static struct decision glob_decide(const struct policy *p, enum scope scope, const char *text,
				   unsigned access)
{
	struct decision d = { .verdict = VERDICT_ALLOW };

	for (unsigned i = policy_count(p); i-- > 0;) {
		const struct rule *r = policy_rule(p, i);

		if (r->scope != scope || (access && !(r->access & access)) ||
		    !glob_match(r->glob, text))
			continue;
		d.verdict = r->verdict;
		d.rule = r;
		break;
	}
	return d;
}

struct decision policy_files(const struct policy *p, const char *path, unsigned access)
{
	struct decision d = { .verdict = VERDICT_ALLOW };

	/* Each on its own: the worst answer counts. */
	for (unsigned bit = 1; bit <= access; bit <<= 1) {
		struct decision one;

		if (!(access & bit))
			continue;
		one = glob_decide(p, SCOPE_FILES, path, bit);
		if (one.verdict == VERDICT_DENY)
			return one;
		if (one.verdict == VERDICT_ASK || !d.rule)
			d = one;
	}
	return d;
}

struct decision policy_exec(const struct policy *p, const char *path)
{
	return glob_decide(p, SCOPE_EXEC, path, 0);
}

struct decision policy_env(const struct policy *p, const char *name)
{
	return glob_decide(p, SCOPE_ENV, name, 0);
}

/* Of a call, so many bytes are the name of the tool. */
static bool tool_matches(const char *glob, const char *call, size_t n)
{
	char name[GLOB_MAX];

	if (strchr(glob, '/'))
		return glob_match(glob, call);
	if (n >= sizeof(name))
		return false;
	memcpy(name, call, n);
	name[n] = '\0';
	return glob_match(glob, name);
}

struct decision policy_tools(const struct policy *p, char *const *given, const char *call)
{
	struct decision d = { .verdict = VERDICT_DENY };
	size_t n = strcspn(call, "/");

	for (unsigned i = policy_count(p); i-- > 0;) {
		const struct rule *r = policy_rule(p, i);

		if (r->scope != SCOPE_TOOLS || !tool_matches(r->glob, call, n))
			continue;
		d.verdict = r->verdict;
		d.rule = r;
		return d;
	}
	for (; given && *given; given++)
		if (strlen(*given) == n && !memcmp(*given, call, n))
			d.verdict = VERDICT_ALLOW;
	return d;
}

bool policy_has_tools(const struct policy *p)
{
	for (unsigned i = 0; i < policy_count(p); i++)
		if (policy_rule(p, i)->scope == SCOPE_TOOLS &&
		    policy_rule(p, i)->verdict != VERDICT_DENY)
			return true;
	return false;
}
