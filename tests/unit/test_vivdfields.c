/* Fields of requests against their table, and texts of others as JSON. */
#include <stdlib.h>
#include <string.h>

#include "daemon/state/fields.h"
#include "tap.h"

static const struct field fields[] = {
	{ "text", FIELD_TEXT, true },	{ "int", FIELD_INT, false },	 { "number", FIELD_NUMBER, false },
	{ "bool", FIELD_BOOL, false },	{ "object", FIELD_OBJECT, false }, { "list", FIELD_LIST, false },
	{ "texts", FIELD_TEXTS, false }, { "map", FIELD_MAP, false },
};

/* One of each type, and which fields take it. */
static const struct {
	const char *json, *takers;
} values[] = {
	{ "\"a\"", "text" },
	{ "3", "int number" },
	{ "-3", "" },
	{ "1.5", "number" },
	{ "-0.1", "" },
	{ "true", "bool" },
	{ "null", "" },
	{ "{}", "object map" },
	{ "{\"a\":\"b\"}", "object map" },
	{ "{\"a\":1}", "object" },
	{ "[]", "list texts" },
	{ "[\"a\"]", "list texts" },
	{ "[\"a\",1]", "list" },
};

static enum err_kind check(const char *json)
{
	json_t *o = json_loads(json, 0, NULL);
	struct err e = { 0 };
	int r = fields_check(o, fields, ARRAY_LEN(fields), "limits.", &e);

	json_decref(o);
	return r < 0 ? e.kind : ERR_NONE;
}

static bool is_among(const char *name, const char *list)
{
	size_t n = strlen(name);

	for (const char *p = list; (p = strstr(p, name)); p += n)
		if ((p == list || p[-1] == ' ') && (!p[n] || p[n] == ' '))
			return true;
	return false;
}

static void types(void)
{
	unsigned wrong = 0, tried = 0;
	char json[200];

	for (unsigned i = 0; i < ARRAY_LEN(values); i++)
		for (unsigned k = 0; k < ARRAY_LEN(fields); k++) {
			bool takes = is_among(fields[k].name, values[i].takers);

			snprintf(json, sizeof(json), k ? "{\"text\":\"\",\"%s\":%s}" : "{\"%s\":%s}",
				 fields[k].name, values[i].json);
			wrong += check(json) != (takes ? ERR_NONE : ERR_WRONG_TYPE);
			tried++;
		}
	eq(wrong, 0, "each field takes what its type says, and nothing else");
	eq(tried, ARRAY_LEN(values) * ARRAY_LEN(fields), "all of them were tried");
	eq(check("{}"), ERR_MISSING_FIELD, "a required one is missing");
	eq(check("{\"text\":\"\",\"other\":1}"), ERR_UNKNOWN_FIELD, "an unknown one");
}

static void texts(void)
{
	json_t *v = json_clean("a\xff\x1b[1m"), *list = json_pack("[s,s]", "one", "two");
	char **words = json_words(list);

	ok(!strcmp(json_string_value(v), "a??[1m"), "what is not UTF-8 is replaced");
	json_decref(v);
	ok(!strcmp(words[0], "one") && !strcmp(words[1], "two") && !words[2], "words");
	free(words);
	json_decref(list);
	words = json_words(NULL);
	ok(!words[0], "of nothing");
	free(words);
}

static void exits(void)
{
	json_t *o = json_object();

	json_set_exit(o, 3 << 8, false);
	eq(json_integer_value(json_object_get(o, "exit_code")), 3, "a status");
	ok(!json_object_get(o, "signal"), "and no signal");
	json_set_exit(o, 15, false);
	eq(json_integer_value(json_object_get(o, "exit_code")), 128 + 15, "a signal");
	eq(json_integer_value(json_object_get(o, "signal")), 15, "which is named");
	json_decref(o);
	o = json_object();
	json_set_exit(o, 15, true);
	eq(json_integer_value(json_object_get(o, "exit_code")), 124, "the time was up");
	json_decref(o);
}

int main(void)
{
	types();
	texts();
	exits();
	return tap_end();
}
