/* Definitions of agents, as anybody may write them, and the text that tells an agent about its cell,
 * made from names with any bytes. What is read is bounded and whole; no name adds a line to the text. */
/* objects: src/daemon/agents/def.c src/daemon/agents/rules.c src/daemon/yaml/yaml.c src/daemon/yaml/yvars.c src/daemon/yaml/yschema.c src/daemon/state/fields.c src/gate/secretread.c src/policy/address.c src/policy/cover.c src/policy/decide.c src/policy/glob.c src/policy/layers.c src/policy/dnstypes.c src/policy/parse.c src/policy/presets.c src/policy/print.c src/spec/values.c src/store/tags.c src/store/files.c src/base/jsontext.c src/base/limit.c src/base/buf.c src/base/err.c src/base/utf8.c src/base/log.c */
/* libraries: -lyaml -ljansson -lm */
#include <stdlib.h>
#include <string.h>

#include "daemon/agents/def.h"
#include "daemon/agents/prompt.h"
#include "fuzz.h"

const char fuzz_name[] = "agentdef";
const size_t fuzz_max = 4096;

void fuzz_init(void)
{
}

/* Any bytes as a name: one line in quotes that nothing in it ends, and that a terminal only shows. */
static void name_check(const uint8_t *data, size_t size)
{
	char text[1024];
	struct buf b = { 0 };
	size_t n = size < sizeof(text) - 1 ? size : sizeof(text) - 1;

	memcpy(text, data, n);
	text[n] = '\0';
	prompt_name(&b, text);
	FUZZ_CHECK(b.len >= 2 && b.len <= PROMPT_NAME_MAX + 2 && b.p[0] == '"' && b.p[b.len - 1] == '"');
	for (size_t i = 1; i < b.len - 1; i++)
		FUZZ_CHECK(b.p[i] >= ' ' && b.p[i] != '"' && b.p[i] != '`' && b.p[i] != 0x7f);
	buf_free(&b);
}

static void paths_check(const json_t *map)
{
	const char *path;
	json_t *v;

	json_object_foreach((json_t *)(uintptr_t)map, path, v) {
		FUZZ_CHECK(path[0] == '/' && !strchr(path, '\n') && !strstr(path, "/../") && !strstr(path, "//"));
		FUZZ_CHECK(json_is_string(v) && strlen(json_string_value(v)) <= AGENT_FILE_MAX);
	}
}

static void def_check(const struct agent_def *a)
{
	struct buf b = { 0 };
	unsigned lines = 0;

	FUZZ_CHECK(agent_name_is_valid(a->name) && a->image && a->home[0] == '/' && a->workdir[0] == '/');
	FUZZ_CHECK(a->command || a->acp || a->print);
	FUZZ_CHECK(json_array_size(a->command) <= AGENT_MAX_WORDS && json_array_size(a->secrets) <= AGENT_MAX_ITEMS);
	FUZZ_CHECK(json_object_size(a->packages) <= AGENT_MAX_ITEMS);
	paths_check(a->files);
	prompt_rules(a->network, &b);
	for (size_t i = 0; i < b.len; i++)
		lines += b.p[i] == '\n';
	FUZZ_CHECK(lines <= 2 * PROMPT_LINES_MAX + 40);
	buf_free(&b);
}

void fuzz_one(const uint8_t *data, size_t size)
{
	/* In memory of exactly that size, so that reading behind it shows. */
	char *text = malloc(size ? size : 1);
	struct agent_def a;
	struct err e = { 0 };

	name_check(data, size);
	if (!text)
		return;
	memcpy(text, data, size);
	if (agent_def_read(text, size, "f", NULL, &a, &e) == 0)
		def_check(&a);
	else
		FUZZ_CHECK(err_http(&e) == 400 && e.message[0] && !a.all);
	agent_def_free(&a);
	free(text);
}
