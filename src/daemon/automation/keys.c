/* The keys of vivarium.yaml that are no cells: workflows, which are files or stand there
 * themselves, and schedules. A schedule becomes what POST /v1/schedules takes, but for names of the
 * file, which file.c resolves. Neither takes variables: a schedule and a workflow are shown as they
 * are. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "daemon/cells/cellspec.h"
#include "daemon/projects/keys.h"
#include "daemon/schedules/schedules.h"
#include "daemon/schedules/when.h"
#include "daemon/workflows/def.h"
#include "daemon/workflows/value.h"
#include "keeper/run.h"
#include "store/files.h"

#define KEY(key, kind, ...)                                   \
	{                                                     \
		.name = key, .type = YKEY_##kind, __VA_ARGS__ \
	}

/* ---- workflows ---- */

/* A file that is named by its path. */
static json_t *workflow_file(struct yread *y, const struct ynode *n)
{
	const char *dir = container_of(y, struct project_reader, y)->in->dir;
	char path[4096], of[4096], *text = NULL, *slash;
	struct def_input in = { .file = path, .dir = of };
	json_t *doc;
	int err;

	if (n->text[0] != '/' && !dir) {
		yaml_note(y->f, &y->doc, n, "the path must be absolute here");
		return NULL;
	}
	if (snprintf(path, sizeof(path), "%s%s%s", n->text[0] == '/' ? "" : dir,
		     n->text[0] == '/' ? "" : "/", n->text) >= (int)sizeof(path)) {
		yaml_note(y->f, &y->doc, n, "the path is too long");
		return NULL;
	}
	err = file_read_all(AT_FDCWD, path, YAML_MAX_BYTES, &text, &in.size);
	if (err) {
		yaml_note(y->f, &y->doc, n, "cannot read the workflow's file: %s",
			  err == -EFBIG ? "it has more than 1 MiB" : strerror(-err));
		return NULL;
	}
	snprintf(of, sizeof(of), "%s", path);
	slash = strrchr(of, '/');
	slash[slash == of] = '\0';
	in.text = text;
	doc = def_read(&in, y->f);
	free(text);
	return doc;
}

int project_workflows_read(struct yread *y, struct ynode *n, json_t **ret)
{
	const struct project_input *p = container_of(y, struct project_reader, y)->in;
	const struct def_input in = { .file = y->doc.file, .dir = p->dir };
	json_t *doc;

	if (n->kind != YNODE_MAP)
		return yaml_wrong(y->f, &y->doc, n, "'workflows' must be a map");
	*ret = json_object();
	for (struct ynode *i = n->first; i; i = i->next) {
		if (!cell_name_is_valid(i->key->text))
			return yaml_wrong(y->f, &y->doc, i->key,
					  "this is not a valid name for a workflow" REMEDY
					  "use letters, digits, '.', '_' and '-'");
		if (json_object_size(*ret) == PROJECT_MAX_WORKFLOWS)
			return yaml_wrong(y->f, &y->doc, i->key, "a file has at most %d workflows",
					  PROJECT_MAX_WORKFLOWS);
		if (i->kind == YNODE_LIST || ynode_is_null(i))
			return yaml_wrong(y->f, &y->doc, i,
					  "a workflow is the path of its file, or a map with "
					  "'steps'");
		doc = i->kind == YNODE_TEXT ? workflow_file(y, i)
					    : def_read_node(&y->doc, i, &in, y->f);
		if (!doc)
			return -1;
		/* Its runs are found by the name that it has here. */
		json_object_set_new(json_object_get(doc, "main"), "name",
				    json_string(i->key->text));
		json_object_set_new(*ret, i->key->text, doc);
	}
	return 0;
}

/* ---- schedules ---- */

static int any_read(struct yread *y, struct ynode *n, json_t **ret)
{
	if (n->kind != YNODE_MAP)
		return yaml_wrong(y->f, &y->doc, n, "'inputs' must be a map");
	*ret = value_of(&y->doc, n, y->f);
	return *ret ? 0 : -1;
}

static int run_read(struct yread *y, struct ynode *n, json_t **ret)
{
	static const char *const others[] = { "files",	"replicas",    "depends_on", "agent",
					      "prompt", "prompt_file", "restart" };
	json_t *cell;

	for (unsigned i = 0; n->kind == YNODE_MAP && i < ARRAY_LEN(others); i++)
		if (ynode_get(n, others[i]))
			return yaml_wrong(y->f, &y->doc, ynode_get(n, others[i])->key,
					  "the cell of a schedule's run has no '%s'", others[i]);
	cell = yschema_read(y, n, project_cell_schema());
	if (!cell)
		return -1;
	*ret = project_spec(cell);
	json_decref(cell);
	if (!json_object_get(*ret, "command"))
		return yaml_wrong(y->f, &y->doc, n,
				  "'run' has no 'command': its cell would never end");
	if (json_object_get(*ret, "hidden_env"))
		return yaml_wrong(y->f, &y->doc, ynode_get(n, "env"),
				  "a schedule takes no variables" REMEDY
				  "give the cell a secret instead");
	return 0;
}

static const char *const overlaps[] = { "skip", "allow", "queue" };
static const char *const catch_ups[] = { "none", "one", "all" };
static const char *const whats[] = { "command", "prompt", "workflow", "run" };

/* What cannot be given with the others. */
static int action_check(struct yread *y, struct ynode *at, const json_t *o)
{
	static const struct {
		const char *key, *with[2];
	} rules[] = {
		{ "cell", { "command", "prompt" } }, { "env", { "command" } },
		{ "workdir", { "command" } },	     { "user", { "command" } },
		{ "inputs", { "workflow" } },
	};
	const char *what = NULL;

	for (unsigned i = 0; i < ARRAY_LEN(whats); i++) {
		if (!json_object_get(o, whats[i]))
			continue;
		if (what)
			return yaml_wrong(y->f, &y->doc, ynode_get(at, whats[i])->key,
					  "give one of 'command', 'prompt', 'run' and 'workflow'");
		what = whats[i];
	}
	if (!what)
		return yaml_wrong(y->f, &y->doc, at->key ? at->key : at,
				  "the schedule has nothing to do" REMEDY
				  "give 'cell' with 'command' or 'prompt', 'run' or 'workflow'");
	for (unsigned i = 0; i < ARRAY_LEN(rules); i++) {
		const char *const *with = rules[i].with;

		if (json_object_get(o, rules[i].key) && strcmp(what, with[0]) &&
		    (!with[1] || strcmp(what, with[1])))
			return yaml_wrong(y->f, &y->doc, ynode_get(at, rules[i].key)->key,
					  "'%s' cannot be given with '%s'", rules[i].key, what);
	}
	if ((!strcmp(what, "command") || !strcmp(what, "prompt")) && !json_object_get(o, "cell"))
		return yaml_wrong(y->f, &y->doc, ynode_get(at, what)->key,
				  "'cell' is missing: where the %s goes", what);
	return 0;
}

static int times_check(struct yread *y, struct ynode *at, const json_t *o)
{
	const char *text = json_string_value(json_object_get(o, "schedule")),
		   *once = json_string_value(json_object_get(o, "at")),
		   *zone = json_string_value(json_object_get(o, "tz"));
	struct ynode *n = ynode_get(at, text ? "schedule" : "at");
	struct cron_expr x;
	struct err e = { 0 };
	struct tz z;
	int64_t t;

	if (!text == !once)
		return yaml_wrong(y->f, &y->doc, at->key ? at->key : at,
				  "give one of 'schedule' and 'at'");
	if (tz_load(zone ? zone : "UTC", &z, &e) < 0)
		n = ynode_get(at, "tz");
	else if (text)
		(void)!cron_parse(text, &x, &e);
	else
		(void)!when_parse(once, &z, &t, &e);
	return e.kind ? yaml_wrong(y->f, &y->doc, n, "%s" REMEDY "%s", e.message, e.remedy) : 0;
}

static int schedule_check(struct yread *y, struct ynode *at, json_t *o)
{
	struct ynode *overlap = ynode_get(at, "overlap"), *catch_up = ynode_get(at, "catch_up");
	bool queues = false;
	int i;

	if (overlap) {
		i = yread_choice(y, overlap, "'overlap'", overlaps, ARRAY_LEN(overlaps));
		if (i < 0)
			return -1;
		queues = i == 2;
	}
	if (catch_up &&
	    yread_choice(y, catch_up, "'catch_up'", catch_ups, ARRAY_LEN(catch_ups)) < 0)
		return -1;
	if (json_object_get(o, "queue") && !queues)
		return yaml_wrong(y->f, &y->doc, ynode_get(at, "queue")->key,
				  "'queue' is for 'overlap: queue'");
	return times_check(y, at, o) < 0 ? -1 : action_check(y, at, o);
}

static const struct ykey schedule_keys[] = {
	KEY("schedule", TEXT),
	KEY("at", TEXT),
	KEY("tz", TEXT),
	KEY("cell", TEXT),
	KEY("command", WORDS),
	KEY("env", MAP),
	KEY("workdir", TEXT),
	KEY("user", WORD),
	KEY("prompt", WORD),
	KEY("workflow", TEXT),
	KEY("inputs", OWN, .read = any_read),
	KEY("run", OWN, .read = run_read),
	KEY("overlap", TEXT),
	KEY("queue", COUNT, .min = 1, .max = SCHEDULE_QUEUE_MAX),
	KEY("catch_up", TEXT),
	KEY("jitter", SECONDS, .flags = YKEY_ZERO, .max = 86400),
	KEY("timeout", SECONDS, .flags = YKEY_ZERO, .max = 366.0 * 86400),
	KEY("history", COUNT, .min = 1, .max = SCHEDULE_HISTORY_MAX),
};
const struct yschema project_schedule_schema = { "a schedule", schedule_keys,
						 ARRAY_LEN(schedule_keys), schedule_check };
