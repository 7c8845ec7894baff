/* vivarium.yaml, as anybody may write it. What is read must be bounded and whole, and a message
 * must have nothing of a variable's value in it. */
/* objects: src/daemon/yaml/yaml.c src/daemon/yaml/yvars.c src/daemon/yaml/yschema.c src/daemon/projects/keys.c src/daemon/automation/keys.c src/daemon/schedules/cronexpr.c src/daemon/schedules/tzif.c src/daemon/schedules/when.c src/daemon/workflows/def.c src/daemon/workflows/steps.c src/daemon/workflows/value.c src/daemon/workflows/expr.c src/daemon/workflows/inputs.c src/daemon/projects/file.c src/daemon/cells/cellspec.c src/daemon/cells/cellstate.c src/daemon/state/fields.c src/policy/address.c src/policy/cover.c src/policy/decide.c src/policy/glob.c src/policy/layers.c src/policy/dnstypes.c src/policy/parse.c src/policy/presets.c src/policy/print.c src/spec/args.c src/spec/json.c src/spec/settings.c src/spec/hosts.c src/spec/mounts.c src/spec/ports.c src/spec/envfile.c src/spec/ulimits.c src/spec/values.c src/base/json.c src/base/jsontext.c src/base/limit.c src/store/disk.c src/store/disktree.c src/store/chain.c src/store/collect.c src/store/files.c src/base/crc32c.c src/base/buf.c src/base/err.c src/base/utf8.c src/base/log.c */
/* libraries: -lyaml -ljansson -lm */
#include <stdlib.h>
#include <string.h>

#include "daemon/projects/file.h"
#include "fuzz.h"

const char fuzz_name[] = "yaml";
const size_t fuzz_max = 4096;

static const char secret[] = "qZ7-hidden-value";
static json_t *vars;

void fuzz_init(void)
{
	vars = json_pack("{s:s,s:s,s:s,s:s}", "S", secret, "A", secret, "N", "2", "E", "");
}

static void cells_check(const struct project_file *p)
{
	unsigned sum = 0;
	const char *name;
	const json_t *o;

	FUZZ_CHECK(p->name[0] && p->ncells <= PROJECT_MAX_CELLS &&
		   p->ngroups <= PROJECT_MAX_GROUPS);
	for (unsigned i = 0; i < p->ngroups; i++) {
		const struct project_group *g = &p->groups[i];

		FUZZ_CHECK(json_is_object(g->spec) && g->first == sum && g->order);
		for (unsigned k = 0; k < g->ndeps; k++)
			FUZZ_CHECK(p->groups[g->deps[k].group].order < g->order);
		sum += g->ncells;
	}
	FUZZ_CHECK(sum == p->ncells);
	FUZZ_CHECK(json_object_size(p->workflows) <= PROJECT_MAX_WORKFLOWS &&
		   json_object_size(p->schedules) <= PROJECT_MAX_SCHEDULES);
	json_object_foreach(p->schedules, name, o) {
		FUZZ_CHECK(strlen(name) <= CELL_NAME_LEN && !strcmp(json_string_value(json_object_get(o, "name")), name));
		o = json_object_get(o, "workflow");
		FUZZ_CHECK(!o || json_object_get(p->workflows, json_string_value(json_object_get(o, "name"))));
	}
}

void fuzz_one(const uint8_t *data, size_t size)
{
	/* In memory of exactly that size, so that reading behind it shows. */
	char *text = malloc(size ? size : 1);
	struct project_input in = { .text = text,
				    .size = size,
				    .file = "f",
				    .dir = "/nowhere",
				    .fallback = "p",
				    .vars = vars };
	struct project_file p;
	struct err f = { 0 };

	if (!text)
		return;
	memcpy(text, data, size);
	if (project_file_read(&in, &p, &f) == 0) {
		cells_check(&p);
	} else {
		FUZZ_CHECK(err_http(&f) == 400 && f.message[0]);
		FUZZ_CHECK(!strstr(f.message, secret) && !strstr(f.remedy, secret));
	}
	project_file_free(&p);
	free(text);
}
