/* Policies. What is accepted must be printed and read again as the same, and every question must
 * get an answer. */
/* objects: src/policy/address.c src/policy/compile.c src/policy/compiled.c src/policy/cover.c src/policy/decide.c src/policy/glob.c src/policy/layers.c src/policy/learn.c src/policy/dnstypes.c src/policy/parse.c src/policy/presets.c src/policy/print.c src/policy/query.c src/base/json.c src/base/buf.c src/base/err.c src/base/jsontext.c src/base/utf8.c src/base/log.c */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "policy/policy.h"
#include "policy/query.h"

const char fuzz_name[] = "policy";
const size_t fuzz_max = 2048;

void fuzz_init(void)
{
}

static void print(const struct policy *p, struct buf *to)
{
	for (unsigned l = 0; l < policy_layers(p); l++) {
		const struct layer layer = policy_layer(p, l);

		buf_add_text(to, l ? "within\n" : "");
		buf_add_text(to, layer.inherits ? "use parent\n" : "");
		for (unsigned i = layer.first; i < layer.end; i++) {
			FUZZ_CHECK(policy_rule(p, i)->layer == l);
			rule_print(policy_rule(p, i), to);
			buf_add_text(to, "\n");
		}
	}
}

/* What follows "within" never allows more, and nothing is more than "use parent". */
static void narrow(const struct policy *p)
{
	static const char *const own[] = { "use parent", "allow net *:* any" };
	struct ip a = { { [10] = 0xff, 0xff, 8, 8, 8, 8 } };
	struct net_question q = { .addr = &a, .port = 53, .protocol = NET_UDP, .program = "/x" };
	char **lines = xalloc((policy_nlines(p) + 1) * sizeof(*lines)), **list;

	for (unsigned i = 0; i < policy_nlines(p); i++)
		lines[i] = (char *)(uintptr_t)policy_line(p, i);
	lines[policy_nlines(p)] = NULL;
	for (unsigned i = 0; i < ARRAY_LEN(own); i++) {
		char *mine[] = { (char *)(uintptr_t)own[i], NULL };
		struct policy child;
		struct err e = { 0 };

		list = policy_within(lines, NULL, mine, &e);
		FUZZ_CHECK(list || e.kind);
		policy_init(&child);
		if (list && policy_words(&child, list, "child", NULL, &e) == 0) {
			FUZZ_CHECK(policy_net(p, &q).verdict == policy_net(&child, &q).verdict);
			FUZZ_CHECK(policy_files(p, "/etc/passwd", FILES_READ).verdict ==
				   policy_files(&child, "/etc/passwd", FILES_READ).verdict);
			FUZZ_CHECK(!strcmp(*policy_own(list), own[i]));
		}
		for (char **l = list; l && *l; l++)
			free(*l);
		free(list);
		policy_fini(&child);
	}
	free(lines);
}

static void ask(const struct policy *p)
{
	struct ip a = { { [10] = 0xff, 0xff, 127, 0, 0, 1 } };
	struct net_question name = { .name = "a.example.org",
				     .port = 443,
				     .protocol = NET_WEB,
				     .program = "/usr/bin/curl",
				     .method = "GET",
				     .path = "/a/b" },
			    addr = { .addr = &a, .port = 80, .protocol = NET_TCP, .program = "" };
	struct decision d = policy_net(p, &addr);

	/* Nobody gets to this machine unless a rule lists it. */
	FUZZ_CHECK(d.verdict == VERDICT_DENY || d.opened ||
		   (d.rule && d.rule->net.kind == DEST_RANGE && d.rule->net.range.prefix >= 104));
	(void)policy_net(p, &name);
	(void)policy_address(p, &a, 80, NET_WEB);
	(void)policy_files(p, "/etc/passwd", FILES_ALL);
	(void)policy_exec(p, "/bin/sh");
	(void)policy_env(p, "HOME");
	(void)policy_tools(p, NULL, "x/y");
	(void)policy_cells(p, &(struct cells_question){ "debian", 1, 1 });
	FUZZ_CHECK(policy_has_net(p) || policy_net(p, &name).verdict == VERDICT_DENY);
}

/* The bytes as a question: an answer, or an error. */
static void query(const struct policy *p, const uint8_t *data, size_t size)
{
	char *text = xstrndup((const char *)data, size);
	struct policy_query q = { .connect = text };
	struct buf b = { 0 };
	struct err e = { 0 };

	FUZZ_CHECK(policy_answer(p, &q, &b, &e) == 0 || e.kind);
	q = (struct policy_query){ .file = text, .access = text };
	FUZZ_CHECK(policy_answer(p, &q, &b, &e) == 0 || e.kind);
	buf_free(&b);
	free(text);
}

void fuzz_one(const uint8_t *data, size_t size)
{
	struct policy p, again;
	struct buf first = { 0 }, second = { 0 };
	struct err e = { 0 };

	policy_init(&p);
	policy_init(&again);
	query(&p, data, size);
	if (policy_parse(&p, (const char *)data, size, "fuzz", 1, 1, &e) == 0) {
		(void)!policy_check(&p, &e);
		ask(&p);
		narrow(&p);
		print(&p, &first);
		FUZZ_CHECK(policy_parse(&again, (const char *)first.p, first.len, "again", 1, 1,
					&e) == 0);
		print(&again, &second);
		FUZZ_CHECK(first.len == second.len &&
			   (!first.len || !memcmp(first.p, second.p, first.len)));
	}
	buf_free(&first);
	buf_free(&second);
	policy_fini(&p);
	policy_fini(&again);
}
