/* Layers of policies against a model: families of cells with random rules, and random questions.
 *
 * - A policy decides as the model says, which knows rules by number and looks things up in tables:
 *   nothing of src/policy is in it.
 * - No sub-cell may what its parent may not, whatever its own rules are: in every scope, in every
 *   function that decides, in the rules and in the compiled form.
 * - One that allows everything, or says "use parent", may exactly what its parent may. */
/* objects: src/policy/ src/base/buf.c src/base/err.c src/base/json.c src/base/jsontext.c src/base/utf8.c src/base/log.c */
#include <stdlib.h>
#include <string.h>

#include "policy/policy.h"
#include "policy/query.h"
#include "tap.h"

#define FAMILIES 2500
#define QUESTIONS 60
#define GENERATIONS 4
#define RULES 7

static unsigned long long state = 88172645463325252ull;

static unsigned draw(unsigned n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned)((state >> 11) % n);
}
#define PICK(list) list[draw(ARRAY_LEN(list))]

/* ---- the model's world ---- */

enum { DENY, ALLOW, ASK, AUDIT };
enum { NET, FILES, EXEC, ENV, TOOLS, CELLS, SCOPES };

static const char *const verdicts[] = { "deny", "allow", "ask", "audit" };
static const char *const scopes[] = { "net", "files", "exec", "env", "tools", "cells" };

/* What rules name, what is asked, and which matches which: a bit for each target. */
#define TARGETS 9
static const struct world {
	const char *patterns[8], *targets[TARGETS];
	unsigned match[8];
} worlds[SCOPES] = {
	[NET] = { { "a.org", "b.a.org", "*.a.org", "*", "10.0.0.1", "10.0.0.0/8", "1.2.3.4",
		    "1.2.0.0/16" },
		  { "a.org", "b.a.org", "c.b.a.org", "d.org", "10.0.0.1", "10.0.1.1", "1.2.3.4",
		    "1.2.4.4", "8.8.8.8" },
		  { 0x001, 0x002, 0x006, 0x1cf, 0x010, 0x030, 0x040, 0x0c0 } },
	[FILES] = { { "/a", "/a/*", "/a/**", "/**", "**/b" },
		    { "/a", "/a/b", "/a/b/c", "/b", "/c/d/b" },
		    { 1, 2, 6, 31, 26 } },
	[EXEC] = { { "/a", "/a/*", "/a/**", "/**", "**/b" },
		   { "/a", "/a/b", "/a/b/c", "/b", "/c/d/b" },
		   { 1, 2, 6, 31, 26 } },
	[ENV] = { { "A*", "AB" }, { "AB", "AC" }, { 3, 1 } },
	[TOOLS] = { { "t", "u", "t/get*", "*" }, { "t", "t/get", "t/del", "u" }, { 7, 8, 2, 15 } },
	[CELLS] = { { "a", "b/c", "*", "b/*", "host" },
		    { "a", "b/c", "d", "host" },
		    { 1, 2, 15, 2, 8 } },
};
#define HOST 3 /* the image that only its name means */
#define NAMES 4 /* of the targets of net */

static const struct {
	const char *text;
	unsigned from, to;
} ports[] = { { "", 0, 0 }, { ":443", 443, 443 }, { ":1-1000", 1, 1000 }, { ":*", 0, 65535 } };
static const struct {
	const char *text;
	unsigned bits;
} protocols[] = { { "", 0 },
		  { " web", NET_WEB },
		  { " tcp", NET_WEB | NET_TCP },
		  { " udp", NET_UDP },
		  { " any", NET_ALL } };
/* Of requests: POST, or GET /x/y; 0 for the path: any. */
static const struct {
	const char *text, *method, *path, *program;
	bool tls_any;
} words[] = { { "", NULL, NULL, NULL, false },
	      { "", NULL, NULL, NULL, false },
	      { " GET", "GET", NULL, NULL, false },
	      { " /x/y", NULL, "/x/y", NULL, false },
	      { " POST /x/y", "POST", "/x/y", NULL, false },
	      { " program=/bin/a", NULL, NULL, "/bin/a", false },
	      { " tls=any", NULL, NULL, NULL, true } };
static const struct {
	const char *text;
	unsigned bits;
} accesses[] = { { "", 15 }, { " read", 1 }, { " write,create", 6 }, { " delete", 8 } };

struct mrule {
	unsigned verdict, scope, pattern, port, protocol, word, access, max, depth;
};

struct mlayer {
	struct mrule rules[RULES];
	unsigned n;
	bool inherits;
};

struct question {
	unsigned scope, target, port, protocol, access, count, depth;
	const char *method, *path, *program;
};

struct answer {
	int rank; /* 0: allow, 1: ask, 2: deny */
	bool opened, audit, tls_any, unchecked;
};

static int rank_of(unsigned verdict)
{
	return verdict == DENY ? 2 : verdict == ASK ? 1 : 0;
}

static bool is_request(const struct mrule *r)
{
	return words[r->word].method || words[r->word].path;
}

static bool net_matches(const struct mrule *r, const struct question *q)
{
	bool deny_all = r->verdict == DENY && !is_request(r);
	unsigned bits = protocols[r->protocol].bits;
	unsigned from = ports[r->port].from, to = ports[r->port].to;

	if (!bits)
		bits = deny_all ? NET_ALL : NET_WEB;
	if (!(bits & q->protocol))
		return false;
	if (!r->port && !deny_all ? q->port != 443 && q->port != 80
				  : r->port && (q->port < from || q->port > to))
		return false;
	return !words[r->word].program || !strcmp(words[r->word].program, q->program);
}

static bool model_matches(const struct mrule *r, const struct question *q)
{
	if (r->scope != q->scope || !(worlds[q->scope].match[r->pattern] & 1u << q->target))
		return false;
	if (q->scope == CELLS && q->target == HOST && r->verdict != DENY && r->pattern != 4)
		return false;
	if (q->scope == FILES && !(accesses[r->access].bits & q->access))
		return false;
	return q->scope != NET || net_matches(r, q);
}

static bool request_matches(const struct mrule *r, const struct question *q)
{
	return (!words[r->word].method || !strcmp(words[r->word].method, q->method)) &&
	       (!words[r->word].path || !strcmp(words[r->word].path, q->path));
}

static struct answer model_layer(const struct mlayer *l, const struct question *q)
{
	bool free = l->inherits || (q->scope != NET && q->scope != TOOLS && q->scope != CELLS);
	struct answer a = { .rank = free ? 0 : 2,
			    .tls_any = l->inherits,
			    .unchecked = l->inherits };

	/* The last one that matches counts; those about requests that follow it open. */
	for (unsigned i = 0; i < l->n; i++) {
		const struct mrule *r = &l->rules[i];
		bool tls_any = words[r->word].tls_any;

		if (!model_matches(r, q))
			continue;
		if (q->scope == NET && is_request(r)) {
			if (!q->method)
				a.opened = true;
			if (!q->method || !request_matches(r, q))
				continue;
		}
		a = (struct answer){ .rank = rank_of(r->verdict),
				     .audit = r->verdict == AUDIT,
				     .tls_any = tls_any,
				     .unchecked = tls_any || r->verdict == AUDIT };
		if (q->scope == CELLS &&
		    ((r->max && q->count >= r->max) || (r->depth && q->depth > r->depth)))
			a.rank = 2;
	}
	return a;
}

static struct answer model(const struct mlayer *layers, unsigned n, const struct question *q)
{
	struct answer all = { .tls_any = true, .unchecked = true };

	for (unsigned i = 0; i < n; i++) {
		struct answer one = model_layer(&layers[i], q);

		if (one.rank == 2 && !one.opened)
			return (struct answer){ .rank = 2 };
		all.rank = MAX(all.rank, one.rank);
		all.opened |= one.opened;
		all.audit |= one.audit;
		all.tls_any &= one.tls_any;
		all.unchecked &= one.unchecked;
	}
	return all;
}

/* ---- making families ---- */

static void mrule_make(struct mrule *r)
{
	unsigned n = 0;

	*r = (struct mrule){ .scope = draw(2) ? NET : draw(SCOPES) };
	while (n < ARRAY_LEN(worlds[0].patterns) && worlds[r->scope].patterns[n])
		n++;
	r->verdict = draw(3) ? draw(r->scope == NET ? 4 : 3) : ALLOW;
	r->pattern = draw(n);
	r->port = draw(ARRAY_LEN(ports));
	r->protocol = draw(2) ? 0 : draw(ARRAY_LEN(protocols));
	r->word = draw(ARRAY_LEN(words));
	r->access = draw(ARRAY_LEN(accesses));
	r->max = draw(3) || r->verdict == DENY ? 0 : 2;
	r->depth = draw(3) || r->verdict == DENY ? 0 : 1;
}

static void mrule_text(const struct mrule *r, char *to, size_t size)
{
	snprintf(to, size, "%s %s %s%s%s%s%s%s%s", verdicts[r->verdict], scopes[r->scope],
		 worlds[r->scope].patterns[r->pattern], r->scope == NET ? ports[r->port].text : "",
		 r->scope == NET ? protocols[r->protocol].text : "",
		 r->scope == NET     ? words[r->word].text
		 : r->scope == FILES ? accesses[r->access].text
				     : "",
		 r->scope == CELLS && r->max ? " max=2" : "",
		 r->scope == CELLS && r->depth ? " depth=1" : "", "");
}

struct lines {
	char text[RULES + 1][128], *list[RULES + 2];
	unsigned n;
};

static void lines_add(struct lines *l, const char *text)
{
	snprintf(l->text[l->n], sizeof(l->text[0]), "%s", text);
	l->list[l->n] = l->text[l->n];
	l->list[++l->n] = NULL;
}

static bool lines_good(struct lines *l)
{
	struct policy p;
	struct err e;
	bool good;

	policy_init(&p);
	good = policy_words(&p, l->list, "m", NULL, &e) == 0;
	policy_fini(&p);
	return good;
}

/* Rules that can be read, none of which is dead. */
static void layer_make(struct mlayer *m, struct lines *l, bool below)
{
	unsigned n = draw(RULES + 1);

	bool use = !draw(4);

	/* The first one has nothing to inherit. */
	*m = (struct mlayer){ .inherits = below && use };
	*l = (struct lines){ 0 };
	if (use)
		lines_add(l, "use parent");
	for (unsigned tries = 0; m->n < n && tries < 200; tries++) {
		char text[128];

		mrule_make(&m->rules[m->n]);
		mrule_text(&m->rules[m->n], text, sizeof(text));
		lines_add(l, text);
		if (lines_good(l))
			m->n++;
		else
			l->list[--l->n] = NULL;
	}
}

struct family {
	struct mlayer layers[GENERATIONS];
	struct lines own[GENERATIONS];
	char **rules[GENERATIONS]; /* of each generation */
	struct policy p[GENERATIONS], alone[GENERATIONS];
	struct buf bytes[GENERATIONS];
	struct compiled c[GENERATIONS];
	unsigned n;
};

static void list_free(char **list)
{
	for (char **l = list; l && *l; l++)
		free(*l);
	free(list);
}

static void must(bool good, const struct err *e)
{
	if (good)
		return;
	printf("Bail out! %s\n", err_line(e).str);
	exit(1);
}

static void generation_add(struct family *f)
{
	unsigned i = f->n++;
	struct err e = { 0 };
	char *empty = NULL;

	f->rules[i] = i ? policy_within(f->rules[i - 1], NULL, f->own[i].list, &e)
			: policy_list(f->own[i].list, NULL, &e);
	if (!i && !f->own[i].n)
		f->rules[i] = policy_list(&empty, NULL, &e);
	must(f->rules[i], &e);
	policy_init(&f->p[i]);
	policy_init(&f->alone[i]);
	must(policy_words(&f->p[i], f->rules[i], "m", NULL, &e) == 0, &e);
	must(policy_words(&f->alone[i], f->own[i].list, "m", NULL, &e) == 0, &e);
	f->bytes[i] = (struct buf){ 0 };
	policy_compile(&f->p[i], &f->bytes[i]);
	must(compiled_check(f->bytes[i].p, f->bytes[i].len, &f->c[i]) == 0, &e);
}

static void family_make(struct family *f)
{
	f->n = 0;
	while (f->n < GENERATIONS) {
		layer_make(&f->layers[f->n], &f->own[f->n], f->n > 0);
		generation_add(f);
	}
}

static void family_free(struct family *f)
{
	for (unsigned i = 0; i < f->n; i++) {
		list_free(f->rules[i]);
		policy_fini(&f->p[i]);
		policy_fini(&f->alone[i]);
		buf_free(&f->bytes[i]);
	}
}

static void family_print(const struct family *f, unsigned n)
{
	for (char **l = f->rules[n]; *l; l++)
		printf("# %s\n", *l);
}

/* ---- questions ---- */

static void question_make(struct question *q)
{
	static const unsigned numbers[] = { 22, 80, 443, 8080 }, kinds[] = { 1, 2, 4 };
	static const char *const methods[] = { NULL, "GET", "POST" },
				 *const paths[] = { "/x/y", "/x/z" },
				 *const programs[] = { "/bin/a", "/bin/b" };
	unsigned n = 0;

	*q = (struct question){ .scope = draw(2) ? NET : draw(SCOPES),
				.port = PICK(numbers),
				.protocol = PICK(kinds),
				.access = 1u << draw(4),
				.count = draw(4),
				.depth = 1 + draw(2),
				.method = PICK(methods),
				.path = PICK(paths),
				.program = PICK(programs) };
	while (n < TARGETS && worlds[q->scope].targets[n])
		n++;
	q->target = draw(n);
	if (q->scope == NET && draw(2)) { /* where rules are */
		q->target = draw(NAMES - 1);
		q->port = 443;
		q->protocol = NET_WEB;
	}
}

static struct answer ask(const struct policy *p, const struct question *q)
{
	const char *target = worlds[q->scope].targets[q->target];
	struct decision d = { 0 };
	struct ip a;

	if (q->scope == NET) {
		struct net_question n = { .port = (uint16_t)q->port,
					  .protocol = q->protocol,
					  .program = q->program,
					  .method = q->method,
					  .path = q->path };

		if (q->target < NAMES)
			n.name = target;
		else if (ip_parse(target, &a))
			n.addr = &a;
		d = policy_net(p, &n);
	} else if (q->scope == CELLS) {
		d = policy_cells(p, &(struct cells_question){ target, q->count, q->depth });
	} else {
		d = q->scope == FILES  ? policy_files(p, target, q->access)
		    : q->scope == EXEC ? policy_exec(p, target)
		    : q->scope == ENV  ? policy_env(p, target)
				       : policy_tools(p, NULL, target);
	}
	return (struct answer){ .rank = verdict_rank(d.verdict),
				.opened = d.opened,
				.audit = d.audit,
				.tls_any = d.tls_any,
				.unchecked = d.unchecked };
}

static bool is_same(const struct answer *a, const struct answer *b, unsigned scope)
{
	if (a->rank != b->rank || a->opened != b->opened)
		return false;
	/* How it is let through counts only if it is. */
	return scope != NET || a->rank == 2 ||
	       (a->audit == b->audit && a->tls_any == b->tls_any && a->unchecked == b->unchecked);
}

/* Has a no more rights than b? */
static bool is_within(const struct answer *a, const struct answer *b)
{
	return a->rank >= b->rank && (!b->opened || a->opened || a->rank == 2) &&
	       (a->rank == 2 || ((b->tls_any || !a->tls_any) && (b->unchecked || !a->unchecked)));
}

/* What else is asked about names and addresses: how strict, 0 to 2. */
#define OTHERS 5
static void ask_others(const struct policy *p, const struct question *q, int ret[OTHERS])
{
	const char *target = worlds[NET].targets[q->target];
	struct ip a;

	ret[0] = ret[1] = 0;
	if (q->target < NAMES) {
		ret[0] = verdict_rank(policy_name(p, target).verdict);
		ret[1] = verdict_rank(policy_dns(p, target, 16).verdict);
	}
	ret[2] = ret[3] = 0;
	if (ip_parse(target, &a)) {
		ret[2] =
			verdict_rank(policy_address(p, &a, (uint16_t)q->port, q->protocol).verdict);
		ret[3] = verdict_rank(policy_address(p, &a, 0, q->protocol).verdict);
	}
	ret[4] = policy_has_net(p) ? 0 : 2;
}

static unsigned compiled_wrong(const struct family *f, unsigned n, const struct question *q)
{
	static const char *const dirs[] = { "/a", "/a/b", "/c", "/c/d", "/b", "/" };
	enum scope s = q->scope == EXEC ? SCOPE_EXEC : SCOPE_FILES;
	unsigned access = q->scope == EXEC ? 0 : q->access, wrong = 0;
	const char *at = worlds[FILES].targets[draw(5)], *to = worlds[FILES].targets[draw(5)];
	const char *a = PICK(dirs), *b = PICK(dirs), *rule;
	const struct compiled *c = &f->c[n], *up = n ? &f->c[n - 1] : NULL;
	struct question same = *q;
	struct answer said;
	int rank;

	same.scope = q->scope == EXEC ? EXEC : FILES;
	same.target = draw(5);
	said = ask(&f->p[n], &same);
	rank = verdict_rank(
		compiled_decide(c, s, worlds[FILES].targets[same.target], access, &rule));
	wrong += rank != said.rank;
	if (!up)
		return wrong;
	rank = verdict_rank(compiled_escape(c, s, at, to, access, &rule));
	wrong += rank < verdict_rank(compiled_escape(up, s, at, to, access, &rule));
	wrong += compiled_may_cover(c, a) && !compiled_may_cover(up, a);
	wrong += compiled_may_move(c, a, b) && !compiled_may_move(up, a, b);
	return wrong;
}

static void families(void)
{
	unsigned wrong = 0, more = 0, other = 0, inner = 0, asked = 0, ranks[3] = { 0 }, opened = 0;

	for (unsigned i = 0; i < FAMILIES; i++) {
		static struct family f;

		family_make(&f);
		for (unsigned k = 0; k < QUESTIONS; k++) {
			struct answer before = { 0 };
			int others[OTHERS], alone[OTHERS], worst[OTHERS] = { 0 };
			struct question q;

			question_make(&q);
			for (unsigned n = 0; n < f.n; n++, asked++) {
				struct answer is = ask(&f.p[n], &q);
				struct answer should = model(f.layers, n + 1, &q);

				if (!is_same(&is, &should, q.scope) && !wrong++) {
					printf("# %s %s port %u protocol %u: %d, not %d\n",
					       scopes[q.scope], worlds[q.scope].targets[q.target],
					       q.port, q.protocol, is.rank, should.rank);
					family_print(&f, n);
				}
				if (n && !is_within(&is, &before) && !more++)
					family_print(&f, n);
				before = is;
				ranks[is.rank]++;
				opened += is.opened;
				ask_others(&f.p[n], &q, others);
				ask_others(&f.alone[n], &q, alone);
				for (unsigned o = 0; o < OTHERS; o++) {
					/* A layer alone has nothing to inherit. */
					worst[o] =
						MAX(worst[o], f.layers[n].inherits ? 0 : alone[o]);
					other += others[o] < worst[o] ||
						 (others[o] != worst[o] && !f.layers[1].inherits &&
						  !f.layers[2].inherits && !f.layers[3].inherits);
				}
				/* No rule about it, no way to it. */
				other += q.scope == NET && others[4] && (is.rank < 2 || is.opened);
				other += q.scope == TOOLS && !policy_has_tools(&f.p[n]) &&
					 is.rank < 2;
				other += q.scope == CELLS && !policy_may_have_cells(&f.p[n]) &&
					 is.rank < 2;
				inner += compiled_wrong(&f, n, &q);
			}
		}
		family_free(&f);
	}
	eq(wrong, 0, "every generation decides as the model does");
	eq(more, 0, "no sub-cell may what its parent may not");
	eq(other, 0, "nor look up, or be led to, what it may not");
	eq(inner, 0, "nor in the compiled form");
	printf("# %u answers: %u allow, %u ask, %u deny, %u opened\n", asked, ranks[0], ranks[1],
	       ranks[2], opened);
	ok(ranks[0] > asked / 20 && ranks[1] > asked / 100 && ranks[2] > asked / 20 &&
		   opened > asked / 200,
	   "and all answers occur");
}

/* ---- layers that allow everything ---- */

static void everything(void)
{
	static const char *const lines[] = { "allow net *:* any tls=any",
					     "allow net 10.0.0.0/8:* any tls=any",
					     "allow net 1.2.0.0/16:* any tls=any",
					     "allow files /**",
					     "allow exec /**",
					     "allow files /a/**",
					     "allow exec /c/**" };
	static const char *const dirs[] = { "/a", "/a/b", "/c", "/c/d", "/b", "/" };
	unsigned wrong = 0;

	for (unsigned i = 0; i < FAMILIES / 2; i++) {
		static struct family f;
		bool use = draw(2);

		f.n = 0;
		layer_make(&f.layers[0], &f.own[0], false);
		generation_add(&f);
		f.own[1] = (struct lines){ 0 };
		for (unsigned k = 0; k < (use ? 1 : ARRAY_LEN(lines)); k++)
			lines_add(&f.own[1], use ? "use parent" : lines[k]);
		generation_add(&f);
		for (unsigned k = 0; k < QUESTIONS; k++) {
			const char *a = PICK(dirs), *b = PICK(dirs), *x, *y;
			struct answer before, after;
			int up[OTHERS], down[OTHERS];
			struct question q;

			question_make(&q);
			before = ask(&f.p[0], &q);
			after = ask(&f.p[1], &q);
			if (use || q.scope < ENV)
				wrong += !is_same(&after, &before, q.scope);
			ask_others(&f.p[0], &q, up);
			ask_others(&f.p[1], &q, down);
			for (unsigned o = 0; o < OTHERS; o++)
				wrong += (use || o != 1) && up[o] != down[o];
			wrong += compiled_may_cover(&f.c[0], a) != compiled_may_cover(&f.c[1], a);
			wrong += compiled_may_move(&f.c[0], a, b) !=
				 compiled_may_move(&f.c[1], a, b);
			wrong += compiled_escape(&f.c[0], SCOPE_FILES, a, b, FILES_READ, &x) !=
				 compiled_escape(&f.c[1], SCOPE_FILES, a, b, FILES_READ, &y);
			wrong += x && y ? strcmp(x, y) != 0 : x != y;
		}
		family_free(&f);
	}
	eq(wrong, 0, "a sub-cell that allows everything may exactly what its parent may");
}

/* ---- changes ---- */

/* Policies that are called the same for a connection say the same to all of its requests. */
static void changes(void)
{
	static const char *const methods[] = { "GET", "POST", "PUT" }, *const paths[] = { "/x/y",
											  "/z" };
	unsigned wrong = 0, same = 0;

	for (unsigned i = 0; i < FAMILIES; i++) {
		static struct family a, b;
		unsigned changed = draw(2);

		a.n = b.n = 0;
		for (unsigned n = 0; n < 2; n++) {
			layer_make(&a.layers[n], &a.own[n], n);
			if (n == changed)
				layer_make(&b.layers[n], &b.own[n], n);
			else
				b.own[n] = a.own[n];
			for (unsigned k = 0; k < b.own[n].n; k++)
				b.own[n].list[k] = b.own[n].text[k];
			generation_add(&a);
			generation_add(&b);
		}
		for (unsigned k = 0; k < QUESTIONS; k++) {
			struct net_question n = { .name = worlds[NET].targets[draw(NAMES)],
						  .port = 443,
						  .protocol = NET_WEB,
						  .program = "/bin/a" };

			if (!policy_same(&a.p[1], &b.p[1], &n))
				continue;
			same++;
			for (unsigned m = 0; m < 6; m++) {
				n.method = methods[m / 2];
				n.path = paths[m % 2];
				wrong += policy_net(&a.p[1], &n).verdict !=
					 policy_net(&b.p[1], &n).verdict;
			}
		}
		wrong += a.layers[1].n && policy_same(&a.p[0], &a.p[1],
						      &(struct net_question){ .name = "a.org",
									      .port = 443,
									      .protocol = NET_WEB,
									      .program = "" });
		family_free(&a);
		family_free(&b);
	}
	eq(wrong, 0, "what is called the same says the same to every request");
	ok(same > FAMILIES, "and much is");
}

/* ---- by hand ---- */

static bool named(char *const *rules, const char *path, enum verdict v, const char *rule)
{
	struct buf text = { 0 };
	struct policy p;
	struct err e;
	struct decision d;
	bool good;

	policy_init(&p);
	good = policy_words(&p, rules, "p", NULL, &e) == 0;
	d = policy_files(&p, path, FILES_READ);
	if (d.rule)
		rule_print(d.rule, &text);
	good = good && d.verdict == v && !rule == !d.rule &&
	       (!rule || !strcmp(rule, (const char *)text.p));
	buf_free(&text);
	policy_fini(&p);
	return good;
}

#define LIST(...) ((char *[]){ __VA_ARGS__, NULL })
#define W (char *)(uintptr_t)
static const char within[] = "within", parent[] = "use parent";

static void by_hand(void)
{
	static const char deny[] = "deny files /x", ask_x[] = "ask files /x",
			  allow[] = "allow files /x", deny_all[] = "deny files /**";
	char *const tools[] = { W "t", W "u", NULL };
	struct err e = { 0 };
	char **list;

	ok(named(LIST(W deny, W within, W allow), "/x", VERDICT_DENY, deny),
	   "a later layer cannot allow, and the rule of the layer that denies is named");
	ok(named(LIST(W ask_x, W within, W deny_all), "/x", VERDICT_DENY, deny_all),
	   "deny beats ask");
	ok(named(LIST(W ask_x, W within, W allow), "/x", VERDICT_ASK, ask_x), "ask beats allow");
	ok(named(LIST(W deny, W within, W within, W deny_all), "/y", VERDICT_DENY, deny_all),
	   "an empty layer restricts no files");
	list = policy_within(LIST(W "deny tools u"), tools, LIST(W "allow tools *"), &e);
	ok(list && !strcmp(list[0], "allow tools t") && !strcmp(list[1], "deny tools u") &&
		   !strcmp(list[2], within) && !strcmp(list[3], "allow tools *") && !list[4],
	   "what the parent was given becomes a rule, unless a rule decides about it anyway");
	ok(list && policy_own(list) == list + 3, "own rules are found again");
	list_free(list);
	list = policy_within(LIST(W parent), NULL, LIST(W parent, W within), &e);
	ok(!list && e.kind == ERR_INVALID, "a sub-cell's own rules have no layers");
	list = policy_within(NULL, NULL, NULL, &e);
	ok(list && !strcmp(list[0], within) && !list[1], "nobody's rules are a layer, too");
	list_free(list);
	list = policy_within(LIST(W within, W within, W within, W within, W within, W within,
				  W within),
			     NULL, NULL, &e);
	ok(!list && e.kind == ERR_INVALID, "there are eight layers at most");
	list = policy_list(LIST(W allow, W within, W allow), LIST(W deny_all), &e);
	ok(list && !strcmp(list[0], allow) && !strcmp(list[1], within) &&
		   !strcmp(list[2], deny_all) && !list[3],
	   "rules that are added take the place of some of the last layer alone");
	list_free(list);
}

/* Which rule is named, where it matters. */
static void names_of_rules(void)
{
	static const char exact[] = "allow net b.a.org", below[] = "allow net *.a.org",
			  any[] = "allow net *", each[] = "ask net a.org POST",
			  once[] = "ask net a.org";
	char **orders[] = { LIST(W exact, W within, W below, W within, W any),
			    LIST(W any, W within, W below, W within, W exact),
			    LIST(W below, W within, W exact, W within, W any) };
	char **asks[] = { LIST(W once, W each, W within, W once),
			  LIST(W once, W within, W once, W each) };
	struct net_question q = { .name = "a.org",
				  .port = 443,
				  .protocol = NET_WEB,
				  .program = "",
				  .method = "POST",
				  .path = "/" };
	struct policy p;
	struct err e;
	unsigned wide = 0, asked = 0;

	for (unsigned i = 0; i < ARRAY_LEN(orders); i++) {
		policy_init(&p);
		must(policy_words(&p, orders[i], "p", NULL, &e) == 0, &e);
		wide += policy_name(&p, "b.a.org").rule->net.kind == DEST_BELOW;
		policy_fini(&p);
	}
	eq(wide, ARRAY_LEN(orders), "of rules that allow a name, the one whose names are counted");
	for (unsigned i = 0; i < ARRAY_LEN(asks); i++) {
		policy_init(&p);
		must(policy_words(&p, asks[i], "p", NULL, &e) == 0, &e);
		asked += policy_net(&p, &q).rule->net.nmethods == 1;
		policy_fini(&p);
	}
	eq(asked, ARRAY_LEN(asks), "of rules that ask, the one that asks for each request");
	policy_init(&p);
	must(policy_words(&p,
			  LIST(W "allow tools t", W "ask tools u/*", W within, W "allow tools u",
			       W "allow tools v*"),
			  "p", NULL, &e) == 0,
	     &e);
	ok(!policy_has_tool(&p, NULL, "t") && policy_has_tool(&p, NULL, "u") &&
		   !policy_has_tool(&p, NULL, "v") && policy_has_tool(&p, LIST(W "v"), "v"),
	   "a tool is there if every layer has a rule for it");
	policy_fini(&p);
}

static void mistakes(void)
{
	static const char *const bad[] = {
		"within x",
		"allow net a.org\nuse parent",
		"allow cells",
		"allow cells a max=0",
		"allow cells a max=100000",
		"allow cells a max=-1",
		"allow cells a max=1 max=2",
		"allow cells a depth=x",
		"allow cells a size=1",
		"deny cells a max=1",
		"allow cells a[b]",
		"audit cells *",
		"within\nwithin\nwithin\nwithin\nwithin\nwithin\nwithin\nwithin",
		"allow files /x\ndeny files /**\nwithin",
		"allow cells a\nallow cells *",
	};
	unsigned found = 0;

	for (unsigned i = 0; i < ARRAY_LEN(bad); i++) {
		struct policy p;
		struct err e = { 0 };

		policy_init(&p);
		if (policy_parse(&p, bad[i], strlen(bad[i]), "m", 1, 1, &e) == 0 &&
		    policy_check(&p, &e) == 0)
			printf("# taken: %s\n", bad[i]);
		else
			found++;
		policy_fini(&p);
	}
	eq(found, ARRAY_LEN(bad), "mistakes are found");
}

int main(void)
{
	by_hand();
	names_of_rules();
	mistakes();
	families();
	everything();
	changes();
	return tap_end();
}
