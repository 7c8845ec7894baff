/* A cell's settings as JSON, as the API and a keeper read them. What is taken must be written and
 * read again as the same. A sub-cell of such a cell that asks for the same gets it or an error, and
 * from the host nothing but what is below its parent's mounts. */
/* objects: src/policy/address.c src/policy/compile.c src/policy/compiled.c src/policy/cover.c src/policy/decide.c src/policy/glob.c src/policy/layers.c src/policy/dnstypes.c src/policy/parse.c src/policy/presets.c src/policy/print.c src/spec/args.c src/spec/attenuate.c src/spec/json.c src/spec/journal.c src/spec/settings.c src/spec/hosts.c src/spec/mounts.c src/spec/ports.c src/spec/envfile.c src/spec/ulimits.c src/spec/values.c src/base/json.c src/base/jsontext.c src/base/buf.c src/base/err.c src/base/utf8.c src/store/disktree.c src/store/files.c src/base/crc32c.c src/base/log.c */
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

/* Asks for what it has, by the paths that it has it at, and for what it has from the host. */
static void attenuate(const struct run_options *o, const char *json)
{
	struct run_options child = { 0 };
	struct err e = { 0 };

	FUZZ_CHECK(run_options_read(&child, json, strlen(json), &e) == 0);
	for (unsigned i = 0; i < child.nmounts; i++) {
		if (child.mounts[i].src && i % 3)
			child.mounts[i].src = child.mounts[i].dst;
		if (i % 5)
			child.mounts[i].subpath = NULL;
	}
	if (spec_attenuate(o, &child, &e) < 0) {
		FUZZ_CHECK(e.kind > ERR_NONE && e.kind < ERR_END && e.message[0]);
	} else {
		FUZZ_CHECK(!child.ports || !child.ports[0]);
		FUZZ_CHECK(child.nmounts <= ARRAY_LEN(child.mounts));
		FUZZ_CHECK(run_journal(&child) >= run_journal(o));
		for (unsigned i = 0; i < child.nmounts; i++) {
			const struct run_mount *m = &child.mounts[i];
			bool found = !m->src && !m->volume;

			FUZZ_CHECK(m->nofollow && (!m->subpath || subpath_is_valid(m->subpath)));
			for (unsigned k = 0; k < o->nmounts && !found; k++)
				found = (m->volume && o->mounts[k].volume &&
					 !strcmp(m->volume, o->mounts[k].volume)) ||
					(m->src && o->mounts[k].src &&
					 !strncmp(m->src, o->mounts[k].src,
						  strlen(o->mounts[k].src)));
			FUZZ_CHECK(found);
		}
	}
	run_options_fini(&child);
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
		attenuate(&o, first);
		free(first);
		free(second);
	} else {
		FUZZ_CHECK(e.kind > ERR_NONE && e.kind < ERR_END);
		FUZZ_CHECK(e.message[0]);
	}
	run_options_fini(&o);
	run_options_fini(&again);
}
