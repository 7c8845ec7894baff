/* Printing JSON that was read; see vivd.h. */
#include <string.h>

#include "cli/vivd.h"

static void line_begin(FILE *to, bool indent, unsigned depth)
{
	if (!indent)
		return;
	fputc('\n', to);
	for (unsigned i = 0; i < depth; i++)
		fputs("  ", to);
}

/* The reader takes nothing that is deeper than 64. */
static void value_print(FILE *to, const struct json *v, bool indent, unsigned depth)
{
	bool object = v->type == JSON_OBJECT;

	if (v->type == JSON_TEXT) {
		json_quoted(to, v->text);
		return;
	}
	if (!object && v->type != JSON_LIST) {
		fputs(v->type == JSON_NULL ? "null" : v->text, to);
		return;
	}
	fputc(object ? '{' : '[', to);
	for (const struct json *m = v->first; m; m = m->next) {
		line_begin(to, indent, depth + 1);
		if (object) {
			json_quoted(to, m->key);
			fputs(indent ? ": " : ":", to);
		}
		value_print(to, m, indent, depth + 1);
		if (m->next)
			fputc(',', to);
	}
	if (v->first)
		line_begin(to, indent, depth);
	fputc(object ? '}' : ']', to);
}

void json_value_print(FILE *to, const struct json *v, bool indent)
{
	value_print(to, v, indent, 0);
}

void json_line_print(const struct json *v, bool indent)
{
	value_print(stdout, v, indent, 0);
	putchar('\n');
}

const char *json_show(const struct json *v, const char *key)
{
	for (const struct json *m = v ? v->first : NULL; m; m = m->next)
		if (m->key && !strcmp(m->key, key))
			return m->text ? m->text : "";
	return "";
}
