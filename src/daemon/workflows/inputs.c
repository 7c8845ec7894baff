/* See inputs.h. */
#include "daemon/workflows/inputs.h"

#include <string.h>

#include "base/base.h"
#include "daemon/state/fields.h"
#include "daemon/workflows/limits.h"

static const char *const types[] = { "string", "number", "boolean", "array", "object", "any" };

bool input_type_is_valid(const char *type)
{
	for (unsigned i = 0; i < ARRAY_LEN(types); i++)
		if (!strcmp(types[i], type))
			return true;
	return false;
}

bool input_fits(const char *type, const json_t *v)
{
	switch (type[0]) {
	case 's':
		return json_is_string(v);
	case 'n':
		return json_is_number(v);
	case 'b':
		return json_is_boolean(v);
	case 'o':
		return json_is_object(v);
	default:
		return !strcmp(type, "any") || json_is_array(v);
	}
}

json_t *input_parse(const char *type, const char *text)
{
	json_t *v;

	if (!strcmp(type, "string"))
		return json_string(text);
	v = json_loads(text, JSON_DECODE_ANY, NULL);
	if (!v && !strcmp(type, "any"))
		v = json_string(text);
	if (v && input_fits(type, v))
		return v;
	json_decref(v);
	return NULL;
}

static const char *type_of(const json_t *def)
{
	const char *type = json_text(def, "type");

	return type ? type : "any";
}

json_t *inputs_make(const json_t *defs, const json_t *given, struct err *e)
{
	json_t *ret = json_object(), *v;
	const json_t *def;
	const char *name;

	json_object_foreach((json_t *)(uintptr_t)given, name, v) {
		if (!json_object_get(defs, name)) {
			err_note(e, ERR_INVALID, "the workflow has no input '%.64s'", name);
			goto wrong;
		}
	}
	json_object_foreach((json_t *)(uintptr_t)defs, name, def) {
		v = json_object_get(given, name);
		if (!v)
			v = json_object_get(def, "default");
		if (!v && json_is_true(json_object_get(def, "required"))) {
			err_note(e, ERR_MISSING_FIELD, "the input '%s' is missing", name);
			goto wrong;
		}
		if (v && !input_fits(type_of(def), v)) {
			err_note(e, ERR_WRONG_TYPE, "the input '%s' must be of type %s", name,
				 type_of(def));
			goto wrong;
		}
		json_object_set(ret, name, v ? v : json_null());
	}
	if (json_dumpb(ret, NULL, 0, JSON_COMPACT) <= WF_INPUT_BYTES)
		return ret;
	err_note(e, ERR_TOO_LARGE, "the inputs have more than %u bytes", WF_INPUT_BYTES);
wrong:
	json_decref(ret);
	return NULL;
}

json_t *inputs_given(const json_t *doc, const json_t *o, struct err *e)
{
	const json_t *defs = json_object_get(json_object_get(doc, "main"), "inputs");
	const json_t *given = json_object_get(o, "inputs");
	json_t *ret = given ? json_copy((json_t *)(uintptr_t)given) : json_object(), *text;
	const char *name;

	json_object_foreach(json_object_get(o, "arguments"), name, text) {
		const char *type = json_text(json_object_get(defs, name), "type");
		json_t *v = input_parse(type ? type : "any", json_string_value(text));

		if (!v) {
			err_note(e, ERR_WRONG_TYPE, "the input '%.64s' must be of type %s", name,
				 type);
			json_decref(ret);
			return NULL;
		}
		json_object_set_new(ret, name, v);
	}
	return ret;
}
