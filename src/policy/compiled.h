/* The compiled form of a policy: what the kernel of a cell decides by.
 *
 * It has the rules of the scopes files and exec, which are the kernel's to decide; net is the
 * gate's, env the keeper's, tools and cells vivd's. Each rule knows its layer: every layer must
 * allow (policy.h); one without rules here allows all. It is one block of bytes without pointers: a
 * head, the rules in their order, then their strings. The keeper makes it (compile.c) and hands it
 * over in a sealed memory file; the kernel checks all of it once (compiled_check()), decides from
 * it in place, and replaces it as a whole. Nothing here allocates. */
#ifndef VIV_POLICY_COMPILED_H
#define VIV_POLICY_COMPILED_H

#include "base/base.h"

enum verdict { VERDICT_DENY, VERDICT_ALLOW, VERDICT_ASK };
enum scope { SCOPE_NET, SCOPE_FILES, SCOPE_EXEC, SCOPE_ENV, SCOPE_TOOLS, SCOPE_CELLS };

#define FILES_READ 1u
#define FILES_WRITE 2u
#define FILES_CREATE 4u
#define FILES_DELETE 8u
#define FILES_ALL 15u

#define POLICY_MAX_RULES 4096
#define POLICY_MAX_LAYERS 8
#define GLOB_MAX 1024
#define COMPILED_MAX_BYTES (16u << 20)
#define COMPILED_MAGIC 0x31696c6f70766976UL

struct compiled_rule {
	uint8_t verdict, scope, access, layer; /* layers never go down */
	uint32_t glob, text; /* offsets of strings: the pattern, and the whole rule */
};

struct compiled_head {
	uint64_t magic;
	uint32_t size, nrules;
	struct compiled_rule rules[];
};

/* What was checked. All zeros: no rules, everything is allowed. */
struct compiled {
	const struct compiled_head *head;
	bool restricts; /* some rule does not allow */
	unsigned restricts_exec; /* ... of scope exec: a bit for each layer */
};

/* 0, or -EINVAL. bytes are aligned to 8 and stay as long as *ret is used. */
int must_check compiled_check(const void *bytes, size_t size, struct compiled *ret);

/* access: FILES_ bits, every one of which must be allowed; 0 for SCOPE_EXEC. *ret_rule is the text
 * of the rule that decides, NULL: none did. Of several layers that are as strict, the last. */
enum verdict compiled_decide(const struct compiled *c, enum scope scope, const char *path,
			     unsigned access, const char **ret_rule);
/* What is at one path is to be used by another one: the strictest answer that a layer gives to the
 * first, and does not give to the second. access: one FILES_, or 0 for SCOPE_EXEC. */
enum verdict compiled_escape(const struct compiled *c, enum scope scope, const char *at,
			     const char *to, unsigned access, const char **ret_rule);
/* May something else be put in the place of dir? Not where a rule keeps files from being changed,
 * and not where a rule allows programs while others are restricted. */
bool compiled_may_cover(const struct compiled *c, const char *dir);
/* May a directory be moved? Each layer says the same about every path below a as about the same
 * path below b, or has no rule near both that does not allow. */
bool compiled_may_move(const struct compiled *c, const char *a, const char *b);

/* ---- patterns (glob.c) ---- */

/* '*': any characters but '/'; '**': any; '?': one but '/'. */
bool glob_match(const char *glob, const char *text);
/* Does it match text, or a text that begins with text and '/'? */
bool glob_is_near(const char *glob, const char *text);
/* Does it match the same texts after "a/" as after "b/"? Only what is sure counts. */
bool glob_is_same(const char *glob, const char *a, const char *b);
/* NULL, or what is wrong with it. */
const char *glob_wrong(const char *glob);

#endif
