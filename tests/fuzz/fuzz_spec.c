/* A cell's settings as JSON, as the API and a keeper read them. What is taken must be written and
 * read again as the same. */
/* objects: src/policy/address.c src/policy/cover.c src/policy/decide.c src/policy/glob.c src/policy/dnstypes.c src/policy/parse.c src/policy/presets.c src/spec/args.c src/spec/json.c src/spec/settings.c src/spec/hosts.c src/spec/mounts.c src/spec/ports.c src/spec/envfile.c src/spec/ulimits.c src/spec/values.c src/base/json.c src/base/jsontext.c src/base/buf.c src/base/err.c src/base/utf8.c src/store/disktree.c src/store/files.c src/base/crc32c.c src/base/log.c */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "spec/options.h"

const char fuzz_name[] = "spec";
const size_t fuzz_max = 4096;

void fuzz_init(void)
{
}

static char *written(const struct run_options *o)
{
	struct buf b = { 0 };

	buf_add_text(&b, "{");
	run_options_write(o, 0, &b);
	buf_add(&b, "}", 2);
	return (char *)b.p;
}

void fuzz_one(const uint8_t *data, size_t size)
{
	struct run_options o = { 0 }, again = { 0 };
	struct err e = { 0 };

	if (run_options_read(&o, (const char *)data, size, &e) == 0) {
		char *first = written(&o), *second;

		FUZZ_CHECK(o.nmounts <= ARRAY_LEN(o.mounts));
		FUZZ_CHECK(!o.memory || o.memory >= 4 << 20);
		FUZZ_CHECK(run_options_read(&again, first, strlen(first), &e) == 0);
		second = written(&again);
		FUZZ_CHECK(!strcmp(first, second));
		free(first);
		free(second);
	} else {
		FUZZ_CHECK(e.kind > ERR_NONE && e.kind < ERR_END);
		FUZZ_CHECK(e.message[0]);
	}
	run_options_fini(&o);
	run_options_fini(&again);
}
