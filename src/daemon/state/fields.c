/* See fields.h. */
#include "daemon/state/fields.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "keeper/run.h"

static bool field_is(const json_t *v, enum field_type type)
{
	const char *key;
	json_t *item;
	size_t i;

	switch (type) {
	case FIELD_TEXT:
		return json_is_string(v);
	case FIELD_INT:
		return json_is_integer(v) && json_integer_value(v) >= 0;
	case FIELD_NUMBER:
		return json_is_number(v) && json_number_value(v) >= 0;
	case FIELD_BOOL:
		return json_is_boolean(v);
	case FIELD_OBJECT:
		return json_is_object(v);
	case FIELD_LIST:
		return json_is_array(v);
	case FIELD_TEXTS:
		json_array_foreach(v, i, item)
			if (!json_is_string(item))
				return false;
		return json_is_array(v);
	case FIELD_MAP:
		json_object_foreach((json_t *)(uintptr_t)v, key, item)
			if (!json_is_string(item))
				return false;
		return json_is_object(v);
	}
	return false;
}

static const char *const type_names[] = {
	[FIELD_TEXT] = "a text",
	[FIELD_INT] = "a whole number, not negative",
	[FIELD_NUMBER] = "a number, not negative",
	[FIELD_BOOL] = "true or false",
	[FIELD_OBJECT] = "an object",
	[FIELD_LIST] = "a list",
	[FIELD_TEXTS] = "a list of texts",
	[FIELD_MAP] = "an object whose values are texts",
};

int fields_check(const json_t *o, const struct field *fields, unsigned n, const char *where,
		 struct err *f)
{
	const char *key;
	json_t *v;

	json_object_foreach((json_t *)(uintptr_t)o, key, v) {
		unsigned i;

		for (i = 0; i < n && strcmp(fields[i].name, key); i++)
			;
		if (i == n)
			return err_set(f, ERR_UNKNOWN_FIELD, "there is no field '%s%.60s'", where,
				       key);
		if (!field_is(v, fields[i].type))
			return err_set(f, ERR_WRONG_TYPE, "'%s%s' must be %s", where, key,
				       type_names[fields[i].type]);
	}
	for (unsigned i = 0; i < n; i++)
		if (fields[i].required && !json_object_get(o, fields[i].name))
			return err_set(f, ERR_MISSING_FIELD, "'%s%s' is missing", where,
				       fields[i].name);
	return 0;
}

json_t *json_clean(const char *s)
{
	json_t *v = json_string(s);
	char *copy;

	if (v)
		return v;
	copy = strdup(s);
	for (char *p = copy; p && *p; p++)
		if ((unsigned char)*p < ' ' || (unsigned char)*p >= 0x7f)
			*p = '?';
	v = json_string(copy ? copy : "");
	free(copy);
	return v;
}

void json_set_exit(json_t *o, int wait_status, bool timed_out)
{
	bool killed = WIFSIGNALED(wait_status);

	json_object_set_new(o, "exit_code",
			    json_integer(timed_out ? EXIT_TIMEOUT
					 : killed  ? 128 + WTERMSIG(wait_status)
						   : WEXITSTATUS(wait_status)));
	if (killed)
		json_object_set_new(o, "signal", json_integer(WTERMSIG(wait_status)));
	if (timed_out)
		json_object_set_new(o, "timed_out", json_true());
}

const char *json_text(const json_t *o, const char *name)
{
	return json_string_value(json_object_get(o, name));
}

static const char *text_of(const json_t *o, const char *key)
{
	const char *text = json_string_value(json_object_get(o, key));

	return text ? text : "";
}

void json_err_get(const json_t *o, struct err *ret)
{
	err_note(ret, err_kind_of(text_of(o, "code"), 0), "%s", text_of(o, "message"));
	err_cause(ret, text_of(o, "cause"));
	err_remedy(ret, text_of(o, "remedy"));
}

json_t *json_err(const struct err *e)
{
	struct err shown = *e;
	struct buf b = { 0 };
	json_t *o;

	if (shown.kind == ERR_USAGE)
		shown.kind = ERR_INVALID;
	err_json(&shown, &b);
	o = json_loadb((char *)b.p, b.len, 0, NULL);
	buf_free(&b);
	return o;
}

char **json_words(const json_t *list)
{
	size_t n = json_array_size(list);
	char **words = xalloc((n + 1) * sizeof(*words));

	for (size_t i = 0; i < n; i++)
		words[i] = (char *)(uintptr_t)json_string_value(json_array_get(list, i));
	return words;
}
