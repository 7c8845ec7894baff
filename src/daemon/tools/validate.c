/* See schema.h: comparing a value with a schema. The recursion follows the schema, whose depth is
 * bounded; branches of anyOf and oneOf that look at the same value again are counted as work. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "daemon/tools/schema.h"

#define MAX_WORK 200000
#define MAX_UNIQUE 256 /* items of a list with uniqueItems */
#define PATH_ROOM 256

struct check {
	unsigned work;
	bool tired; /* there was too much */
	struct err *e; /* of the first place that does not fit */
	char path[PATH_ROOM];
};

static bool fits(struct check *c, const json_t *s, const json_t *v);

static bool fail(struct check *c, const char *fmt, ...) printf_like(2, 3);
static bool fail(struct check *c, const char *fmt, ...)
{
	char text[300];
	va_list ap;

	if (c->e->kind)
		return false;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	err_note(c->e, ERR_INVALID, "%s%s%s", c->path[0] ? c->path + 1 : "the arguments",
		 c->path[0] ? " " : " ", text);
	return false;
}

static size_t path_add(struct check *c, const char *part)
{
	size_t n = strlen(c->path);

	snprintf(c->path + n, sizeof(c->path) - n, ".%.60s", part);
	return n;
}

static bool has_type(const json_t *v, const char *type)
{
	if (!strcmp(type, "null"))
		return json_is_null(v);
	if (!strcmp(type, "boolean"))
		return json_is_boolean(v);
	if (!strcmp(type, "number"))
		return json_is_number(v);
	if (!strcmp(type, "integer"))
		return json_is_integer(v) ||
		       (json_is_real(v) && floor(json_real_value(v)) == json_real_value(v));
	if (!strcmp(type, "string"))
		return json_is_string(v);
	return strcmp(type, "array") ? json_is_object(v) : json_is_array(v);
}

static bool type_fits(struct check *c, const json_t *type, const json_t *v)
{
	const json_t *t;
	size_t i;

	if (json_is_string(type))
		return has_type(v, json_string_value(type)) ||
		       fail(c, "must be of type %s", json_string_value(type));
	json_array_foreach(type, i, t)
		if (has_type(v, json_string_value(t)))
			return true;
	return fail(c, "has a type that is not allowed");
}

/* Equal as JSON Schema has it: 1 is 1.0. */
static bool is_equal(struct check *c, const json_t *a, const json_t *b)
{
	c->work++;
	if (json_is_number(a) && json_is_number(b))
		return json_number_value(a) == json_number_value(b);
	return json_equal(a, b);
}

static bool values_fit(struct check *c, const json_t *s, const json_t *v)
{
	const json_t *list = json_object_get(s, "enum"), *one = json_object_get(s, "const"), *t;
	bool found = !list;
	size_t i;

	json_array_foreach(list, i, t)
		found |= is_equal(c, t, v);
	if (!found)
		return fail(c, "is not one of the values that are allowed");
	if (one && !is_equal(c, one, v))
		return fail(c, "is not the value that it must have");
	return true;
}

static double bound(const json_t *s, const char *name, double otherwise)
{
	const json_t *n = json_object_get(s, name);

	return n ? json_number_value(n) : otherwise;
}

static bool number_fits(struct check *c, const json_t *s, const json_t *v)
{
	double n = json_number_value(v), step = bound(s, "multipleOf", 0);

	if (n < bound(s, "minimum", -INFINITY))
		return fail(c, "must be at least %g", bound(s, "minimum", 0));
	if (n > bound(s, "maximum", INFINITY))
		return fail(c, "must be at most %g", bound(s, "maximum", 0));
	if (n <= bound(s, "exclusiveMinimum", -INFINITY))
		return fail(c, "must be more than %g", bound(s, "exclusiveMinimum", 0));
	if (n >= bound(s, "exclusiveMaximum", INFINITY))
		return fail(c, "must be less than %g", bound(s, "exclusiveMaximum", 0));
	if (step > 0 && fabs(n / step - nearbyint(n / step)) > 1e-9)
		return fail(c, "must be a multiple of %g", step);
	return true;
}

static bool string_fits(struct check *c, const json_t *s, const json_t *v)
{
	const char *text = json_string_value(v);
	double n = 0;

	if (!json_object_get(s, "minLength") && !json_object_get(s, "maxLength"))
		return true;
	for (size_t i = 0; i < json_string_length(v); i++)
		n += ((unsigned char)text[i] & 0xc0) != 0x80; /* characters */
	if (n < bound(s, "minLength", 0))
		return fail(c, "must have at least %g characters", bound(s, "minLength", 0));
	if (n > bound(s, "maxLength", INFINITY))
		return fail(c, "must have at most %g characters", bound(s, "maxLength", 0));
	return true;
}

static bool items_are_unique(struct check *c, const json_t *v)
{
	size_t n = json_array_size(v);

	if (n > MAX_UNIQUE)
		return fail(c, "must have at most %d items, all different", MAX_UNIQUE);
	for (size_t i = 0; i < n; i++)
		for (size_t k = i + 1; k < n; k++)
			if (is_equal(c, json_array_get(v, i), json_array_get(v, k)))
				return fail(c, "must have items that are all different");
	return true;
}

static bool array_fits(struct check *c, const json_t *s, const json_t *v)
{
	const json_t *items = json_object_get(s, "items"), *item;
	double n = (double)json_array_size(v);
	size_t i;

	if (n < bound(s, "minItems", 0))
		return fail(c, "must have at least %g items", bound(s, "minItems", 0));
	if (n > bound(s, "maxItems", INFINITY))
		return fail(c, "must have at most %g items", bound(s, "maxItems", 0));
	if (json_is_true(json_object_get(s, "uniqueItems")) && !items_are_unique(c, v))
		return false;
	json_array_foreach(v, i, item) {
		char part[24];
		size_t at;

		if (!items)
			break;
		snprintf(part, sizeof(part), "%zu", i);
		at = path_add(c, part);
		if (!fits(c, items, item))
			return false;
		c->path[at] = '\0';
	}
	return true;
}

static bool object_fits(struct check *c, const json_t *s, const json_t *v)
{
	const json_t *all = json_object_get(s, "properties"), *item, *name;
	const json_t *other = json_object_get(s, "additionalProperties");
	double n = (double)json_object_size(v);
	const char *key;
	size_t i;

	if (n < bound(s, "minProperties", 0))
		return fail(c, "must have at least %g members", bound(s, "minProperties", 0));
	if (n > bound(s, "maxProperties", INFINITY))
		return fail(c, "must have at most %g members", bound(s, "maxProperties", 0));
	json_array_foreach(json_object_get(s, "required"), i, name)
		if (!json_object_get(v, json_string_value(name)))
			return fail(c, "must have '%.60s'", json_string_value(name));
	json_object_foreach((json_t *)v, key, item) {
		const json_t *is = json_object_get(all, key);
		size_t at;

		if (!is && json_is_false(other))
			return fail(c, "cannot have '%.60s'", key);
		is = is ? is : other;
		if (!is)
			continue;
		at = path_add(c, key);
		if (!fits(c, is, item))
			return false;
		c->path[at] = '\0';
	}
	return true;
}

/* How many of these fit. Why one does not is nobody's concern. */
static unsigned count_fits(struct check *c, const json_t *list, const json_t *v, unsigned enough)
{
	struct err none = { 0 }, *e = c->e;
	size_t n = strlen(c->path), i;
	unsigned found = 0;
	const json_t *s;

	c->e = &none;
	json_array_foreach(list, i, s) {
		none.kind = ERR_NONE;
		found += fits(c, s, v);
		c->path[n] = '\0';
		if (found >= enough)
			break;
	}
	c->e = e;
	return found;
}

static bool branches_fit(struct check *c, const json_t *s, const json_t *v)
{
	const json_t *any = json_object_get(s, "anyOf"), *one = json_object_get(s, "oneOf"), *t;
	size_t i;

	json_array_foreach(json_object_get(s, "allOf"), i, t)
		if (!fits(c, t, v))
			return false;
	if (any && !count_fits(c, any, v, 1))
		return fail(c, "fits none of the forms that it can have");
	if (one && count_fits(c, one, v, 2) != 1)
		return fail(c, "must fit exactly one of the forms that it can have");
	return true;
}

static bool fits(struct check *c, const json_t *s, const json_t *v)
{
	const json_t *type = json_object_get(s, "type");

	if (++c->work > MAX_WORK) {
		c->tired = true;
		return fail(c, "cannot be checked: it is too much work");
	}
	if (json_is_boolean(s))
		return json_is_true(s) || fail(c, "cannot have a value");
	if ((type && !type_fits(c, type, v)) || !values_fit(c, s, v))
		return false;
	if ((json_is_number(v) && !number_fits(c, s, v)) ||
	    (json_is_string(v) && !string_fits(c, s, v)) ||
	    (json_is_array(v) && !array_fits(c, s, v)) ||
	    (json_is_object(v) && !object_fits(c, s, v)))
		return false;
	return branches_fit(c, s, v) && !c->tired;
}

int schema_validate(const json_t *schema, const json_t *value, struct err *e)
{
	struct check c = { .e = e };

	e->kind = ERR_NONE;
	if (fits(&c, schema, value) && !c.tired)
		return 0;
	return e->kind ? -1 : err_set(e, ERR_INVALID, "the arguments cannot be checked");
}
