/* The command line of viv run: words are separated by a NUL or a line end. What is accepted must be
 * sane: mounts below /, sizes that are not 0. */
/* objects: src/keeper/options.c src/keeper/rules.c src/policy/compile.c src/policy/compiled.c src/policy/address.c src/policy/cover.c src/policy/decide.c src/policy/glob.c src/policy/layers.c src/policy/dnstypes.c src/policy/parse.c src/policy/presets.c src/policy/print.c src/spec/args.c src/spec/json.c src/spec/journal.c src/spec/settings.c src/spec/hosts.c src/spec/mounts.c src/spec/ports.c src/spec/envfile.c src/spec/ulimits.c src/spec/values.c src/base/json.c src/base/jsontext.c src/base/buf.c src/base/err.c src/base/utf8.c src/base/log.c src/store/disktree.c src/store/files.c src/base/crc32c.c */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "keeper/run.h"
#include "keeper/secrets.h"
#include "fuzz.h"

/* Another program is asked for the values of secrets; that is not part of this. */
int secrets_read(struct run_options *o, struct err *e)
{
	(void)o, (void)e;
	return 0;
}

const char fuzz_name[] = "options";
const size_t fuzz_max = 1024;

void fuzz_init(void)
{
	if (!freopen("/dev/null", "w", stdin) || dup2(open("/dev/null", 1), 3) < 0)
		exit(2);
}

void fuzz_one(const uint8_t *data, size_t size)
{
	char *text = calloc(1, size + 1), *argv[66] = { text };
	struct ulimit limits[SPEC_ULIMITS];
	struct run_options o = { 0 };
	struct err e;
	int argc = 1;

	if (!text)
		return;
	for (size_t i = 0; i < size; i++)
		text[i] = data[i] == '\n' ? 0 : (char)data[i];
	for (char *p = text; p < text + size && argc < 65; p += strlen(p) + 1)
		argv[argc++] = p;
	/* Help is printed, and tells nothing; files of the host are none of our business. */
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], "-h") || !strncmp(argv[i], "--help", 6) ||
		    !strncmp(argv[i], "--env-file", 10))
			goto out;
	if (run_options_parse(&o, argc, argv, &e) == 0 && run_options_finish(&o, false, &e) == 0) {
		FUZZ_CHECK(o.argv && o.argv[0] && o.env);
		FUZZ_CHECK(o.nmounts <= ARRAY_LEN(o.mounts));
		for (unsigned i = 0; i < o.nmounts; i++) {
			const char *d = o.mounts[i].dst;

			FUZZ_CHECK(d[0] == '/' && d[1] && d[strlen(d) - 1] != '/');
			FUZZ_CHECK(!o.mounts[i].src || *o.mounts[i].src);
		}
		for (unsigned i = 0, n = run_ulimits(&o, limits); i < n; i++)
			FUZZ_CHECK(limits[i].soft <= limits[i].hard &&
				   limits[i].resource < SPEC_ULIMITS);
		FUZZ_CHECK(o.timeout_ns >= 0 && (!o.memory || o.memory >= 4 << 20));
		FUZZ_CHECK(o.uid != UINT32_MAX && o.gid != UINT32_MAX && o.user_name);
	}
out:
	run_options_fini(&o);
	free(text);
}
