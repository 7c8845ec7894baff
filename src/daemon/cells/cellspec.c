/* See cellspec.h. What the keeper checks itself when it starts (paths, images, users) is not checked twice. */
#include "daemon/cells/cellspec.h"

#include <stdio.h>
#include <string.h>

#include "daemon/cells/health.h"
#include "store/disk.h"

#define MAX_LABELS 64
#define MAX_LABEL_KEY 128
#define MAX_LABEL_VALUE 1024
#define MAX_WORDS 4096
#define MAX_SECONDS (10.0 * 366 * 24 * 3600)

const struct field cellspec_fields[] = {
	{ "name", FIELD_TEXT, false },
	{ "image", FIELD_TEXT, false },
	{ "command", FIELD_TEXTS, false },
	{ "entrypoint", FIELD_TEXT, false },
	{ "env", FIELD_MAP, false },
	{ "secrets", FIELD_TEXTS, false },
	{ "workdir", FIELD_TEXT, false },
	{ "user", FIELD_TEXT, false },
	{ "hostname", FIELD_TEXT, false },
	{ "tty", FIELD_BOOL, false },
	{ "stdin_open", FIELD_BOOL, false },
	{ "binfmt_wasm", FIELD_TEXT, false },
	{ "s3_endpoint", FIELD_TEXT, false },
	{ "fast", FIELD_TEXT, false },
	{ "labels", FIELD_MAP, false },
	{ "limits", FIELD_OBJECT, false },
	{ "mounts", FIELD_LIST, false },
	{ "restart", FIELD_OBJECT, false },
	{ "health", FIELD_OBJECT, false },
	{ "timeout", FIELD_NUMBER, false },
	{ "stop_grace", FIELD_NUMBER, false },
	{ "idle_timeout", FIELD_NUMBER, false },
	/* not part of the cell: */
	{ "start", FIELD_BOOL, false },
	{ "get", FIELD_BOOL, false },
	{ "update", FIELD_BOOL, false },
};
const unsigned cellspec_nfields = ARRAY_LEN(cellspec_fields);

static const struct field limit_fields[] = {
	{ "cpus", FIELD_NUMBER, false }, { "memory", FIELD_INT, false },
	{ "pids", FIELD_INT, false },	 { "disk", FIELD_INT, false },
	{ "inodes", FIELD_INT, false },
};

static const struct field mount_fields[] = {
	{ "source", FIELD_TEXT, false },   { "volume", FIELD_TEXT, false },
	{ "tmpfs", FIELD_BOOL, false },	   { "target", FIELD_TEXT, true },
	{ "readonly", FIELD_BOOL, false }, { "size", FIELD_INT, false },
};

static const struct field restart_fields[] = {
	{ "policy", FIELD_TEXT, true },
	{ "max", FIELD_INT, false },
};

bool cell_name_is_valid(const char *name)
{
	return disk_name_is_valid(name) && name[0] != '_';
}

static int labels_check(json_t *labels, struct fault *f)
{
	const char *key;
	json_t *v;

	if (json_object_size(labels) > MAX_LABELS)
		return fault_set(f, 400, "invalid", "a cell has at most %d labels", MAX_LABELS);
	json_object_foreach(
		labels, key,
		v) if (!*key || strlen(key) > MAX_LABEL_KEY || strchr(key, '=') ||
		       json_string_length(v) >
			       MAX_LABEL_VALUE) return fault_set(f, 400, "invalid",
								 "a label's name has 1 to %d bytes "
								 "and no '=', its value at most "
								 "%d bytes",
								 MAX_LABEL_KEY, MAX_LABEL_VALUE);
	return 0;
}

static int env_check(json_t *env, struct fault *f)
{
	const char *key;
	json_t *v;

	json_object_foreach(env, key, v) if (!*key || strchr(key, '=')) return fault_set(
		f, 400, "invalid", "the name of a variable is not empty and has no '='");
	return 0;
}

static int limits_check(const json_t *limits, struct fault *f)
{
	double cpus;

	if (fields_check(limits, limit_fields, ARRAY_LEN(limit_fields), "limits.", f) < 0)
		return -1;
	cpus = json_number_value(json_object_get(limits, "cpus"));
	if (json_object_get(limits, "cpus") && (cpus < 0.01 || cpus > 4096))
		return fault_set(f, 400, "invalid", "'limits.cpus' is between 0.01 and 4096");
	return 0;
}

static int mounts_check(const json_t *mounts, struct fault *f)
{
	json_t *m;
	size_t i;

	json_array_foreach(mounts, i, m)
	{
		const char *source = json_text(m, "source"), *volume = json_text(m, "volume"),
			   *target = json_text(m, "target");
		int kinds = !!source + !!volume + json_is_true(json_object_get(m, "tmpfs"));

		if (!json_is_object(m))
			return fault_set(f, 400, "wrong_type", "'mounts' is a list of objects");
		if (fields_check(m, mount_fields, ARRAY_LEN(mount_fields), "mounts.", f) < 0)
			return -1;
		if (kinds != 1)
			return fault_set(f, 400, "invalid",
					 "a mount has one of 'source', 'volume' and 'tmpfs'");
		if (target[0] != '/' || strchr(target, ':') || (source && !*source) ||
		    (volume && !*volume))
			return fault_set(f, 400, "invalid",
					 "the target of a mount is an absolute path without ':'");
		if ((source && source[0] != '/' && strncmp(source, "s3://", 5)) ||
		    (volume && !cell_name_is_valid(volume)))
			return fault_set(f, 400, "invalid",
					 "the source of a mount is an absolute path or begins with "
					 "s3://, its volume is a name");
	}
	return 0;
}

static int restart_check(const json_t *restart, struct fault *f)
{
	enum restart_policy p;

	if (fields_check(restart, restart_fields, ARRAY_LEN(restart_fields), "restart.", f) < 0)
		return -1;
	if (!restart_parse(json_text(restart, "policy"), &p))
		return fault_set(f, 400, "invalid", "'restart.policy' is no, on-failure or always");
	if (json_integer_value(json_object_get(restart, "max")) > UINT32_MAX)
		return fault_set(f, 400, "invalid", "'restart.max' is too large");
	return 0;
}

int cellspec_check(const json_t *spec, struct fault *f)
{
	static const char *const seconds[] = { "timeout", "stop_grace", "idle_timeout" };
	const char *name = json_text(spec, "name");
	json_t *v;

	if (name && !cell_name_is_valid(name))
		return fault_set(
			f, 400, "invalid",
			"this is no name for a cell; a name is 1 to 64 letters, digits, '.', "
			"'_' or '-', and starts with a letter or a digit");
	if (json_array_size(json_object_get(spec, "command")) > MAX_WORDS)
		return fault_set(f, 400, "invalid", "'command' has at most %d words", MAX_WORDS);
	for (unsigned i = 0; i < ARRAY_LEN(seconds); i++)
		if (json_number_value(json_object_get(spec, seconds[i])) > MAX_SECONDS)
			return fault_set(f, 400, "invalid", "'%s' is at most ten years in seconds",
					 seconds[i]);
	if ((v = json_object_get(spec, "labels")) && labels_check(v, f) < 0)
		return -1;
	if ((v = json_object_get(spec, "env")) && env_check(v, f) < 0)
		return -1;
	if ((v = json_object_get(spec, "limits")) && limits_check(v, f) < 0)
		return -1;
	if ((v = json_object_get(spec, "mounts")) && mounts_check(v, f) < 0)
		return -1;
	if ((v = json_object_get(spec, "restart")) && restart_check(v, f) < 0)
		return -1;
	if ((v = json_object_get(spec, "health")) && health_check(v, f) < 0)
		return -1;
	return 0;
}

struct restart cellspec_restart(const json_t *spec)
{
	const json_t *o = json_object_get(spec, "restart");
	struct restart r = { RESTART_NO, 0 };

	if (o && restart_parse(json_text(o, "policy"), &r.policy))
		r.max = (uint32_t)json_integer_value(json_object_get(o, "max"));
	return r;
}

bool cellspec_is_late(const json_t *spec)
{
	/* A boot decides these. */
	static const char *const keys[] = { "hostname", "binfmt_wasm", "s3_endpoint", "fast" };
	const json_t *limits = json_object_get(spec, "limits");

	for (unsigned i = 0; i < ARRAY_LEN(keys); i++)
		if (json_object_get(spec, keys[i]))
			return false;
	return !json_array_size(json_object_get(spec, "mounts")) &&
	       !json_object_get(limits, "disk") && !json_object_get(limits, "inodes");
}

/* ---- words ---- */

static void word(struct buf *b, const char *text)
{
	buf_add(b, text, strlen(text) + 1);
}

static void option(struct buf *b, const char *name, const char *value)
{
	if (!value)
		return;
	word(b, name);
	word(b, value);
}

static void option_int(struct buf *b, const char *name, const json_t *o, const char *key)
{
	char text[32];

	if (!json_integer_value(json_object_get(o, key)))
		return;
	snprintf(text, sizeof(text), "%lld",
		 (long long)json_integer_value(json_object_get(o, key)));
	option(b, name, text);
}

static void option_number(struct buf *b, const char *name, const json_t *o, const char *key)
{
	double v = json_number_value(json_object_get(o, key));
	char text[64];

	if (v <= 0)
		return;
	snprintf(text, sizeof(text), "%.3f", v < 0.001 ? 0.001 : v);
	option(b, name, text);
}

static void pair(struct buf *b, const char *name, const char *first, const char *between,
		 const char *second, const char *rest)
{
	word(b, name);
	buf_add(b, first, strlen(first));
	buf_add(b, between, strlen(between));
	buf_add(b, second, strlen(second));
	word(b, rest);
}

static void mount_words(struct buf *b, const json_t *m)
{
	const char *source = json_text(m, "source"), *volume = json_text(m, "volume"),
		   *target = json_text(m, "target");
	const char *mode = json_is_true(json_object_get(m, "readonly")) ? ":ro" : ":rw";
	char size[48] = "";

	if (source) {
		pair(b, "--mount", source, ":", target, mode);
	} else if (volume) {
		pair(b, "--volume", volume, ":", target, mode);
	} else {
		if (json_integer_value(json_object_get(m, "size")))
			snprintf(size, sizeof(size), ":size=%lld",
				 (long long)json_integer_value(json_object_get(m, "size")));
		pair(b, "--tmpfs", target, "", "", size);
	}
}

/* What a cell is, whatever runs in it. */
static void place_words(const json_t *spec, struct buf *b)
{
	const json_t *limits = json_object_get(spec, "limits");
	json_t *v;
	size_t i;

	option(b, "--image", json_text(spec, "image"));
	option(b, "--hostname", json_text(spec, "hostname"));
	option(b, "--s3-endpoint", json_text(spec, "s3_endpoint"));
	option_number(b, "--cpus", limits, "cpus");
	option_int(b, "--memory", limits, "memory");
	option_int(b, "--pids", limits, "pids");
	option_int(b, "--disk-size", limits, "disk");
	option_int(b, "--disk-inodes", limits, "inodes");
	json_array_foreach(json_object_get(spec, "mounts"), i, v) mount_words(b, v);
}

void cellspec_words(const json_t *spec, const char *id, const char *name, struct buf *b)
{
	const json_t *command = json_object_get(spec, "command");
	const char *key;
	json_t *v;
	size_t i;

	if (*name)
		option(b, "--name", name);
	else
		option(b, "--id", id);
	word(b, "--leave");
	place_words(spec, b);
	option(b, "--entrypoint", json_text(spec, "entrypoint"));
	option(b, "--workdir", json_text(spec, "workdir"));
	option(b, "--user", json_text(spec, "user"));
	option(b, "--binfmt-wasm", json_text(spec, "binfmt_wasm"));
	option(b, "--fast", json_text(spec, "fast"));
	if (json_is_true(json_object_get(spec, "tty")))
		word(b, "--tty");
	if (json_is_true(json_object_get(spec, "stdin_open")))
		word(b, "--interactive");
	option_number(b, "--timeout", spec, "timeout");
	json_object_foreach(json_object_get(spec, "env"), key, v)
		pair(b, "--env", key, "=", json_string_value(v), "");
	if (!command) {
		word(b, "--idle");
		return;
	}
	word(b, "--");
	json_array_foreach(command, i, v) word(b, json_string_value(v));
}

void cellspec_visit_words(const json_t *spec, const char *name, struct buf *b)
{
	option(b, "--name", name);
	place_words(spec, b);
	word(b, "--idle");
	word(b, "--visit");
}

void cellspec_merge_words(const char *name, struct buf *b)
{
	option(b, "--name", name);
	word(b, "--merge");
}
