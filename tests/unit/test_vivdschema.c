/* JSON Schema for arguments of tools: what is read, and what fits. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "daemon/tools/schema.h"
#include "tap.h"

/* Is it a schema? */
static bool reads(const char *text)
{
	json_t *o = json_loads(text, JSON_DECODE_ANY, NULL), *s;
	struct err e = { 0 };

	s = o ? schema_read(o, &e) : NULL;
	json_decref(s);
	json_decref(o);
	return s != NULL;
}

/* The schema of a property "x", and a value: does {"x": value} fit? */
static bool fits(const char *schema, const char *value)
{
	char text[1024];
	json_t *o, *s, *v;
	struct err e = { 0 };
	bool ok;

	snprintf(text, sizeof(text), "{\"type\":\"object\",\"properties\":{\"x\":%s}}", schema);
	o = json_loads(text, 0, NULL);
	s = o ? schema_read(o, &e) : NULL;
	if (!s) {
		printf("# %s: %s\n", schema, e.message);
		json_decref(o);
		return false;
	}
	snprintf(text, sizeof(text), "{\"x\":%s}", value);
	v = json_loads(text, 0, NULL);
	ok = v && schema_validate(s, v, &e) == 0;
	json_decref(v);
	json_decref(s);
	json_decref(o);
	return ok;
}

int main(void)
{
	static const struct {
		const char *schema, *good, *bad;
	} rows[] = {
		{ "{\"type\":\"integer\"}", "1", "1.5" },
		{ "{\"type\":\"integer\"}", "1.0", "\"1\"" },
		{ "{\"type\":[\"string\",\"null\"]}", "null", "1" },
		{ "{\"enum\":[1,\"a\",{\"b\":[]}]}", "{\"b\":[]}", "{\"b\":[1]}" },
		{ "{\"const\":1}", "1.0", "true" },
		{ "{\"minimum\":2,\"exclusiveMaximum\":4}", "2", "4" },
		{ "{\"multipleOf\":0.1}", "0.3", "0.35" },
		{ "{\"type\":\"string\",\"minLength\":2,\"maxLength\":3}", "\"\\u00e9\\u00e9\"",
		  "\"\\u00e9\"" },
		{ "{\"type\":\"array\",\"items\":{\"type\":\"integer\"},\"maxItems\":2}", "[1,2]",
		  "[1,\"2\"]" },
		{ "{\"uniqueItems\":true}", "[1,2]", "[1,2,1.0]" },
		{ "{\"required\":[\"a\"],\"additionalProperties\":false,\"properties\":{\"a\":true}"
		  "}",
		  "{\"a\":1}", "{\"a\":1,\"b\":1}" },
		{ "{\"additionalProperties\":{\"type\":\"null\"}}", "{\"a\":null}", "{\"a\":1}" },
		{ "{\"anyOf\":[{\"type\":\"string\"},{\"minimum\":5}]}", "7", "3" },
		{ "{\"oneOf\":[{\"minimum\":1},{\"minimum\":5}]}", "3", "6" },
		{ "{\"allOf\":[{\"minimum\":1},{\"maximum\":5}]}", "3", "6" },
		{ "true", "{}", NULL },
		{ "{\"maxProperties\":1,\"minProperties\":1}", "{\"a\":1}", "{}" },
	};
	static const char *const refused[] = {
		"1",
		"[]",
		"{}",
		"{\"type\":\"array\"}",
		"{\"type\":\"object\",\"pattern\":\"a\"}",
		"{\"type\":\"object\",\"properties\":[]}",
		"{\"type\":\"object\",\"properties\":{\"a\":1}}",
		"{\"type\":\"object\",\"properties\":{\"a\":{\"$ref\":\"#\"}}}",
		"{\"type\":\"object\",\"properties\":{\"a\":{\"$ref\":\"#/nowhere\"}}}",
		"{\"type\":\"object\",\"minProperties\":-1}",
		"{\"type\":\"object\",\"required\":\"a\"}",
		"{\"type\":\"object\",\"not\":{}}",
		"{\"type\":\"object\",\"anyOf\":{}}",
	};

	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		ok(fits(rows[i].schema, rows[i].good), rows[i].schema);
		if (rows[i].bad)
			ok(!fits(rows[i].schema, rows[i].bad), rows[i].bad);
	}
	for (unsigned i = 0; i < ARRAY_LEN(refused); i++)
		ok(!reads(refused[i]), refused[i]);
	ok(reads("{\"type\":\"object\",\"$defs\":{\"a/"
		 "b\":{\"type\":\"string\"}},\"properties\":{\"x\":{"
		 "\"$ref\":\"#/$defs/a~1b\"}}}"),
	   "a reference with an escape");
	return tap_end();
}
