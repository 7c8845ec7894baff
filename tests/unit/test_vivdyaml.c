/* vivarium.yaml: what is wrong is found, told with its place, and told without values; what is
 * right becomes specs.
 *
 * yaml-bad.txt has wrong files, each followed by a line "=> LINE:COLUMN: MESSAGE". The variable
 * SECRET is set for all of them. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "daemon/projects/file.h"
#include "store/files.h"
#include "tap.h"

static const char secret[] = "s3cr3t-value";
static char big[1001];
static struct err f;

static int file_read(const char *text, const char *dir, struct project_file *p)
{
	json_t *vars = json_pack("{s:s,s:s,s:s,s:s,s:s}", "SECRET", secret, "EMPTY", "", "N", "3",
				 "MORE", "a: [b\n*c\n\"'#", "BIG", big);
	struct project_input in = { .text = text,
				    .size = strlen(text),
				    .file = "f.yaml",
				    .dir = dir,
				    .fallback = "proj",
				    .vars = vars };
	int err;

	f = (struct err){ 0 };
	err = project_file_read(&in, p, &f);
	json_decref(vars);
	return err;
}

static void message_make(char *to, size_t size)
{
	snprintf(to, size, "%s", err_line(&f).str);
}

/* text: the wrong file; want: what is to be told. */
static void bad_check(const char *text, const char *want)
{
	char got[2000], all[1100];
	struct project_file p;
	int err = file_read(text, NULL, &p);

	message_make(got, sizeof(got));
	snprintf(all, sizeof(all), "f.yaml:%s", want);
	ok(err == -1 && !strcmp(got, all), want);
	if (strcmp(got, all))
		printf("# got => %s\n", got);
	if (strstr(got, secret))
		ok(false, "the message has a variable's value in it");
	project_file_free(&p);
}

static void bad(void)
{
	char *all = NULL, *at, *end, *line;
	int n = 0;

	if (!ok(file_read_all(-100, "tests/unit/yaml-bad.txt", 1 << 20, &all, NULL) == 0,
		"the list of wrong files"))
		return;
	for (at = all; (end = strstr(at, "\n=> ")); at = line + 1) {
		line = strchr(end + 4, '\n');
		end[1] = '\0';
		*line = '\0';
		bad_check(at, end + 4);
		n++;
	}
	ok(n > 80, "all of it was read");
	free(all);
}

static char *dump(const json_t *v)
{
	return json_dumps(v, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);
}

static void spec_is(const struct project_file *p, unsigned i, const char *want, const char *what)
{
	char *text = i < p->ngroups ? dump(p->groups[i].spec) : NULL;

	ok(text && !strcmp(text, want), what);
	if (!text || strcmp(text, want))
		printf("# got %s\n", text ? text : f.message);
	free(text);
}

static void one(const char *text, const char *want, const char *what)
{
	struct project_file p;

	file_read(text, "/dir", &p);
	spec_is(&p, 0, want, what);
	project_file_free(&p);
}

static void good(void)
{
	struct project_file p;

	one("cells: {a: }", "{}", "a cell with nothing");
	one("cells: {a: {image: 'x:1', command: [sh, -c, 'echo $$HOME', 5, 1.50, no], user: 1000}}",
	    "{\"command\":[\"sh\",\"-c\",\"echo "
	    "$HOME\",\"5\",\"1.50\",\"no\"],\"image\":\"x:1\",\"user\":\"1000\"}",
	    "texts as they are written");
	one("cells: {a: {env: {P: 8080, S: '${SECRET}', D: '${NONE:-d}', E: 'x${EMPTY}y', F: "
	    "'${EMPTY:-f}', G: 'a$$b'}}}",
	    "{\"env\":{\"D\":\"d\",\"E\":\"xy\",\"F\":\"f\",\"G\":\"a$b\",\"P\":\"8080\",\"S\":"
	    "\"s3cr3t-value\"},"
	    "\"hidden_env\":[\"S\",\"D\",\"E\",\"F\"]}",
	    "variables");
	one("cells: {a: {env: {X: '${MORE}'}}}",
	    "{\"env\":{\"X\":\"a: [b\\n*c\\n\\\"'#\"},\"hidden_env\":[\"X\"]}",
	    "a value is a text, whatever is in it");
	one("cells: {a: {limits: {cpus: 1.5, memory: 64M, pids: 10, disk: 1GiB, inodes: 1000}}}",
	    "{\"limits\":{\"cpus\":1.5,\"disk\":1073741824,\"inodes\":1000,\"memory\":67108864,"
	    "\"pids\":10}}",
	    "limits");
	one("cells: {a: {timeout: 1m, stop_grace: 500ms, idle_timeout: 2.5}}",
	    "{\"idle_timeout\":2.5,\"stop_grace\":0.5,\"timeout\":60.0}", "times");
	one("cells: {a: {restart: always}}", "{\"restart\":{\"policy\":\"always\"}}", "restart");
	one("cells: {a: {restart: {policy: no, max: 2}}}",
	    "{\"restart\":{\"max\":2,\"policy\":\"no\"}}", "with more");
	one("cells: {a: {mounts: [{source: ./x/y, target: /t, readonly: true}, {source: "
	    "'s3://b/p', target: /s}, {tmpfs: true, target: /m, size: 1M},"
	    " {volume: v, target: /v}]}}\nvolumes: {v: }",
	    "{\"mounts\":[{\"readonly\":true,\"source\":\"/dir/x/y\",\"target\":\"/"
	    "t\"},{\"source\":\"s3://b/p\",\"target\":\"/s\"},"
	    "{\"size\":1048576,\"target\":\"/m\",\"tmpfs\":true},{\"target\":\"/"
	    "v\",\"volume\":\"v\"}]}",
	    "mounts");
	eq(file_read("name: own\ncells:\n  web: {replicas: \"${N}\", depends_on: {db: {condition: "
		     "exited}, c: }}\n  db:\n  c: {depends_on: [db]}\n"
		     "volumes: {x: {external: true}, y: {}}",
		     NULL, &p),
	   0, "replicas and dependencies");
	ok(!strcmp(p.name, "own"), "the file's name");
	ok(p.ncells == 5 && !strcmp(p.cells[0].name, "web-1") &&
		   !strcmp(p.cells[2].name, "web-3") && !strcmp(p.cells[3].name, "db"),
	   "are named by number");
	ok(p.groups[0].ndeps == 2 && p.groups[0].deps[0].group == 1 &&
		   p.groups[0].deps[0].condition == DEP_EXITED &&
		   p.groups[0].deps[1].condition == DEP_STARTED,
	   "with their conditions");
	ok(p.groups[1].order < p.groups[2].order && p.groups[2].order < p.groups[0].order,
	   "in an order");
	ok(p.nvolumes == 2 && p.volumes[0].external && !p.volumes[1].external, "volumes");
	ok(p.groups[0].numbered && !p.groups[0].each && !p.groups[1].numbered, "by a number");
	project_file_free(&p);
	eq(file_read("cells: {a: {replicas: [{A: 1, B: '${SECRET}'}, {}], env: {C: '${SECRET}'}}}",
		     NULL, &p),
	   0, "replicas by a list");
	ok(p.ncells == 2 && p.cells[1].replica == 2 && json_array_size(p.groups[0].each) == 2,
	   "as many as it has maps");
	ok(json_array_size(json_object_get(p.groups[0].spec, "hidden_env")) == 2 &&
		   !json_object_get(p.groups[0].spec, "replicas"),
	   "with values that are not shown");
	project_file_free(&p);
	eq(file_read("cells: {a: {agent: x, prompt_file: hostname}, b: {agent: y, prompt: 12}}",
		     "/etc", &p),
	   0, "agents");
	ok(!strcmp(p.groups[0].agent, "x") && *p.groups[0].prompt &&
		   !strcmp(p.groups[1].prompt, "12") && !json_object_size(p.groups[0].spec),
	   "with their prompts, which are not part of the cell's spec");
	project_file_free(&p);
	eq(file_read("cells: {a: {files: [{path: /a, content: '${SECRET}', mode: 0600}, {path: /b, "
		     "from: hostname}]}}",
		     "/etc", &p),
	   0, "files");
	ok(!strcmp(p.name, "proj"), "a name for a file that has none");
	ok(json_array_size(p.groups[0].files) == 2, "both");
	ok(!strcmp(json_string_value(
			   json_object_get(json_array_get(p.groups[0].files, 0), "bytes")),
		   secret),
	   "their content");
	eq(json_integer_value(json_object_get(json_array_get(p.groups[0].files, 0), "mode")), 0600,
	   "their mode");
	project_file_free(&p);
}

/* Texts that are small and would be large. */
static void large(void)
{
	struct project_file p;
	struct buf b = { 0 };
	char line[64];

	for (int i = 0; i < 100000; i++)
		buf_add(&b, "[", 1);
	buf_add(&b, "", 1);
	eq(file_read((char *)b.p, NULL, &p), -1, "deep");
	ok(strstr(f.message, "levels deep") != NULL, "is told so");
	project_file_free(&p);
	buf_free(&b);
	b = (struct buf){ 0 };
	buf_add_text(&b, "cells: {a: {command: [");
	for (int i = 0; i < 30000; i++)
		buf_add_text(&b, "x,");
	buf_add(&b, "]}}", 4);
	eq(file_read((char *)b.p, NULL, &p), -1, "many values");
	ok(strstr(f.message, "more than 20000 values") != NULL, "are told so");
	project_file_free(&p);
	buf_free(&b);
	b = (struct buf){ 0 };
	buf_add_text(&b, "cells:\n");
	for (int i = 0; i < 300; i++) {
		snprintf(line, sizeof(line), "  c%d: {depends_on: [c%d]}\n", i, i + 1);
		buf_add_text(&b, line);
	}
	buf_add(&b, "", 1);
	eq(file_read((char *)b.p, NULL, &p), -1, "many cells");
	ok(strstr(f.message, "at most 256 cells") != NULL, "are told so");
	project_file_free(&p);
	buf_free(&b);
	b = (struct buf){ 0 };
	buf_add_text(&b, "cells: {a: {replicas: 900}, b: {replicas: 101}}");
	buf_add(&b, "", 1);
	eq(file_read((char *)b.p, NULL, &p), -1, "many replicas");
	ok(strstr(f.message, "at most 1000 cells") != NULL, "are told so");
	project_file_free(&p);
	buf_free(&b);
	b = (struct buf){ 0 };
	buf_add_text(&b, "cells: {a: {env: {X: '");
	for (int i = 0; i < 100000; i++)
		buf_add_text(&b, "${SECRET}");
	buf_add(&b, "'}}}", 5);
	eq(file_read((char *)b.p, NULL, &p), -1, "a value that becomes large");
	ok(strstr(f.message, "more than 1 MiB") != NULL, "is told so");
	project_file_free(&p);
	buf_free(&b);
	b = (struct buf){ 0 };
	memset(big, 'x', sizeof(big) - 1);
	buf_add_text(&b, "cells: {a: {env: {");
	for (int i = 0; i < 5; i++) {
		snprintf(line, sizeof(line), "X%d: '", i);
		buf_add_text(&b, line);
		for (int k = 0; k < 1000; k++)
			buf_add_text(&b, "${BIG}");
		buf_add_text(&b, "', ");
	}
	buf_add(&b, "}}}", 4);
	eq(file_read((char *)b.p, NULL, &p), -1, "values that become large together");
	ok(strstr(f.message, "more than 4 MiB") != NULL, "are told so");
	project_file_free(&p);
	buf_free(&b);
}

int main(void)
{
	bad();
	good();
	large();
	return tap_end();
}
