/* A cell's settings as JSON: the form in which they travel to vivd, are kept there, and reach a
 * keeper. Every field is checked by its row of the table, once, whoever wrote it. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/jsontext.h"
#include "spec/options.h"
#include "spec/ports.h"

#define NAME_MAX_JSON 96
#define LABELS_MAX 64
#define LABEL_NAME_MAX 128
#define LABEL_VALUE_MAX 1024

const char *restart_name(enum restart_policy p)
{
	static const char *const names[] = { [RESTART_NO] = "no",
					     [RESTART_ON_FAILURE] = "on-failure",
					     [RESTART_ALWAYS] = "always" };

	return names[p];
}

bool restart_parse(const char *name, enum restart_policy *ret)
{
	for (unsigned i = RESTART_NO; i <= RESTART_ALWAYS; i++)
		if (!strcmp(name, restart_name(i))) {
			*ret = (enum restart_policy)i;
			return true;
		}
	return false;
}

/* ---- reading ---- */

static const char *const type_names[] = {
	[SETTING_TEXT] = "a string",
	[SETTING_PATH] = "a string",
	[SETTING_FLAG] = "true or false",
	[SETTING_CHOICE] = "a string",
	[SETTING_COUNT] = "a whole number, not negative",
	[SETTING_CPUS] = "a number, not negative",
	[SETTING_SIZE] = "a whole number of bytes",
	[SETTING_TIME] = "a number of seconds, not negative",
	[SETTING_WORDS] = "a list of strings",
	[SETTING_MAP] = "an object whose values are strings",
	[SETTING_MOUNTS] = "a list of objects",
	[SETTING_RESTART] = "an object",
	[SETTING_OWN] = "nothing",
};

static int type_wrong(enum setting_type type, const char *name, struct err *e)
{
	return err_set(e, ERR_WRONG_TYPE, "'%s' must be %s", name, type_names[type]);
}

/* One of the row's bounds is not kept: the error names the field. */
static int bounds_check(enum setting_id id, double v, const char *name, struct err *e)
{
	char shown[NAME_MAX_JSON + 4];

	snprintf(shown, sizeof(shown), "'%s'", name);
	return setting_bounds(id, v, shown, e);
}

static bool number_is(const struct json *v, bool whole, double *ret)
{
	char *end;

	if (v->type != JSON_NUMBER || (whole && strspn(v->text, "0123456789") != strlen(v->text)))
		return false;
	errno = 0;
	*ret = strtod(v->text, &end);
	return !*end && isfinite(*ret) && *ret >= 0 && *ret < 9.3e18;
}

static int number_read(struct run_options *o, enum setting_id id, const struct json *v,
		       const char *name, struct err *e)
{
	const struct setting *s = &settings[id];
	void *member = (char *)o + s->offset;
	bool whole = s->type == SETTING_COUNT || s->type == SETTING_SIZE;
	double n;

	if (!number_is(v, whole, &n))
		return type_wrong(s->type, name, e);
	if (bounds_check(id, n, name, e) < 0)
		return -1;
	if (s->type == SETTING_CPUS)
		*(uint32_t *)member = (uint32_t)(n * 1000 + 0.5);
	else if (s->type == SETTING_TIME)
		/* A time that is shorter than can be kept is not none. */
		*(int64_t *)member = n > 0 ? MAX((int64_t)(n * NSEC_PER_SEC + 0.5), 1000000) : 0;
	else
		*(uint64_t *)member = strtoull(v->text, NULL, 10);
	return 0;
}

static int text_read(struct run_options *o, enum setting_id id, const struct json *v,
		     const char *name, struct err *e)
{
	const struct setting *s = &settings[id];
	size_t n = v->type == JSON_TEXT ? strlen(v->text) : 0;

	if (v->type != JSON_TEXT)
		return type_wrong(s->type, name, e);
	if (s->type == SETTING_PATH && v->text[0] != '/')
		return err_set(e, ERR_INVALID, "'%s' must be an absolute path in the cell", name);
	if (s->max && ((double)n < s->min || (double)n > s->max))
		return err_set(e, ERR_INVALID, "'%s' must have %.0f to %.0f characters", name,
			       s->min, s->max);
	if (id == SET_STOP_SIGNAL && !value_signal(v->text))
		return err_set(e, ERR_INVALID, "'stop_signal': there is no signal '%.40s'",
			       v->text);
	if (id == SET_S3_ENDPOINT && strncmp(v->text, "http://", 7) &&
	    strncmp(v->text, "https://", 8))
		return err_set(e, ERR_INVALID, "'s3_endpoint' must begin with http:// or https://");
	if (id == SET_NAME && !cell_name_is_valid(v->text))
		return err_set(e, ERR_INVALID,
			       "'name' is not a valid name for a cell" REMEDY
			       "a name is 1 to 64 letters, digits, "
			       "'.', '_' or '-', and starts with a letter or a digit");
	*(const char **)(void *)((char *)o + s->offset) = run_keep_text(o, v->text);
	return 0;
}

static int choice_read(struct run_options *o, enum setting_id id, const struct json *v,
		       const char *name, struct err *e)
{
	const char *const *words = setting_choices(id);
	uint32_t i = 0;

	if (v->type != JSON_TEXT)
		return type_wrong(SETTING_CHOICE, name, e);
	while (words[i] && strcmp(words[i], v->text))
		i++;
	if (!words[i])
		return err_set(e, ERR_INVALID, "'%s' has no value '%.40s'", name, v->text);
	*(uint32_t *)(void *)((char *)o + settings[id].offset) = i;
	return 0;
}

static int words_read(struct run_options *o, enum setting_id id, const struct json *v,
		      const char *name, struct err *e)
{
	const struct setting *s = &settings[id];
	size_t n = 0, i = 0;
	char **words;

	for (const struct json *w = v->type == JSON_LIST ? v->first : v; w; w = w->next, n++)
		if (v->type != JSON_LIST || w->type != JSON_TEXT)
			return type_wrong(SETTING_WORDS, name, e);
	if (s->max && (double)n > s->max)
		return err_set(e, ERR_INVALID, "'%s' has at most %.0f words", name, s->max);
	if ((s->flags & S_REQUIRED) && (!n || !*v->first->text))
		return err_set(e, ERR_INVALID, "'%s' must begin with a program", name);
	words = run_keep(o, xalloc((n + 1) * sizeof(*words)));
	for (const struct json *w = v->first; w; w = w->next)
		if (setting_word_wrong(id, w->text))
			return err_set(e, ERR_INVALID, "'%s': '%.64s' %s", name, w->text,
				       setting_word_wrong(id, w->text));
	for (const struct json *w = v->first; w; w = w->next)
		words[i++] = run_keep_text(o, w->text);
	words[n] = NULL;
	if (id == SET_PUBLISH && ports_check("'ports'", words, e) < 0) {
		e->kind = ERR_INVALID;
		return -1;
	}
	/* No word at all: the image's command. */
	*(char ***)(void *)((char *)o + s->offset) = n || id != SET_COMMAND ? words : NULL;
	return 0;
}

static int pair_check(enum setting_id id, const struct json *m, struct err *e)
{
	const bool label = id == SET_LABEL;
	struct ulimit l;

	if (id == SET_ULIMIT)
		return ulimit_parse("'ulimits'", m->key, m->text, &l, e);
	if (!*m->key || strchr(m->key, '='))
		return err_set(e, ERR_INVALID, "the name of a %s is not empty and has no '='",
			       label ? "label" : "variable");
	if (label && (strlen(m->key) > LABEL_NAME_MAX || strlen(m->text) > LABEL_VALUE_MAX))
		return err_set(e, ERR_INVALID,
			       "the name of a label has at most %d bytes, its value %d",
			       LABEL_NAME_MAX, LABEL_VALUE_MAX);
	return 0;
}

static int map_read(struct run_options *o, enum setting_id id, const struct json *v,
		    const char *name, struct err *e)
{
	struct texts *t = (void *)((char *)o + settings[id].offset);
	unsigned n = 0;
	char *text;

	if (v->type != JSON_OBJECT)
		return type_wrong(SETTING_MAP, name, e);
	for (const struct json *m = v->first; m; m = m->next, n++)
		if (m->type != JSON_TEXT)
			return type_wrong(SETTING_MAP, name, e);
	if (id == SET_LABEL && n > LABELS_MAX)
		return err_set(e, ERR_INVALID, "a cell has at most %d labels", LABELS_MAX);
	free(t->v);
	t->v = n ? xalloc(n * sizeof(*t->v)) : NULL;
	t->n = 0;
	for (const struct json *m = v->first; m; m = m->next) {
		if (pair_check(id, m, e) < 0)
			return -1;
		if (asprintf(&text, "%s=%s", m->key, m->text) < 0)
			abort();
		t->v[t->n++] = run_keep(o, text);
	}
	return 0;
}

static const struct mount_field *mount_field(const char *name)
{
	for (unsigned i = 0; i < MOUNT_FIELDS; i++)
		if (!strcmp(mount_fields[i].name, name))
			return &mount_fields[i];
	return NULL;
}

static int mount_field_check(const struct json *m, struct err *e)
{
	const struct mount_field *f = mount_field(m->key);
	char name[NAME_MAX_JSON];
	double n;

	snprintf(name, sizeof(name), "mounts.%.60s", m->key);
	if (!f)
		return err_set(e, ERR_UNKNOWN_FIELD, "there is no field '%s'", name);
	if ((f->type == SETTING_TEXT && m->type != JSON_TEXT) ||
	    (f->type == SETTING_FLAG && m->type != JSON_BOOL) ||
	    (f->type == SETTING_SIZE && !number_is(m, true, &n)))
		return type_wrong(f->type, name, e);
	return 0;
}

static bool is_true(const struct json *v, const char *name)
{
	const struct json *m = json_get(v, name, JSON_BOOL);

	return m && !strcmp(m->text, "true");
}

static int mount_read(struct run_options *o, const struct json *v, struct err *e)
{
	const char *source = json_get_text(v, "source"), *volume = json_get_text(v, "volume"),
		   *target = json_get_text(v, "target"), *subpath = json_get_text(v, "subpath");
	struct run_mount m = { .readonly = is_true(v, "readonly"),
			       .nofollow = is_true(v, "nofollow") };

	if (v->type != JSON_OBJECT)
		return type_wrong(SETTING_MOUNTS, "mounts", e);
	for (const struct json *f = v->first; f; f = f->next)
		if (mount_field_check(f, e) < 0)
			return -1;
	if (!target)
		return err_set(e, ERR_MISSING_FIELD, "'mounts.target' is missing");
	if (!!source + !!volume + is_true(v, "tmpfs") != 1)
		return err_set(e, ERR_INVALID, "a mount has one of 'source', 'volume' and 'tmpfs'");
	if (target[0] != '/' || strchr(target, ':'))
		return err_set(e, ERR_INVALID,
			       "the target of a mount must be an absolute path without ':'");
	if (source && source[0] != '/' && strncmp(source, "s3://", 5))
		return err_set(e, ERR_INVALID,
			       "the source of a mount must be an absolute path of the host or "
			       "begin with s3://");
	if (subpath && (!source || source[0] != '/' || !subpath_is_valid(subpath)))
		return err_set(e, ERR_INVALID,
			       "the subpath of a mount is a path below its source, a directory of "
			       "the host, without '.' and '..'");
	if (volume && !cell_name_is_valid(volume))
		return err_set(e, ERR_INVALID, "the volume of a mount must be a name");
	json_get_u64(v, "size", &m.size);
	m.src = source ? run_keep_text(o, source) : NULL;
	m.subpath = subpath ? run_keep_text(o, subpath) : NULL;
	m.volume = volume ? run_keep_text(o, volume) : NULL;
	m.dst = run_keep_text(o, target);
	if (mount_add(o, "a mount", m, e) < 0) {
		e->kind = ERR_INVALID;
		return -1;
	}
	return 0;
}

static int restart_read(struct run_options *o, const struct json *v, struct err *e)
{
	const struct json *policy = NULL;
	double max = 0;

	if (v->type != JSON_OBJECT)
		return type_wrong(SETTING_RESTART, "restart", e);
	for (const struct json *m = v->first; m; m = m->next)
		if (!strcmp(m->key, "policy"))
			policy = m;
		else if (strcmp(m->key, "max"))
			return err_set(e, ERR_UNKNOWN_FIELD, "there is no field 'restart.%.60s'",
				       m->key);
		else if (!number_is(m, true, &max))
			return type_wrong(SETTING_COUNT, "restart.max", e);
	if (!policy)
		return err_set(e, ERR_MISSING_FIELD, "'restart.policy' is missing");
	if (policy->type != JSON_TEXT)
		return type_wrong(SETTING_TEXT, "restart.policy", e);
	if (!restart_parse(policy->text, &o->restart.policy))
		return err_set(e, ERR_INVALID, "'restart.policy' must be no, on-failure or always");
	if (max > UINT32_MAX)
		return err_set(e, ERR_INVALID, "'restart.max' is too large");
	o->restart.max = (uint32_t)max;
	return 0;
}

static int value_read(struct run_options *o, enum setting_id id, const struct json *v,
		      const char *name, struct err *e)
{
	switch (settings[id].type) {
	case SETTING_TEXT:
	case SETTING_PATH:
		return text_read(o, id, v, name, e);
	case SETTING_FLAG:
		if (v->type != JSON_BOOL)
			return type_wrong(SETTING_FLAG, name, e);
		*(bool *)((char *)o + settings[id].offset) = !strcmp(v->text, "true");
		return 0;
	case SETTING_CHOICE:
		return choice_read(o, id, v, name, e);
	case SETTING_COUNT:
	case SETTING_CPUS:
	case SETTING_SIZE:
	case SETTING_TIME:
		return number_read(o, id, v, name, e);
	case SETTING_WORDS:
		return words_read(o, id, v, name, e);
	case SETTING_MAP:
		return map_read(o, id, v, name, e);
	case SETTING_MOUNTS:
		if (v->type != JSON_LIST)
			return type_wrong(SETTING_MOUNTS, name, e);
		o->nmounts = 0;
		for (const struct json *m = v->first; m; m = m->next)
			if (mount_read(o, m, e) < 0)
				return -1;
		return 0;
	case SETTING_RESTART:
		return restart_read(o, v, e);
	case SETTING_OWN:
		break;
	}
	return type_wrong(SETTING_OWN, name, e);
}

/* Whether a value says anything: an empty list of mounts or groups does not, nor does a limit of 0.
 */
static bool value_counts(enum setting_id id, const struct json *v)
{
	double n;

	if (settings[id].type == SETTING_MOUNTS || id == SET_ULIMIT ||
	    (settings[id].flags & S_EACH))
		return v->first != NULL;
	if (settings[id].type == SETTING_FLAG)
		return !strcmp(v->text, "true");
	return !((settings[id].flags & S_ZERO) && number_is(v, false, &n) && n == 0);
}

/* within: "" or "limits.". */
static int object_read(struct run_options *o, const struct json *v, const char *within,
		       struct err *e)
{
	char name[NAME_MAX_JSON], deeper[NAME_MAX_JSON];

	for (const struct json *m = v->first; m; m = m->next) {
		enum setting_id id;

		snprintf(name, sizeof(name), "%.30s%.60s", within, m->key);
		id = setting_by_json(name);
		if (id != SETTINGS_COUNT) {
			if (value_read(o, id, m, name, e) < 0)
				return -1;
			if (value_counts(id, m))
				o->given[id] = true;
		} else if (*within || !setting_is_object(name)) {
			return err_set(e, ERR_UNKNOWN_FIELD, "there is no field '%s'", name);
		} else if (m->type != JSON_OBJECT) {
			return err_set(e, ERR_WRONG_TYPE, "'%s' must be an object", name);
		} else {
			snprintf(deeper, sizeof(deeper), "%.30s.", name);
			if (object_read(o, m, deeper, e) < 0)
				return -1;
			for (unsigned i = 0; i < SETTINGS_COUNT; i++)
				if ((settings[i].flags & S_REQUIRED) && settings[i].json &&
				    !strncmp(settings[i].json, deeper, strlen(deeper)) &&
				    !run_is_given(o, i))
					return err_set(e, ERR_MISSING_FIELD, "'%s' is missing",
						       settings[i].json);
		}
	}
	return 0;
}

int run_options_read(struct run_options *o, const char *json, size_t len, struct err *e)
{
	struct json_doc d = { 0 };
	int ret;

	/* vivd's own reader takes what is deeper. */
	if (json_parse(&d, json, len, e) < 0) {
		e->kind = ERR_INVALID_JSON;
		return -1;
	}
	ret = d.root->type == JSON_OBJECT
		      ? object_read(o, d.root, "", e)
		      : err_set(e, ERR_WRONG_TYPE, "the settings of a cell must be an object");
	if (!ret && o->policy)
		ret = run_policy_check(o, e);
	json_free(&d);
	return ret;
}

/* ---- writing ---- */

static void words_write(struct buf *b, const char *name, char *const *words)
{
	json_member_add(b, name, "[");
	for (; words && *words; words++)
		json_member_text(b, NULL, *words);
	buf_add_text(b, "]");
}

/* NAME=VALUE, the last of a name. NAME alone has the value that viv has, if values of viv's are
 * wanted. */
static void map_write(struct buf *b, const char *name, const struct texts *t, bool host)
{
	json_member_add(b, name, "{");
	for (unsigned i = 0; i < t->n; i++) {
		size_t len = strcspn(t->v[i], "=");
		const char *value = t->v[i][len] ? t->v[i] + len + 1 : host ? getenv(t->v[i]) : "";
		char *key = xstrndup(t->v[i], len);
		bool again = false;

		for (unsigned k = i + 1; k < t->n; k++)
			again |= !strncmp(t->v[k], t->v[i], len) && strcspn(t->v[k], "=") == len &&
				 (t->v[k][len] || !host || getenv(t->v[k]));
		if (!again)
			json_member_text(b, key, value);
		free(key);
	}
	buf_add_text(b, "}");
}

static void mounts_write(struct buf *b, const char *name, const struct run_options *o)
{
	json_member_add(b, name, "[");
	for (unsigned i = 0; i < o->nmounts; i++) {
		const struct run_mount *m = &o->mounts[i];

		json_member_add(b, NULL, "{");
		json_member_text(b, "source", m->src);
		json_member_text(b, "subpath", m->subpath);
		json_member_text(b, "volume", m->volume);
		if (!m->src && !m->volume)
			json_member_add(b, "tmpfs", "true");
		json_member_text(b, "target", m->dst);
		if (m->readonly)
			json_member_add(b, "readonly", "true");
		if (m->nofollow)
			json_member_add(b, "nofollow", "true");
		if (m->size)
			json_member_number(b, "size", m->size);
		buf_add_text(b, "}");
	}
	buf_add_text(b, "]");
}

static void value_write(const struct run_options *o, enum setting_id id, const char *name,
			struct buf *b)
{
	const struct setting *s = &settings[id];
	const void *member = (const char *)o + s->offset;
	char text[32];

	switch (s->type) {
	case SETTING_TEXT:
	case SETTING_PATH:
		json_member_text(b, name, *(const char *const *)member);
		break;
	case SETTING_FLAG:
		json_member_add(b, name, *(const bool *)member ? "true" : "false");
		break;
	case SETTING_CHOICE:
		json_member_text(b, name, setting_choices(id)[*(const uint32_t *)member]);
		break;
	case SETTING_COUNT:
	case SETTING_SIZE:
		json_member_number(b, name, *(const uint64_t *)member);
		break;
	case SETTING_CPUS:
		snprintf(text, sizeof(text), "%u.%03u", *(const uint32_t *)member / 1000,
			 *(const uint32_t *)member % 1000);
		json_member_add(b, name, text);
		break;
	case SETTING_TIME:
		json_member_seconds(b, name, *(const int64_t *)member);
		break;
	case SETTING_WORDS:
		words_write(b, name, *(char *const *const *)member);
		break;
	case SETTING_MAP:
		map_write(b, name, member, s->flags & S_HOST);
		break;
	case SETTING_MOUNTS:
		mounts_write(b, name, o);
		break;
	case SETTING_RESTART:
		json_member_add(b, name, "{");
		json_member_text(b, "policy", restart_name(o->restart.policy));
		if (o->restart.max)
			json_member_number(b, "max", o->restart.max);
		buf_add_text(b, "}");
		break;
	case SETTING_OWN:
		break;
	}
}

/* Members of arrays and of one object stand together in the table. */
void run_options_write(const struct run_options *o, unsigned what, struct buf *b)
{
	const char *open = NULL; /* the object that has begun */
	size_t len = 0;

	for (unsigned i = 0; i < SETTINGS_COUNT; i++) {
		const char *json = settings[i].json, *dot = json ? strchr(json, '.') : NULL;

		if (!json || !run_is_given(o, i) || (what && !(settings[i].flags & what)))
			continue;
		if (open && (!dot || (size_t)(dot - json) != len || strncmp(json, open, len))) {
			buf_add_text(b, "}");
			open = NULL;
		}
		if (dot && !open) {
			char name[40];

			open = json;
			len = (size_t)(dot - json);
			snprintf(name, sizeof(name), "%.*s", (int)len, json);
			json_member_add(b, name, "{");
		}
		value_write(o, i, dot ? dot + 1 : json, b);
	}
	if (open)
		buf_add_text(b, "}");
}
