/* The compiled form of a policy against the rules that it was made of, with random rules and paths;
 * what is said about all paths below a directory, against paths below it; damaged bytes. */
/* objects: src/policy/ src/base/buf.c src/base/err.c src/base/jsontext.c src/base/utf8.c src/base/log.c */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy/policy.h"
#include "tap.h"

static const char *const parts[] = { "a", "b", "c", "*", "**", "?", "a*", "*b", "**c", "ab" };
static const char *const names[] = { "a", "b", "c", "ab", "abc", "ac" };

static unsigned pick(unsigned n)
{
	return (unsigned)(random() % n);
}

/* Of up to n pieces, each behind a '/'. */
static void text_make(char *to, const char *const *from, unsigned count, unsigned n)
{
	n = pick(n) + 1;
	*to = '\0';
	while (n--)
		strcat(strcat(to, "/"), from[pick(count)]);
}

static void rule_make(struct buf *to)
{
	static const char *const verdicts[] = { "allow", "deny", "ask" };
	static const char *const access[] = { "read", "write", "create", "delete" };
	char line[256], glob[128];
	bool files = pick(3);

	text_make(glob, parts, ARRAY_LEN(parts), 4);
	snprintf(line, sizeof(line), "%s %s %s", verdicts[pick(3)], files ? "files" : "exec", glob);
	if (files && pick(2))
		sprintf(line + strlen(line), pick(2) ? " %s" : " %s,create", access[pick(4)]);
	buf_add_text(to, strcat(line, "\n"));
}

struct pair {
	struct policy p;
	struct buf bytes;
	struct compiled c;
};

static void pair_make(struct pair *r)
{
	struct buf text = { 0 };
	struct err e;

	*r = (struct pair){ 0 };
	policy_init(&r->p);
	for (unsigned n = pick(6) + 1; n--;) {
		if (n < 3 && !pick(6))
			buf_add_text(&text, "within\n");
		rule_make(&text);
	}
	buf_add_text(&text, "allow net example.org\ndeny env X\n");
	if (policy_parse(&r->p, (const char *)text.p, text.len, "p", 1, 1, &e) < 0) {
		printf("Bail out! %s\n", err_line(&e).str);
		exit(1);
	}
	policy_compile(&r->p, &r->bytes);
	if (compiled_check(r->bytes.p, r->bytes.len, &r->c) < 0) {
		printf("Bail out! not what it should be:\n%s", (const char *)text.p);
		exit(1);
	}
	buf_free(&text);
}

static void pair_free(struct pair *r)
{
	policy_fini(&r->p);
	buf_free(&r->bytes);
}

static bool agrees(struct pair *r, const char *path, unsigned access)
{
	const char *rule;
	bool exec = access > FILES_ALL;
	struct decision d = exec ? policy_exec(&r->p, path) : policy_files(&r->p, path, access);
	enum verdict v = compiled_decide(&r->c, exec ? SCOPE_EXEC : SCOPE_FILES, path,
					 exec ? 0 : access, &rule);
	struct buf text = { 0 };
	bool same = v == d.verdict && !rule == !d.rule;

	if (d.rule)
		rule_print(d.rule, &text);
	same = same && (!rule || !strcmp(rule, (const char *)text.p));
	buf_free(&text);
	return same;
}

static void decisions(void)
{
	unsigned wrong = 0, restricted = 0;

	for (unsigned i = 0; i < 3000; i++) {
		struct pair r;

		pair_make(&r);
		for (unsigned k = 0; k < 20; k++) {
			char path[128];
			const char *rule;

			text_make(path, names, ARRAY_LEN(names), 5);
			wrong += !agrees(&r, path, pick(16)) || !agrees(&r, path, FILES_ALL + 1);
			restricted += compiled_decide(&r.c, SCOPE_FILES, path, FILES_READ, &rule) !=
				      VERDICT_ALLOW;
		}
		pair_free(&r);
	}
	eq(wrong, 0, "the compiled form decides as the rules do");
	ok(restricted > 1000, "and not always to allow");
}

static void directories(void)
{
	unsigned wrong = 0, moves = 0;

	for (unsigned i = 0; i < 3000; i++) {
		char a[128], b[128];
		struct pair r;
		bool moved;

		pair_make(&r);
		text_make(a, names, ARRAY_LEN(names), 3);
		text_make(b, names, ARRAY_LEN(names), 3);
		moves += moved = compiled_may_move(&r.c, a, b);
		for (unsigned k = 0; k < 30; k++) {
			char below[128], in_a[256], in_b[256];
			const char *x, *y;

			text_make(below, names, ARRAY_LEN(names), 3);
			snprintf(in_a, sizeof(in_a), "%s%s", a, below);
			snprintf(in_b, sizeof(in_b), "%s%s", b, below);
			for (unsigned bit = 1; bit <= FILES_ALL + 1; bit <<= 1) {
				enum scope s = bit > FILES_ALL ? SCOPE_EXEC : SCOPE_FILES;
				unsigned access = bit > FILES_ALL ? 0 : bit;
				enum verdict va = compiled_decide(&r.c, s, in_a, access, &x);
				enum verdict vb = compiled_decide(&r.c, s, in_b, access, &y);

				wrong += moved && va != vb;
			}
		}
		pair_free(&r);
	}
	eq(wrong, 0,
	   "where a directory may be moved, the rules say the same for all that is below");
	ok(moves > 100 && moves < 2900, "and some may, some not");
	ok(glob_is_near("/etc/**", "/etc") && glob_is_near("/etc/**", "/") &&
		   glob_is_near("/etc", "/etc") && !glob_is_near("/etc/**", "/et"),
	   "near is at, above or below");
	ok(glob_is_same("**/.env", "/a", "/b") && !glob_is_same("/a/**", "/a", "/b") &&
		   !glob_is_same("**/.git/**", "/x/.git", "/x/y"),
	   "a pattern that begins with ** says the same everywhere, until it has begun to match");
}

/* Damage is found, or harmless. */
static void damage(void)
{
	unsigned bad = 0;

	for (unsigned i = 0; i < 3000; i++) {
		struct pair r;
		struct compiled c;
		const char *rule;
		uint8_t *copy;
		size_t n;

		pair_make(&r);
		n = pick(8) ? r.bytes.len : pick((unsigned)r.bytes.len);
		copy = malloc(n + 1);
		memcpy(copy, r.bytes.p, n);
		for (unsigned k = pick(3); n && k--;)
			copy[pick((unsigned)(pick(2) ? n : MIN(n, (size_t)40)))] ^=
				(uint8_t)(1u << pick(8));
		if (compiled_check(copy, n, &c) == 0) {
			compiled_decide(&c, SCOPE_FILES, "/a/b", FILES_ALL, &rule);
			compiled_decide(&c, SCOPE_EXEC, "/a/b", 0, &rule);
			compiled_may_move(&c, "/a", "/b");
			compiled_escape(&c, SCOPE_EXEC, "/a/b", "/a/c", 0, &rule);
		} else {
			bad++;
		}
		free(copy);
		pair_free(&r);
	}
	ok(bad > 300, "damaged bytes are refused");
}

int main(void)
{
	struct compiled none = { 0 };
	const char *rule;

	srandom(14);
	eq(compiled_decide(&none, SCOPE_FILES, "/x", FILES_ALL, &rule), VERDICT_ALLOW,
	   "without rules everything is allowed");
	decisions();
	directories();
	damage();
	return tap_end();
}
