/* Which rule decides. Rules of a layer are looked at from the last to the first; the first that
 * matches is its answer. Nothing matches: deny what leads out of the cell, allow what stays in it.
 * The strictest answer of the layers counts; of equals, that of the last layer. */
#include <stdio.h>
#include <string.h>

#include "policy/policy.h"

/* Before any layer was asked: what nobody minds. */
static const struct decision agreed = { .verdict = VERDICT_ALLOW,
					.tls_any = true,
					.unchecked = true };

static bool asks_for_request(const struct net_rule *r)
{
	return r->nmethods || r->path;
}

/* What a layer says when no rule of it matches. */
static struct decision layer_default(const struct layer *l, enum verdict v)
{
	return l->inherits ? agreed : (struct decision){ .verdict = v };
}

static struct decision rule_decision(const struct rule *r)
{
	return (struct decision){ .verdict = r->verdict,
				  .rule = r,
				  .audit = r->audit,
				  .tls_any = r->net.tls_any,
				  .unchecked = r->net.tls_any || r->audit };
}

/* Adds what one more layer says. True: no other can change it. */
static bool layer_join(struct decision *all, const struct decision *one)
{
	int stricter = verdict_rank(one->verdict) - verdict_rank(all->verdict);

	if (one->verdict == VERDICT_DENY && !one->opened) {
		*all = *one;
		return true;
	}
	all->opened |= one->opened;
	all->audit |= one->audit;
	all->tls_any &= one->tls_any;
	all->unchecked &= one->unchecked;
	if (stricter > 0)
		all->verdict = one->verdict;
	/* Who asks about requests is not satisfied by who agrees to a connection. */
	if (stricter > 0 ||
	    (!stricter && one->rule &&
	     (!all->rule || (one->verdict == VERDICT_ASK && asks_for_request(&one->rule->net) &&
			     !asks_for_request(&all->rule->net)))))
		all->rule = one->rule;
	return false;
}

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

static struct decision net_layer(const struct policy *p, const struct layer *l,
				 const struct net_question *q)
{
	struct decision d = layer_default(l, VERDICT_DENY);
	bool opened = false;

	for (unsigned i = l->end; i-- > l->first;) {
		const struct rule *r = policy_rule(p, i);

		if (!connection_matches(r, q))
			continue;
		if (asks_for_request(&r->net)) {
			if (!q->method) {
				opened = true;
				continue;
			}
			if (!method_matches(&r->net, q->method) ||
			    (r->net.path && !(q->path && glob_match(r->net.path, q->path))))
				continue;
		}
		d = rule_decision(r);
		break;
	}
	d.opened = opened;
	return d;
}

struct decision policy_net(const struct policy *p, const struct net_question *q)
{
	struct decision all = agreed;

	for (unsigned i = policy_layers(p); i-- > 0;) {
		const struct layer l = policy_layer(p, i);
		const struct decision one = net_layer(p, &l, q);

		if (layer_join(&all, &one))
			break;
	}
	return all;
}

/* The next rule before i that has a say in the requests of a connection; *i becomes its number. */
static const struct rule *rule_before(const struct policy *p, const struct layer *l,
				      const struct net_question *q, unsigned *i)
{
	while (*i > l->first)
		if (connection_matches(policy_rule(p, --*i), q))
			return policy_rule(p, *i);
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

static bool layers_same(const struct policy *a, const struct policy *b, unsigned layer,
			const struct net_question *q)
{
	const struct layer la = policy_layer(a, layer), lb = policy_layer(b, layer);
	unsigned i = la.end, k = lb.end;

	for (;;) {
		const struct rule *x = rule_before(a, &la, q, &i), *y = rule_before(b, &lb, q, &k);

		if (!x || !y)
			return x == y && la.inherits == lb.inherits;
		if (!requests_equal(x, y))
			return false;
		if (!asks_for_request(&x->net))
			return true; /* what comes before has no say */
	}
}

/* With another number of layers it is not looked at whether they say the same. */
bool policy_same(const struct policy *a, const struct policy *b, const struct net_question *q)
{
	if (policy_layers(a) != policy_layers(b))
		return false;
	for (unsigned i = 0; i < policy_layers(a); i++)
		if (!layers_same(a, b, i, q))
			return false;
	return true;
}

/* Is it about all that can be done with the names that it matches? */
static bool is_whole(const struct net_rule *n)
{
	return n->ports[0].from <= 1 && n->ports[0].to == UINT16_MAX && !n->program &&
	       !asks_for_request(n) && n->protocols == NET_ALL;
}

/* types: 0, or a rule that allows must have them. */
static struct decision name_layer(const struct policy *p, const struct layer *l, const char *name,
				  unsigned types)
{
	struct net_question q = { .name = name };

	for (unsigned i = l->end; i-- > l->first;) {
		const struct rule *r = policy_rule(p, i);

		/* A rule that denies a part of it leaves the rest to those before it. */
		if (r->scope != SCOPE_NET || !dest_matches(&r->net, &q) ||
		    (r->verdict == VERDICT_DENY ? !is_whole(&r->net)
						: (r->net.dns & types) != types))
			continue;
		return rule_decision(r);
	}
	return layer_default(l, VERDICT_DENY);
}

/* How many names a rule stands for: those of wide ones are counted. */
static size_t width(const struct rule *r)
{
	if (!r || r->net.kind != DEST_BELOW)
		return r && r->net.kind == DEST_ANY;
	return GLOB_MAX - strlen(r->net.name);
}

/* Of rules that allow, the widest is named. */
static struct decision name_decide(const struct policy *p, const char *name, unsigned types)
{
	struct decision all = agreed;

	for (unsigned i = policy_layers(p); i-- > 0;) {
		const struct layer l = policy_layer(p, i);
		const struct decision one = name_layer(p, &l, name, types);

		if (one.verdict == VERDICT_ALLOW && all.verdict == VERDICT_ALLOW &&
		    width(one.rule) > width(all.rule))
			all.rule = one.rule;
		if (layer_join(&all, &one))
			break;
	}
	return all;
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

static struct decision address_layer(const struct policy *p, const struct layer *l,
				     const struct ip *a, uint16_t port, unsigned protocol)
{
	for (unsigned i = l->end; i-- > l->first;) {
		const struct rule *r = policy_rule(p, i);

		if (r->scope != SCOPE_NET || r->net.kind != DEST_RANGE ||
		    !(r->net.protocols & protocol) || !ip_is_in(a, &r->net.range) ||
		    !(port_matches(&r->net, port) || (!port && r->verdict != VERDICT_DENY)) ||
		    r->net.program || asks_for_request(&r->net) || !range_means(r, a))
			continue;
		return rule_decision(r);
	}
	return layer_default(l, ip_special(a, NULL) ? VERDICT_DENY : VERDICT_ALLOW);
}

struct decision policy_address(const struct policy *p, const struct ip *a, uint16_t port,
			       unsigned protocol)
{
	struct decision all = agreed;

	for (unsigned i = policy_layers(p); i-- > 0;) {
		const struct layer l = policy_layer(p, i);
		const struct decision one = address_layer(p, &l, a, port, protocol);

		if (layer_join(&all, &one))
			break;
	}
	return all;
}

static struct decision glob_layer(const struct policy *p, const struct layer *l, enum scope scope,
				  const char *text, unsigned access)
{
	for (unsigned i = l->end; i-- > l->first;) {
		const struct rule *r = policy_rule(p, i);

		if (r->scope == scope && (!access || (r->access & access)) &&
		    glob_match(r->glob, text))
			return rule_decision(r);
	}
	return (struct decision){ .verdict = VERDICT_ALLOW };
}

static struct decision glob_decide(const struct policy *p, enum scope scope, const char *text,
				   unsigned access)
{
	struct decision all = agreed;

	for (unsigned i = policy_layers(p); i-- > 0;) {
		const struct layer l = policy_layer(p, i);
		const struct decision one = glob_layer(p, &l, scope, text, access);

		if (layer_join(&all, &one))
			break;
	}
	return all;
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

static bool is_given(char *const *given, const char *name, size_t n)
{
	for (; given && *given; given++)
		if (strlen(*given) == n && !memcmp(*given, name, n))
			return true;
	return false;
}

static struct decision tools_layer(const struct policy *p, const struct layer *l,
				   char *const *given, const char *call)
{
	size_t n = strcspn(call, "/");

	for (unsigned i = l->end; i-- > l->first;) {
		const struct rule *r = policy_rule(p, i);

		if (r->scope == SCOPE_TOOLS && tool_matches(r->glob, call, n))
			return rule_decision(r);
	}
	return layer_default(l, is_given(given, call, n) ? VERDICT_ALLOW : VERDICT_DENY);
}

struct decision policy_tools(const struct policy *p, char *const *given, const char *call)
{
	struct decision all = agreed;

	for (unsigned i = policy_layers(p); i-- > 0;) {
		const struct layer l = policy_layer(p, i);
		const struct decision one = tools_layer(p, &l, given, call);

		if (layer_join(&all, &one))
			break;
	}
	return all;
}

/* Has every layer such a rule, which does not deny, or leaves it to the one before? name: NULL, or
 * the tool that it must be about. */
static bool layers_have(const struct policy *p, enum scope scope, char *const *given,
			const char *name)
{
	size_t n = name ? strlen(name) : 0;

	for (unsigned i = policy_layers(p); i-- > 0;) {
		const struct layer l = policy_layer(p, i);
		bool found = l.inherits || (name && is_given(given, name, n));

		for (unsigned k = l.first; k < l.end && !found; k++) {
			const struct rule *r = policy_rule(p, k);
			char tool[GLOB_MAX];

			if (r->scope != scope || r->verdict == VERDICT_DENY)
				continue;
			snprintf(tool, sizeof(tool), "%.*s", (int)strcspn(r->glob, "/"), r->glob);
			found = !name || glob_match(tool, name);
		}
		if (!found)
			return false;
	}
	return true;
}

bool policy_has_tools(const struct policy *p)
{
	return layers_have(p, SCOPE_TOOLS, NULL, NULL);
}

bool policy_has_tool(const struct policy *p, char *const *given, const char *name)
{
	return layers_have(p, SCOPE_TOOLS, given, name);
}

/* ---- cells ---- */

bool rule_means_image(const struct rule *r, const char *image)
{
	if (r->verdict != VERDICT_DENY && !strcmp(image, "host"))
		return !strcmp(r->glob, image);
	return glob_match(r->glob, image);
}

static struct decision cells_layer(const struct policy *p, const struct layer *l,
				   const struct cells_question *q)
{
	for (unsigned i = l->end; i-- > l->first;) {
		const struct rule *r = policy_rule(p, i);
		struct decision d;

		if (r->scope != SCOPE_CELLS || !rule_means_image(r, q->image))
			continue;
		d = rule_decision(r);
		if ((r->max && q->count >= r->max) || (r->depth && q->depth > r->depth))
			d.verdict = VERDICT_DENY;
		return d;
	}
	return layer_default(l, VERDICT_DENY);
}

struct decision policy_cells(const struct policy *p, const struct cells_question *q)
{
	struct decision all = agreed;

	for (unsigned i = policy_layers(p); i-- > 0;) {
		const struct layer l = policy_layer(p, i);
		const struct decision one = cells_layer(p, &l, q);

		if (layer_join(&all, &one))
			break;
	}
	return all;
}

bool policy_may_have_cells(const struct policy *p)
{
	return layers_have(p, SCOPE_CELLS, NULL, NULL);
}
