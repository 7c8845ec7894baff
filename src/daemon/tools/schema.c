/* See schema.h: reading a schema, which checks every keyword and puts what references lead to in
 * their place. */
#include "daemon/tools/schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LIST 1000 /* of enum, required */
#define MAX_BRANCHES 32 /* of anyOf, oneOf, allOf */
#define MAX_PROPERTIES 500
#define PATH_ROOM 512

enum shape {
	ANNOTATION, /* says nothing about values */
	SCHEMA, /* a schema */
	SCHEMAS, /* a list of them */
	PROPERTIES, /* an object of them */
	TYPE,
	VALUES, /* a list of any */
	ANY,
	TEXTS,
	COUNT, /* a whole number from 0 on */
	NUMBER,
	FLAG,
	REF,
	DEFS,
};

static const struct keyword {
	const char *name;
	enum shape shape;
} keywords[] = {
	{ "$comment", ANNOTATION },
	{ "$schema", ANNOTATION },
	{ "contentEncoding", ANNOTATION },
	{ "contentMediaType", ANNOTATION },
	{ "default", ANNOTATION },
	{ "deprecated", ANNOTATION },
	{ "description", ANNOTATION },
	{ "examples", ANNOTATION },
	{ "format", ANNOTATION },
	{ "readOnly", ANNOTATION },
	{ "title", ANNOTATION },
	{ "writeOnly", ANNOTATION },
	{ "$defs", DEFS },
	{ "definitions", DEFS },
	{ "$ref", REF },
	{ "type", TYPE },
	{ "enum", VALUES },
	{ "const", ANY },
	{ "properties", PROPERTIES },
	{ "required", TEXTS },
	{ "additionalProperties", SCHEMA },
	{ "minProperties", COUNT },
	{ "maxProperties", COUNT },
	{ "items", SCHEMA },
	{ "minItems", COUNT },
	{ "maxItems", COUNT },
	{ "uniqueItems", FLAG },
	{ "minLength", COUNT },
	{ "maxLength", COUNT },
	{ "minimum", NUMBER },
	{ "maximum", NUMBER },
	{ "exclusiveMinimum", NUMBER },
	{ "exclusiveMaximum", NUMBER },
	{ "multipleOf", NUMBER },
	{ "anyOf", SCHEMAS },
	{ "oneOf", SCHEMAS },
	{ "allOf", SCHEMAS },
};

static const char *const types[] = { "null",   "boolean", "integer", "number",
				     "string", "array",	  "object" };

struct reader {
	const json_t *root;
	unsigned nodes;
	struct err *e;
	char path[PATH_ROOM]; /* of the place in the schema, for messages */
};

static json_t *read_schema(struct reader *r, const json_t *s, unsigned depth);

/* Always NULL. */
static json_t *wrong(const struct reader *r, const char *what)
{
	err_note(r->e, ERR_INVALID, "%s: %s", r->path[0] ? r->path : "the schema", what);
	return NULL;
}

/* Adds a part of the path; what gives the length it had before. */
static size_t path_add(struct reader *r, const char *part)
{
	size_t n = strlen(r->path);

	snprintf(r->path + n, sizeof(r->path) - n, "/%s", part);
	return n;
}

static bool is_type(const json_t *t)
{
	for (unsigned i = 0; json_is_string(t) && i < ARRAY_LEN(types); i++)
		if (!strcmp(json_string_value(t), types[i]))
			return true;
	return false;
}

static bool types_are_good(const json_t *v)
{
	const json_t *t;
	size_t i;

	if (!json_is_array(v))
		return is_type(v);
	json_array_foreach(v, i, t)
		if (!is_type(t))
			return false;
	return json_array_size(v) > 0 && json_array_size(v) <= ARRAY_LEN(types);
}

static bool texts_are_good(const json_t *v)
{
	const json_t *t;
	size_t i;

	if (!json_is_array(v) || json_array_size(v) > MAX_LIST)
		return false;
	json_array_foreach(v, i, t)
		if (!json_is_string(t))
			return false;
	return true;
}

/* The place in the document that "#/$defs/x" names; NULL: there is none. */
static const json_t *ref_find(const struct reader *r, const char *ref)
{
	const json_t *at = r->root;

	if (!strcmp(ref, "#"))
		return at;
	if (strncmp(ref, "#/", 2))
		return NULL;
	for (ref += 2; at && ref;) {
		char part[256];
		size_t n = strcspn(ref, "/"), k = 0;

		if (n >= sizeof(part))
			return NULL;
		for (size_t i = 0; i < n; i++) {
			if (ref[i] == '%')
				return NULL;
			if (ref[i] == '~' && i + 1 < n && (ref[i + 1] == '0' || ref[i + 1] == '1'))
				part[k++] = ref[++i] == '0' ? '~' : '/';
			else
				part[k++] = ref[i];
		}
		part[k] = '\0';
		if (json_is_array(at))
			at = strspn(part, "0123456789") == k && k && k < 6
				     ? json_array_get(at, (size_t)atoi(part))
				     : NULL;
		else
			at = json_object_get(at, part);
		ref = ref[n] ? ref + n + 1 : NULL;
	}
	return at;
}

static json_t *read_ref(struct reader *r, const json_t *s, const json_t *ref, unsigned depth)
{
	const json_t *to = json_is_string(ref) ? ref_find(r, json_string_value(ref)) : NULL, *v;
	const char *key;

	json_object_foreach((json_t *)s, key, v)
		if (strcmp(key, "$ref") && strcmp(key, "description") && strcmp(key, "title") &&
		    strcmp(key, "default"))
			return wrong(r, "beside '$ref' only a title, a description and a default "
					"can be given");
	if (!to)
		return wrong(r, "'$ref' must lead to a place in the same schema, such as "
				"#/$defs/NAME");
	return read_schema(r, to, depth + 1);
}

static json_t *read_list(struct reader *r, const json_t *v, unsigned depth)
{
	json_t *list, *item, *made;
	size_t i;

	if (!json_is_array(v) || !json_array_size(v) || json_array_size(v) > MAX_BRANCHES)
		return wrong(r, "it must be a list of 1 to 32 schemas");
	list = json_array();
	json_array_foreach((json_t *)v, i, item) {
		made = read_schema(r, item, depth + 1);
		if (!made) {
			json_decref(list);
			return NULL;
		}
		json_array_append_new(list, made);
	}
	return list;
}

static json_t *read_properties(struct reader *r, const json_t *v, unsigned depth)
{
	json_t *all, *item, *made;
	const char *key;

	if (!json_is_object(v) || json_object_size(v) > MAX_PROPERTIES)
		return wrong(r, "it must be an object of at most 500 schemas");
	all = json_object();
	json_object_foreach((json_t *)v, key, item) {
		size_t n = path_add(r, key);

		made = read_schema(r, item, depth + 1);
		if (!made) {
			json_decref(all);
			return NULL;
		}
		r->path[n] = '\0';
		json_object_set_new(all, key, made);
	}
	return all;
}

/* A keyword's value; NULL: it is wrong. */
static json_t *read_keyword(struct reader *r, enum shape shape, const json_t *v, unsigned depth)
{
	double n = json_number_value(v);
	bool good = true;

	switch (shape) {
	case SCHEMA:
		return read_schema(r, v, depth + 1);
	case SCHEMAS:
		return read_list(r, v, depth);
	case PROPERTIES:
		return read_properties(r, v, depth);
	case TYPE:
		good = types_are_good(v);
		break;
	case VALUES:
		good = json_is_array(v) && json_array_size(v) && json_array_size(v) <= MAX_LIST;
		break;
	case TEXTS:
		good = texts_are_good(v);
		break;
	case COUNT:
		good = json_is_number(v) && n >= 0 && n <= 1e15 && n == (double)(int64_t)n;
		break;
	case NUMBER:
		good = json_is_number(v) && n >= -1e300 && n <= 1e300;
		break;
	case FLAG:
		good = json_is_boolean(v);
		break;
	default:
		break;
	}
	return good ? json_deep_copy(v) : wrong(r, "its value is not what this keyword takes");
}

static json_t *read_object(struct reader *r, const json_t *s, unsigned depth)
{
	json_t *made = json_object(), *v, *value;
	const char *key;

	json_object_foreach((json_t *)s, key, v) {
		size_t n = path_add(r, key);
		unsigned i = 0;

		while (i < ARRAY_LEN(keywords) && strcmp(key, keywords[i].name))
			i++;
		if (i == ARRAY_LEN(keywords) && strncmp(key, "x-", 2)) {
			err_note(r->e, ERR_UNSUPPORTED,
				 "%s: the keyword '%.60s' is not supported" REMEDY
				 "leave it out; docs/tools.md lists those that are",
				 r->path, key);
			json_decref(made);
			return NULL;
		}
		if (i < ARRAY_LEN(keywords) && keywords[i].shape != DEFS) {
			value = read_keyword(r, keywords[i].shape, v, depth);
			if (value && !strcmp(key, "multipleOf") && json_number_value(value) <= 0) {
				json_decref(value);
				value = wrong(r, "it must be larger than 0");
			}
			if (!value) {
				json_decref(made);
				return NULL;
			}
			json_object_set_new(made, key, value);
		}
		r->path[n] = '\0';
	}
	return made;
}

static json_t *read_schema(struct reader *r, const json_t *s, unsigned depth)
{
	const json_t *ref = json_object_get(s, "$ref");

	if (depth > SCHEMA_MAX_DEPTH || ++r->nodes > SCHEMA_MAX_NODES)
		return wrong(r, depth > SCHEMA_MAX_DEPTH
					? "it is nested more than 32 deep, or refers to itself"
					: "the schema has more than 10000 parts");
	if (json_is_boolean(s))
		return json_deep_copy(s);
	if (!json_is_object(s))
		return wrong(r, "it is not a schema: that is an object, true or false");
	return ref ? read_ref(r, s, ref, depth) : read_object(r, s, depth);
}

json_t *schema_read(const json_t *schema, struct err *e)
{
	struct reader r = { .root = schema, .e = e };
	size_t size = json_dumpb(schema, NULL, 0, JSON_COMPACT | JSON_ENCODE_ANY);
	const json_t *type;
	json_t *made;

	if (!json_is_object(schema) || size > SCHEMA_MAX_BYTES)
		return wrong(&r, size > SCHEMA_MAX_BYTES ? "it is larger than 256 KiB"
							 : "it must be an object");
	made = read_schema(&r, schema, 0);
	type = made ? json_object_get(made, "type") : NULL;
	if (made && (!json_is_string(type) || strcmp(json_string_value(type), "object"))) {
		json_decref(made);
		return wrong(&r, "arguments are an object, so its 'type' must be \"object\"");
	}
	/* What an array of references becomes may be much more than what was written. */
	if (made && json_dumpb(made, NULL, 0, JSON_COMPACT) > 4 * SCHEMA_MAX_BYTES) {
		json_decref(made);
		return wrong(&r, "with its references it is larger than 1 MiB");
	}
	return made;
}
