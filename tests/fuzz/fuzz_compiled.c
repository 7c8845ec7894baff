/* The compiled form of a policy, as the kernel reads it. A first byte of 0 or 1: the input is all
 * of it; else it is patched over one that is well made (offset, length, bytes). */
/* objects: src/policy/address.c src/policy/compile.c src/policy/compiled.c src/policy/cover.c src/policy/decide.c src/policy/glob.c src/policy/layers.c src/policy/dnstypes.c src/policy/parse.c src/policy/presets.c src/policy/print.c src/base/buf.c src/base/err.c src/base/jsontext.c src/base/utf8.c src/base/log.c */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "policy/policy.h"

const char fuzz_name[] = "compiled";
const size_t fuzz_max = 2048;

static struct buf good;

void fuzz_init(void)
{
	static const char text[] = "deny files /etc/** write,create\nask exec **/git\n"
				   "allow files /etc/?pt/*\nwithin\nwithin\ndeny files **/.env\n"
				   "deny exec **\nwithin\nask files /etc/**\n";
	struct policy p;
	struct err e;

	policy_init(&p);
	if (policy_parse(&p, text, strlen(text), "p", 1, 1, &e) < 0 || !policy_compile(&p, &good))
		exit(2);
	policy_fini(&p);
}

void fuzz_one(const uint8_t *data, size_t size)
{
	size_t len = size && data[0] < 2 ? size - 1 : good.len;
	struct compiled c;
	const char *rule;
	uint8_t *bytes;

	if (!size)
		return;
	bytes = malloc(len ? len : 1);
	if (!bytes)
		return;
	memcpy(bytes, data[0] < 2 ? data + 1 : good.p, len);
	for (size_t at = 1; data[0] >= 2 && at + 3 <= size;) {
		size_t off = data[at] % len, n = MIN(MIN(data[at + 1], size - at - 2), len - off);

		memcpy(bytes + off, data + at + 2, n);
		at += 2 + n;
	}
	if (compiled_check(bytes, len, &c) == 0) {
		enum verdict v = compiled_decide(&c, SCOPE_FILES, "/etc/apt/x", FILES_ALL, &rule);

		FUZZ_CHECK(v == VERDICT_ALLOW || (rule && c.restricts));
		v = compiled_decide(&c, SCOPE_EXEC, "/usr/bin/git", 0, &rule);
		FUZZ_CHECK(v == VERDICT_ALLOW || (rule && c.restricts_exec));
		FUZZ_CHECK(compiled_may_move(&c, "/a/b", "/a/b"));
		v = compiled_escape(&c, SCOPE_FILES, "/etc/apt/x", "/y", FILES_READ, &rule);
		FUZZ_CHECK((v == VERDICT_ALLOW) == !rule);
		/* One layer lets go what another one still holds, never more than is held. */
		FUZZ_CHECK(v == VERDICT_ALLOW ||
			   compiled_decide(&c, SCOPE_FILES, "/etc/apt/x", FILES_READ, &rule) !=
				   VERDICT_ALLOW);
		(void)compiled_may_cover(&c, "/etc");
	}
	free(bytes);
}
