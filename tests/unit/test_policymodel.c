/* Policies against a model: random rules and random questions of a small world.
 *
 * - What is printed is read again as the same.
 * - A rule that is called dead never decides anything.
 * - Lists that rules are added to decide as all of them together do. */
/* objects: src/policy/ src/base/buf.c src/base/err.c src/base/json.c src/base/jsontext.c src/base/utf8.c src/base/log.c */
#include <stdlib.h>
#include <string.h>

#include "policy/policy.h"
#include "policy/query.h"
#include "tap.h"

#define ROUNDS 3000
#define QUESTIONS 400

static unsigned long long state = 88172645463325252ull;

static unsigned draw(unsigned n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned)((state >> 11) % n);
}
#define PICK(list) list[draw(ARRAY_LEN(list))]

static const char *const verdicts[] = { "allow", "deny", "ask", "audit" };
static const char *const hosts[] = { "a.org",	      "b.a.org",   "*.a.org",
				     "*",	      "10.0.0.1",  "10.0.0.0/8",
				     "10.0.0.0/16",   "1.2.3.4",   "1.2.0.0/16",
				     "0.0.0.0/0",     "[::/0]:443" };
static const char *const ports[] = { "", "", ":443", ":80,443", ":1-1000", ":*", ":22" };
static const char *const protocols[] = { "", "", " web", " tcp", " udp", " any" };
static const char *const words[] = { "", "", "", " tls=any", " GET", " GET,POST", " /x/**", " GET /x/y",
				     " program=/bin/a", " program=/bin/*", " program=/bin/**" };
static const char *const paths[] = { "/a",   "/a/b",  "/a/*", "/a/**", "/**",
				     "**/b", "/a/?b", "**",   "/**/b" };
static const char *const accesses[] = { "", " read", " write", " read,write,create", " delete" };

static void rule_make(char *to, size_t size)
{
	switch (draw(8)) {
	case 0:
		snprintf(to, size, "%s files %s%s", verdicts[draw(3)], PICK(paths), PICK(accesses));
		break;
	case 1:
		snprintf(to, size, "%s exec %s", verdicts[draw(3)], PICK(paths));
		break;
	case 2:
		snprintf(to, size, "%s env %s", verdicts[draw(3)], draw(2) ? "A*" : "AB");
		break;
	default: {
		const char *host = PICK(hosts);

		snprintf(to, size, "%s net %s%s%s%s%s", PICK(verdicts), host,
			 *host == '[' ? "" : PICK(ports), PICK(protocols), PICK(words),
			 draw(4) ? "" : PICK(words));
	}
	}
}

/* One that can be read. */
static void rule_good(char *to, size_t size)
{
	struct policy p;
	struct err e;
	bool good;

	do {
		rule_make(to, size);
		policy_init(&p);
		good = policy_parse(&p, to, strlen(to), "m", 1, 1, &e) == 0;
		policy_fini(&p);
	} while (!good);
}

/* Which rule decides a random question; NULL: none. */
static const struct rule *ask(const struct policy *p, enum verdict *ret)
{
	static const char *const names[] = { "a.org", "b.a.org", "c.b.a.org", "d.org", NULL };
	static const char *const addrs[] = { "10.0.0.1", "10.0.1.1", "10.1.0.1", "1.2.3.4",
					     "1.2.4.4",	 "8.8.8.8",  "fd00::1",	 "2600::1" };
	static const uint16_t numbers[] = { 22, 53, 80, 443, 1000, 8080 };
	static const unsigned kinds[] = { NET_WEB, NET_TCP, NET_UDP };
	static const char *const programs[] = { "", "/bin/a", "/bin/b", "/bin/c/d" };
	static const char *const targets[] = { "/", "/x", "/x/y", "/x/y/z" };
	static const char *const files[] = { "/a", "/a/b", "/a/b/c", "/b", "/a/xb", "/c/d/b" };
	struct decision d;
	struct ip a;

	switch (draw(6)) {
	case 0:
		d = policy_files(p, PICK(files), 1u << draw(4));
		break;
	case 1:
		d = policy_exec(p, PICK(files));
		break;
	case 2:
		d = policy_env(p, draw(2) ? "AB" : "AC");
		break;
	default: {
		struct net_question q = { .name = PICK(names),
					  .port = PICK(numbers),
					  .protocol = PICK(kinds),
					  .program = PICK(programs),
					  .method = draw(2) ? "GET" : draw(2) ? "POST" : "PUT",
					  .path = PICK(targets) };

		if (!q.name && ip_parse(PICK(addrs), &a))
			q.addr = &a;
		d = policy_net(p, &q);
	}
	}
	*ret = d.verdict;
	return d.rule;
}

static bool same(const struct rule *a, const struct rule *b)
{
	struct buf x = { 0 }, y = { 0 };
	bool equal;

	rule_print(a, &x);
	rule_print(b, &y);
	equal = x.len == y.len && !memcmp(x.p, y.p, x.len) && a->audit == b->audit &&
		a->net.nports == b->net.nports && a->net.protocols == b->net.protocols &&
		a->net.kind == b->net.kind && a->access == b->access;
	buf_free(&x);
	buf_free(&y);
	return equal;
}

static void printing(void)
{
	unsigned wrong = 0;

	for (unsigned i = 0; i < ROUNDS; i++) {
		struct policy p, again;
		struct buf b = { 0 };
		struct err e;
		char line[256];

		rule_good(line, sizeof(line));
		policy_init(&p);
		policy_init(&again);
		if (policy_parse(&p, line, strlen(line), "m", 1, 1, &e) < 0)
			wrong++;
		rule_print(policy_rule(&p, 0), &b);
		if (policy_parse(&again, (char *)b.p, b.len, "m", 1, 1, &e) < 0 ||
		    !same(policy_rule(&p, 0), policy_rule(&again, 0))) {
			printf("# %s became %s\n", line, (char *)b.p);
			wrong++;
		}
		/* The line that is kept is the rule. */
		wrong += strcmp(policy_line(&p, 0), (char *)b.p) != 0;
		buf_free(&b);
		policy_fini(&p);
		policy_fini(&again);
	}
	eq(wrong, 0, "what is printed is read again as the same");
}

static void dead_rules(void)
{
	unsigned wrong = 0, found = 0;

	for (unsigned i = 0; i < ROUNDS; i++) {
		const struct rule *dead, *rule;
		struct buf text = { 0 };
		struct policy p;
		struct err e;
		char line[256];
		enum verdict v;

		for (unsigned n = 2 + draw(4); n; n--) {
			rule_good(line, sizeof(line));
			buf_add_text(&text, line);
			buf_add_text(&text, "\n");
		}
		policy_init(&p);
		if (policy_parse(&p, (char *)text.p, text.len, "m", 1, 1, &e) < 0)
			wrong++;
		dead = policy_dead(&p, &e);
		found += dead != NULL;
		for (unsigned k = 0; dead && k < QUESTIONS; k++) {
			rule = ask(&p, &v);
			if (rule != dead)
				continue;
			printf("# line %u decides:\n%s", rule->line, (char *)text.p);
			wrong++;
			break;
		}
		buf_free(&text);
		policy_fini(&p);
	}
	eq(wrong, 0, "a rule that is called dead never decides");
	ok(found > ROUNDS / 20, "and there are such rules");
}

static void list_free(char **list)
{
	for (char **l = list; l && *l; l++)
		free(*l);
	free(list);
}

/* Adding rules to a list, where some go, decides as the whole list does. */
static void adding(void)
{
	unsigned wrong = 0, fewer = 0;

	for (unsigned i = 0; i < ROUNDS / 3; i++) {
		char lines[5][256], *is[4] = { 0 }, *more[3] = { 0 }, **list;
		struct policy all, left;
		struct err e;
		unsigned n = 1 + draw(3), m = 1 + draw(2), k;

		for (k = 0; k < n + m; k++) {
			rule_good(lines[k], sizeof(lines[k]));
			*(k < n ? &is[k] : &more[k - n]) = lines[k];
		}
		policy_init(&all);
		policy_init(&left);
		list = policy_list(is, NULL, &e);
		if (list) {
			list_free(list);
			list = policy_list(is, more, &e);
		}
		for (k = 0; list && k < n + m; k++)
			if (policy_parse(&all, lines[k], strlen(lines[k]), "m", 1, 1, &e) < 0)
				wrong++;
		for (k = 0; list && list[k]; k++)
			if (policy_parse(&left, list[k], strlen(list[k]), "m", 1, 1, &e) < 0)
				wrong++;
		fewer += list && policy_count(&left) < policy_count(&all);
		for (k = 0; list && k < QUESTIONS; k++) {
			unsigned long long before = state;
			enum verdict a, b;

			(void)ask(&all, &a);
			state = before;
			(void)ask(&left, &b);
			wrong += a != b;
		}
		list_free(list);
		policy_fini(&all);
		policy_fini(&left);
	}
	eq(wrong, 0, "added rules decide as all together do");
	ok(fewer > 10, "and take the place of others");
}

int main(void)
{
	printing();
	dead_rules();
	adding();
	return tap_end();
}
