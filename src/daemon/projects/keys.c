/* The keys of vivarium.yaml. They are those of POST /v1/cells where that has them, so that one is
 * learnt with the other; sizes and times may have units, and what people write in several ways is
 * taken in each. */
#include "daemon/projects/keys.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "daemon/cells/cellspec.h"
#include "keeper/run.h"
#include "policy/policy.h"
#include "store/files.h"

#define FILE_MAX (4u << 20)
#define OUR_LABELS "vivarium."
#define KEY(key, kind, ...)                                   \
	{                                                     \
		.name = key, .type = YKEY_##kind, __VA_ARGS__ \
	}

const char *const dep_conditions[] = {
	[DEP_STARTED] = "started", [DEP_HEALTHY] = "healthy", [DEP_EXITED] = "exited"
};

static struct project_reader *reader_of(struct yread *y)
{
	return container_of(y, struct project_reader, y);
}

static const char *text_of(const json_t *o, const char *key)
{
	return json_string_value(json_object_get(o, key));
}

/* A path of the host: absolute, or relative to the file. The caller's; NULL with an error. */
static char *host_path(struct yread *y, const struct ynode *n, const char *key)
{
	const char *dir = reader_of(y)->in->dir, *p = n->text;
	char *path = NULL;

	if (*p == '/')
		return xstrndup(p, strlen(p));
	while (p[0] == '.' && p[1] == '/')
		p += 2;
	if (!*p)
		yaml_note(y->f, &y->doc, n, "'%s' is empty", key);
	else if (!dir)
		yaml_note(y->f, &y->doc, n, "'%s' must be an absolute path here", key);
	else if (asprintf(&path, "%s/%s", dir, p) < 0)
		path = NULL;
	return path;
}

/* ---- mounts ---- */

static int mount_check(struct yread *y, struct ynode *at, json_t *o)
{
	const char *source = text_of(o, "source"), *volume = text_of(o, "volume"),
		   *target = text_of(o, "target");
	int kinds = !!source + !!volume + json_is_true(json_object_get(o, "tmpfs"));
	char *path;

	if (kinds != 1)
		return yaml_wrong(y->f, &y->doc, at,
				  "a mount has one of 'source', 'volume' and 'tmpfs: true'");
	if (target[0] != '/' || strchr(target, ':'))
		return yaml_wrong(y->f, &y->doc, ynode_get(at, "target"),
				  "'target' must be an absolute path without ':'");
	if (json_object_get(o, "size") && (source || volume))
		return yaml_wrong(y->f, &y->doc, ynode_get(at, "size"), "'size' is for a tmpfs");
	if (json_object_get(o, "subpath") &&
	    (!source || !strncmp(source, "s3://", 5) ||
	     !subpath_is_valid(json_string_value(json_object_get(o, "subpath")))))
		return yaml_wrong(y->f, &y->doc, ynode_get(at, "subpath"),
				  "'subpath' must be a path below 'source', a directory of the "
				  "host, without '.' and '..'");
	if (volume && !cell_name_is_valid(volume))
		return yaml_wrong(y->f, &y->doc, ynode_get(at, "volume"),
				  "this is not a valid name for a volume");
	if (!source || !strncmp(source, "s3://", 5))
		return 0;
	path = host_path(y, ynode_get(at, "source"), "source");
	if (!path)
		return -1;
	json_object_set_new(o, "source", json_string(path));
	free(path);
	return 0;
}

static struct ykey mount_keys[MOUNT_FIELDS];
static const struct yschema mount_schema = { "a mount", mount_keys, MOUNT_FIELDS, mount_check };

/* ---- files ---- */

static int mode_read(struct yread *y, struct ynode *n, json_t **ret)
{
	const char *s = n->kind == YNODE_TEXT ? n->text : "";
	size_t len = strlen(s);

	if (len < 3 || len > 4 || strspn(s, "01234567") != len || (len == 4 && *s != '0'))
		return yaml_wrong(y->f, &y->doc, n,
				  "'mode' must be three octal digits, such as 0644");
	*ret = json_integer(strtol(s, NULL, 8));
	return 0;
}

/* The bytes of a file of the host that a key names; -1 with an error. */
static int host_file_read(struct yread *y, const struct ynode *n, const char *key, char **ret,
			  size_t *size)
{
	char *path;
	int err;

	if (reader_of(y)->in->inside)
		return yaml_wrong(y->f, &y->doc, n,
				  "'%s': vivd reads no files of a cell; write the text here", key);
	path = host_path(y, n, key);
	if (!path)
		return -1;
	err = file_read_all(AT_FDCWD, path, FILE_MAX, ret, size);
	free(path);
	if (!err)
		return 0;
	return yaml_wrong(y->f, &y->doc, n, "'%s': cannot read it: %s", key,
			  err == -EFBIG ? "it has more than 4 MiB" : strerror(-err));
}

static bool path_is_clean(const char *p)
{
	size_t n = strlen(p);

	return n > 1 && n < 4096 && p[0] == '/' && p[n - 1] != '/' && !strstr(p, "//") &&
	       !strstr(p, "/./") && !strstr(p, "/../") && strcmp(p + n - 2, "/.") &&
	       (n < 3 || strcmp(p + n - 3, "/.."));
}

static int file_check(struct yread *y, struct ynode *at, json_t *o)
{
	struct project_reader *r = reader_of(y);
	const char *content = text_of(o, "content");
	char *bytes = NULL;
	size_t size = content ? strlen(content) : 0;

	if (!path_is_clean(text_of(o, "path")))
		return yaml_wrong(y->f, &y->doc, ynode_get(at, "path"),
				  "'path' must be an absolute path without '.' and '..'");
	if (!content == !json_object_get(o, "from"))
		return yaml_wrong(y->f, &y->doc, at, "a file has one of 'content' and 'from'");
	if (!content && host_file_read(y, ynode_get(at, "from"), "from", &bytes, &size) < 0)
		return -1;
	r->file_bytes += size;
	if (r->file_bytes > PROJECT_MAX_FILES_BYTES) {
		free(bytes);
		return yaml_wrong(y->f, &y->doc, at, "all files together have at most 16 MiB");
	}
	json_object_del(o, "from");
	/* Any bytes: it is never written as JSON. */
	json_object_set_new(o, "bytes", json_stringn_nocheck(bytes ? bytes : content, size));
	json_object_del(o, "content");
	free(bytes);
	return 0;
}

static const struct ykey file_keys[] = {
	KEY("path", TEXT, .flags = YKEY_REQUIRED),
	KEY("content", WORD, .flags = YKEY_VARS),
	KEY("from", TEXT, .flags = YKEY_VARS),
	KEY("mode", OWN, .read = mode_read),
};
static const struct yschema file_schema = { "a file", file_keys, ARRAY_LEN(file_keys), file_check };

/* ---- small objects ---- */

static int restart_policy_read(struct yread *y, struct ynode *n, json_t **ret)
{
	static const char *const policies[] = { "no", "on-failure", "always" };
	int i = yread_choice(y, n, "the restart policy", policies, ARRAY_LEN(policies));

	if (i < 0)
		return -1;
	*ret = json_string(policies[i]);
	return 0;
}

static const struct ykey restart_keys[] = {
	KEY("policy", OWN, .flags = YKEY_REQUIRED, .read = restart_policy_read),
	KEY("max", COUNT, .flags = YKEY_VARS, .min = 0, .max = UINT32_MAX),
};
static const struct yschema restart_schema = { "'restart'", restart_keys, ARRAY_LEN(restart_keys),
					       NULL };

/* restart: always, or restart: {policy: always, max: 3}. */
static int restart_read(struct yread *y, struct ynode *n, json_t **ret)
{
	json_t *policy;

	if (n->kind == YNODE_TEXT) {
		if (restart_policy_read(y, n, &policy) < 0)
			return -1;
		*ret = json_pack("{s:o}", "policy", policy);
		return 0;
	}
	*ret = yschema_read(y, n, &restart_schema);
	return *ret ? 0 : -1;
}

/* ---- depends_on ---- */

static int condition_read(struct yread *y, struct ynode *n, json_t **ret)
{
	int i = yread_choice(y, n, "'condition'", dep_conditions, ARRAY_LEN(dep_conditions));

	if (i < 0)
		return -1;
	*ret = json_integer(i);
	return 0;
}

static const struct ykey dep_keys[] = { KEY("condition", OWN, .read = condition_read) };
static const struct yschema dep_schema = { "a dependency", dep_keys, ARRAY_LEN(dep_keys), NULL };
static const struct ykey dep_named = KEY("depends_on", NAMED, .sub = &dep_schema);
static const struct ykey dep_name = KEY("depends_on", TEXT);

/* depends_on: [db], or depends_on: {db: {condition: healthy}}. As {db: {condition: 1}}. */
static int depends_read(struct yread *y, struct ynode *n, json_t **ret)
{
	json_t *name;

	if (n->kind == YNODE_MAP)
		return ykey_read(y, n, &dep_named, ret);
	if (n->kind != YNODE_LIST)
		return yaml_wrong(y->f, &y->doc, n,
				  "'depends_on' must be a list of cells, or a map from cells to "
				  "conditions");
	*ret = json_object();
	for (struct ynode *i = n->first; i; i = i->next) {
		if (ykey_read(y, i, &dep_name, &name) < 0)
			return -1;
		if (json_object_get(*ret, i->text)) {
			json_decref(name);
			return yaml_wrong(y->f, &y->doc, i, "this cell is in the list already");
		}
		json_object_set_new(*ret, i->text, json_object());
		json_decref(name);
	}
	return 0;
}

/* ---- replicas ---- */

static const struct ykey replicas_count =
	KEY("replicas", COUNT, .flags = YKEY_VARS, .min = 0, .max = PROJECT_MAX_CELLS);
static const struct ykey replica_env = KEY("a replica", MAP, .flags = YKEY_VARS);

/* replicas: 3, or replicas: [{SHARD: a}, {SHARD: b}], one map of variables for each. */
static int replicas_read(struct yread *y, struct ynode *n, json_t **ret)
{
	json_t *env;

	if (n->kind != YNODE_LIST)
		return ykey_read(y, n, &replicas_count, ret);
	*ret = json_array();
	for (struct ynode *i = n->first; i; i = i->next) {
		if (json_array_size(*ret) == PROJECT_MAX_CELLS)
			return yaml_wrong(y->f, &y->doc, i, "a file has at most %d cells",
					  PROJECT_MAX_CELLS);
		env = NULL;
		if (ykey_read(y, i, &replica_env, &env) < 0) {
			json_decref(env);
			return -1;
		}
		json_array_append_new(*ret, env);
	}
	return 0;
}

/* ---- agents ---- */

/* Of a cell with an agent: what it is to do, as "prompt", wherever it was written. */
static int prompt_check(struct yread *y, struct ynode *at, json_t *o)
{
	struct ynode *file = ynode_get(at, "prompt_file"), *prompt = ynode_get(at, "prompt");
	struct ynode *first = prompt ? prompt : file;
	char *bytes = NULL;
	size_t size = 0;

	if (first && !json_object_get(o, "agent"))
		return yaml_wrong(y->f, &y->doc, first,
				  "a prompt is for an agent" REMEDY
				  "name it with the key 'agent'; 'viv agent ls' lists them");
	if (prompt && file)
		return yaml_wrong(y->f, &y->doc, file,
				  "a cell has one of 'prompt' and 'prompt_file'");
	if (json_object_get(o, "agent") && json_object_get(o, "command"))
		return yaml_wrong(y->f, &y->doc, ynode_get(at, "command"),
				  "a cell has one of 'agent' and 'command'" REMEDY
				  "the agent is started by its definition");
	if (!file)
		return 0;
	if (host_file_read(y, file, "prompt_file", &bytes, &size) < 0)
		return -1;
	json_object_del(o, "prompt_file");
	if (!size || text_utf8_head(bytes, size) < size || strlen(bytes) < size) {
		free(bytes);
		return yaml_wrong(y->f, &y->doc, file,
				  "'prompt_file': the file is empty, or not a text in UTF-8");
	}
	json_object_set_new(o, "prompt", json_stringn(bytes, size));
	free(bytes);
	return 0;
}

/* ---- a cell, and all ---- */

/* Of a map of variables: their names are good, and those whose value may not be shown are noted. */
static int env_check(struct yread *y, struct ynode *env, json_t *hidden)
{
	for (struct ynode *i = env ? env->first : NULL; i; i = i->next) {
		bool known = !i->variable;

		if (strchr(i->key->text, '='))
			return yaml_wrong(y->f, &y->doc, i->key, "a variable's name has no '='");
		for (size_t k = 0; k < json_array_size(hidden) && !known; k++)
			known = !strcmp(json_string_value(json_array_get(hidden, k)), i->key->text);
		if (!known)
			json_array_append_new(hidden, json_string(i->key->text));
	}
	return 0;
}

static int labels_check(struct yread *y, struct ynode *labels)
{
	for (struct ynode *i = labels ? labels->first : NULL; i; i = i->next) {
		if (strchr(i->key->text, '='))
			return yaml_wrong(y->f, &y->doc, i->key, "a label's name has no '='");
		if (!strncmp(i->key->text, OUR_LABELS, strlen(OUR_LABELS)))
			return yaml_wrong(y->f, &y->doc, i->key,
					  "labels that begin with '" OUR_LABELS "' are viv's own");
	}
	return 0;
}

/* Files are written to the cell's own disk: what is mounted would hide them. */
static int hidden_check(struct yread *y, struct ynode *files, struct ynode *mounts)
{
	for (struct ynode *f = files ? files->first : NULL; f; f = f->next)
		for (struct ynode *m = mounts ? mounts->first : NULL; m; m = m->next) {
			const struct ynode *path = ynode_get(f, "path");
			const char *target = ynode_get(m, "target")->text;
			size_t n = strlen(target);

			while (n && target[n - 1] == '/')
				n--;
			if (!strncmp(path->text, target, n) &&
			    (path->text[n] == '/' || !path->text[n]))
				return yaml_wrong(y->f, &y->doc, path,
						  "the mount in line %u would hide this file",
						  m->line);
		}
	return 0;
}

/* Rules, each of which is checked where it stands. */
static int rules_check(struct yread *y, struct ynode *list, const json_t *rules)
{
	char **words;
	struct policy p;
	struct err e = { 0 };
	struct ynode *n;
	unsigned at = 0;
	int bad;

	if (!list || list->kind != YNODE_LIST)
		return 0;
	words = json_words(rules);
	policy_init(&p);
	bad = policy_words(&p, words, "policy", &at, &e);
	policy_fini(&p);
	free(words);
	n = list->first;
	while (at-- && n && n->next)
		n = n->next;
	return bad ? yaml_wrong(y->f, &y->doc, n ? n : list, "%s" REMEDY "%s",
				e.cause[0] ? e.cause : e.message, e.remedy)
		   : 0;
}

static int cell_check(struct yread *y, struct ynode *at, json_t *o)
{
	struct ynode *replicas = ynode_get(at, "replicas");
	json_t *secrets = json_array();
	struct err f = { 0 };
	json_t *spec;
	int bad = env_check(y, ynode_get(at, "env"), secrets);

	for (struct ynode *i = replicas && replicas->kind == YNODE_LIST ? replicas->first : NULL;
	     !bad && i; i = i->next)
		bad = env_check(y, i, secrets);
	if (bad || labels_check(y, ynode_get(at, "labels")) < 0 || prompt_check(y, at, o) < 0 ||
	    hidden_check(y, ynode_get(at, "files"), ynode_get(at, "mounts")) < 0 ||
	    rules_check(y, ynode_get(at, "policy"), json_object_get(o, "policy")) < 0) {
		json_decref(secrets);
		return -1;
	}
	if (json_array_size(secrets))
		json_object_set(o, "hidden_env", secrets);
	json_decref(secrets);
	/* What is the API's is checked by the API's rules, too. */
	spec = project_spec(o);
	bad = cellspec_check(spec, &f) < 0;
	json_decref(spec);
	return bad ? yaml_wrong(y->f, &y->doc, at, "%s" REMEDY "%s", f.message, f.remedy) : 0;
}

/* The rest of a cell's keys are its settings. */
static const struct ykey own_keys[] = {
	KEY("files", OBJECTS, .sub = &file_schema),   KEY("replicas", OWN, .read = replicas_read),
	KEY("depends_on", OWN, .read = depends_read), KEY("agent", TEXT),
	KEY("prompt", WORD, .flags = YKEY_VARS),      KEY("prompt_file", TEXT, .flags = YKEY_VARS),
};

json_t *project_spec(const json_t *cell)
{
	json_t *spec = json_copy((json_t *)(uintptr_t)cell);

	for (unsigned i = 0; i < ARRAY_LEN(own_keys); i++)
		json_object_del(spec, own_keys[i].name);
	return spec;
}

/* Objects within a cell: limits and health. */
#define OBJECTS_MAX 4

static struct ykey cell_keys[SETTINGS_COUNT + ARRAY_LEN(own_keys)];
static struct yschema cell_schema = { "a cell", cell_keys, 0, cell_check };
static struct inner {
	char name[32], what[40];
	struct ykey keys[16];
	struct yschema schema;
} inner[OBJECTS_MAX];
static unsigned ninner;

static enum ykey_type type_of(enum setting_type type, unsigned flags)
{
	switch (type) {
	case SETTING_FLAG:
		return YKEY_BOOL;
	case SETTING_COUNT:
		return YKEY_COUNT;
	case SETTING_CPUS:
		return YKEY_NUMBER;
	case SETTING_SIZE:
		return YKEY_SIZE;
	case SETTING_TIME:
		return YKEY_SECONDS;
	case SETTING_WORDS:
		return YKEY_WORDS;
	case SETTING_MAP:
		return YKEY_MAP;
	case SETTING_MOUNTS:
		return YKEY_OBJECTS;
	case SETTING_RESTART:
		return YKEY_OWN;
	default:
		return flags & S_WORD ? YKEY_WORD : YKEY_TEXT;
	}
}

static struct ykey key_of(const struct setting *s, const char *name)
{
	return (struct ykey){ .name = name,
			      .type = type_of(s->type, s->flags),
			      .flags = (s->flags & S_VARS ? YKEY_VARS : 0) |
				       (s->flags & S_ZERO ? YKEY_ZERO : 0) |
				       (s->flags & S_REQUIRED ? YKEY_REQUIRED : 0),
			      .min = s->min,
			      .max = s->max,
			      .sub = s->type == SETTING_MOUNTS ? &mount_schema : NULL,
			      .read = s->type == SETTING_RESTART ? restart_read : NULL };
}

/* The object that "limits.memory" is in. */
static struct inner *inner_of(const char *json)
{
	size_t n = strcspn(json, ".");
	struct inner *x = inner;

	while (x < inner + ninner && (strncmp(x->name, json, n) || x->name[n]))
		x++;
	if (x < inner + ninner)
		return x;
	if (ninner == OBJECTS_MAX || n >= sizeof(x->name))
		abort();
	ninner++;
	memcpy(x->name, json, n);
	snprintf(x->what, sizeof(x->what), "'%s'", x->name);
	x->schema = (struct yschema){ x->what, x->keys, 0, NULL };
	cell_keys[cell_schema.n++] =
		(struct ykey){ .name = x->name, .type = YKEY_OBJECT, .sub = &x->schema };
	return x;
}

static void keys_make(void)
{
	for (unsigned i = 0; i < SETTINGS_COUNT; i++) {
		const struct setting *s = &settings[i];
		const char *dot = s->json ? strchr(s->json, '.') : NULL;
		struct inner *x;

		if (!s->json || !(s->flags & S_YAML))
			continue;
		if (!dot) {
			cell_keys[cell_schema.n++] = key_of(s, s->json);
			continue;
		}
		x = inner_of(s->json);
		if (x->schema.n == ARRAY_LEN(x->keys))
			abort();
		x->keys[x->schema.n++] = key_of(s, dot + 1);
	}
	for (unsigned i = 0; i < ARRAY_LEN(own_keys); i++)
		cell_keys[cell_schema.n++] = own_keys[i];
	for (unsigned i = 0; i < MOUNT_FIELDS; i++)
		mount_keys[i] =
			(struct ykey){ .name = mount_fields[i].name,
				       .type = type_of(mount_fields[i].type, mount_fields[i].flags),
				       .flags = (mount_fields[i].flags & S_VARS ? YKEY_VARS : 0) |
						(mount_fields[i].required ? YKEY_REQUIRED : 0) };
}

static const struct ykey volume_keys[] = { KEY("external", BOOL) };
static const struct yschema volume_schema = { "a volume", volume_keys, ARRAY_LEN(volume_keys),
					      NULL };

static const struct ykey project_keys[] = {
	KEY("name", TEXT),
	KEY("cells", NAMED, .flags = YKEY_REQUIRED, .sub = &cell_schema),
	KEY("volumes", NAMED, .sub = &volume_schema),
	KEY("workflows", OWN, .read = project_workflows_read),
	KEY("schedules", NAMED, .sub = &project_schedule_schema),
};

const struct yschema *project_cell_schema(void)
{
	return &cell_schema;
}

const struct yschema *project_schema(void)
{
	static const struct yschema schema = { "the file", project_keys, ARRAY_LEN(project_keys),
					       NULL };
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, keys_make);
	return &schema;
}
