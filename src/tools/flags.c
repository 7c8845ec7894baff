/* See flags.h.
 *
 *   --name VALUE, --name=VALUE   property "name"; --dry-run is also "dry_run" and "dryRun"
 *   --flag, --no-flag            a boolean
 *   --item A --item B            an array
 *   --json '{...}', --json -     all of them as JSON, from the word or from standard input
 * A value of type object, or of several types, is JSON; a text that is no JSON is a string. */
#include "tools/flags.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/jsontext.h"
#include "base/utf8.h"
#include "tools/door.h"
#include "wire/tools.h"

#define NAME_MAX_HERE 128

/* A property as a flag: "dryRun" and "dry_run" are "dry-run". False: it cannot be one. */
static bool flag_name(const char *property, char ret[NAME_MAX_HERE])
{
	size_t n = 0;

	for (const char *c = property; *c; c++) {
		if (n + 3 > NAME_MAX_HERE)
			return false;
		if (isupper((unsigned char)*c)) {
			if (c > property && c[-1] != '_' && c[-1] != '-' &&
			    !isupper((unsigned char)c[-1]))
				ret[n++] = '-';
			ret[n++] = (char)tolower((unsigned char)*c);
		} else if (*c == '_' || *c == '-') {
			ret[n++] = '-';
		} else if (isalnum((unsigned char)*c) || *c == '.') {
			ret[n++] = *c;
		} else {
			return false;
		}
	}
	ret[n] = '\0';
	return n > 0 && ret[0] != '-';
}

/* The property of a flag, so many bytes long; NULL: there is none. */
static const struct json *property_find(const struct json *schema, const char *flag, size_t n)
{
	const struct json *all = json_get(schema, "properties", JSON_OBJECT), *found = NULL;
	char name[NAME_MAX_HERE];

	for (const struct json *p = all ? all->first : NULL; p; p = p->next) {
		if (strlen(p->key) == n && !memcmp(p->key, flag, n))
			return p;
		if (!found && flag_name(p->key, name) && strlen(name) == n &&
		    !memcmp(name, flag, n))
			found = p;
	}
	return found;
}

/* Its type; of several the first that is not null; "": JSON. */
static const char *type_of(const struct json *property)
{
	const struct json *t = json_get(property, "type", JSON_LIST), *words;
	const char *type = json_get_text(property, "type");

	for (t = t ? t->first : NULL; t && !type; t = t->next)
		if (t->type == JSON_TEXT && strcmp(t->text, "null") != 0)
			type = t->text;
	words = json_get(property, "enum", JSON_LIST);
	if (!type && words && words->first && words->first->type == JSON_TEXT)
		type = "string";
	return type ? type : "";
}

void json_write(struct buf *to, const struct json *v)
{
	/* At most as deep as the reader lets it be. */
	switch (v->type) {
	case JSON_NULL:
		buf_add_text(to, "null");
		break;
	case JSON_BOOL:
	case JSON_NUMBER:
		buf_add_text(to, v->text);
		break;
	case JSON_TEXT:
		json_text_add(to, v->text);
		break;
	case JSON_LIST:
	case JSON_OBJECT:
		buf_add_text(to, v->type == JSON_LIST ? "[" : "{");
		for (const struct json *m = v->first; m; m = m->next) {
			buf_add_text(to, m == v->first ? "" : ",");
			if (v->type == JSON_OBJECT) {
				json_text_add(to, m->key);
				buf_add_text(to, ":");
			}
			json_write(to, m);
		}
		buf_add_text(to, v->type == JSON_LIST ? "]" : "}");
	}
}

static bool json_is(const char *text, enum json_type type)
{
	struct json_doc d = { 0 };
	struct err e;
	bool is = json_parse(&d, text, strlen(text), &e) == 0 && d.root->type == type;

	json_free(&d);
	return is;
}

static int value_wrong(const char *flag, const char *text, const char *what)
{
	complain("--%s: '%.200s' is not %s", flag, text, what);
	return -1;
}

/* One value of a property, or one item of its array. */
static int value_add(const char *flag, const struct json *property, const char *text,
		     struct buf *to)
{
	const char *type = type_of(property);
	struct json_doc d = { 0 };
	struct err e;
	int r = 0;

	if (!strcmp(type, "string")) {
		json_text_add(to, text);
	} else if (!strcmp(type, "integer") || !strcmp(type, "number")) {
		if (!json_is(text, JSON_NUMBER))
			return value_wrong(flag, text, "a number");
		buf_add_text(to, text);
	} else if (!strcmp(type, "boolean")) {
		if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
			return value_wrong(flag, text, "true or false");
		buf_add_text(to, text);
	} else if (json_parse(&d, text, strlen(text), &e) == 0) {
		json_write(to, d.root);
	} else if (!strcmp(type, "object")) {
		r = value_wrong(flag, text, "an object of JSON");
	} else {
		json_text_add(to, text);
	}
	json_free(&d);
	return r;
}

/* A property that was given: its values so far, each a text of JSON. */
struct given {
	const struct json *property;
	struct buf value;
	bool list;
};

static struct given *given_find(struct buf *all, const struct json *property)
{
	struct given new = { .property = property, .list = !strcmp(type_of(property), "array") };

	for (size_t i = 0; i < BUF_COUNT(all, struct given); i++)
		if (BUF_ITEM(all, struct given, i)->property == property)
			return BUF_ITEM(all, struct given, i);
	buf_add(all, &new, sizeof(new));
	return BUF_ITEM(all, struct given, BUF_COUNT(all, struct given) - 1);
}

/* One flag; the number of words that it used, or -1. */
static int flag_take(const struct json *schema, char **words, struct buf *all)
{
	const char *flag = words[0] + 2, *equals = strchr(flag, '='), *text;
	size_t n = equals ? (size_t)(equals - flag) : strlen(flag);
	const struct json *p = property_find(schema, flag, n), *items;
	struct given *g;
	bool no = false, alone;

	if (!p && !equals && !strncmp(flag, "no-", 3)) {
		p = property_find(schema, flag + 3, n - 3);
		no = p && !strcmp(type_of(p), "boolean");
		p = no ? p : NULL;
	}
	if (!p) {
		complain("there is no option --%.*s; '--help' lists them", (int)MIN(n, 200u), flag);
		return -1;
	}
	alone = !equals && !strcmp(type_of(p), "boolean") &&
		!(words[1] && (!strcmp(words[1], "true") || !strcmp(words[1], "false")));
	text = no ? "false" : equals ? equals + 1 : alone ? "true" : words[1];
	if (!text) {
		complain("--%s needs a value", flag);
		return -1;
	}
	g = given_find(all, p);
	if (g->value.len && !g->list) {
		complain("--%.*s is given twice", (int)MIN(n, 200u), flag);
		return -1;
	}
	buf_add_text(&g->value, g->value.len ? "," : "");
	items = g->list ? json_get(p, "items", JSON_OBJECT) : p;
	if (value_add(p->key, items, text, &g->value) < 0)
		return -1;
	return equals || alone || no ? 1 : 2;
}

static int stdin_read(struct buf *ret)
{
	char chunk[65536];
	ssize_t n;

	while ((n = read(0, chunk, sizeof(chunk))) > 0 && ret->len <= DOOR_REQUEST_MAX)
		buf_add(ret, chunk, (size_t)n);
	buf_add_text(ret, "");
	if (n < 0 || ret->len > DOOR_REQUEST_MAX) {
		complain("standard input cannot be read, or is too long");
		return -1;
	}
	return 0;
}

/* --json. */
static int whole_read(const char *text, struct buf *ret)
{
	struct buf in = { 0 };
	struct json_doc d = { 0 };
	struct err e = { 0 };
	int r = strcmp(text, "-") ? (buf_add_text(&in, text), 0) : stdin_read(&in);

	if (r == 0 && json_parse(&d, (char *)in.p, in.len, &e) < 0) {
		complain("--json: %s", err_line(&e).str);
		r = -1;
	} else if (r == 0 && d.root->type != JSON_OBJECT) {
		complain("--json: the arguments are an object");
		r = -1;
	}
	if (r == 0)
		json_write(ret, d.root);
	json_free(&d);
	buf_free(&in);
	return r;
}

static int required_check(const struct json *schema, const struct buf *all)
{
	const struct json *names = json_get(schema, "required", JSON_LIST);
	char flag[NAME_MAX_HERE];

	for (const struct json *r = names ? names->first : NULL; r; r = r->next) {
		bool found = false;

		for (size_t i = 0; i < BUF_COUNT(all, struct given); i++)
			found |= r->type == JSON_TEXT &&
				 !strcmp(BUF_ITEM(all, struct given, i)->property->key, r->text);
		if (!found && r->type == JSON_TEXT) {
			complain("missing option: --%s", flag_name(r->text, flag) ? flag : r->text);
			return -1;
		}
	}
	return 0;
}

static void given_write(const struct buf *all, struct buf *ret)
{
	buf_add_text(ret, "{");
	for (size_t i = 0; i < BUF_COUNT(all, struct given); i++) {
		struct given *g = BUF_ITEM(all, struct given, i);

		buf_add_text(ret, i ? "," : "");
		json_text_add(ret, g->property->key);
		buf_add_text(ret, g->list ? ":[" : ":");
		buf_add(ret, g->value.p, g->value.len);
		buf_add_text(ret, g->list ? "]" : "");
	}
	buf_add_text(ret, "}");
}

int flags_read(const struct json *schema, char **words, struct buf *ret)
{
	struct buf all = { 0 };
	int r = 0;

	if (words[0] && !strcmp(words[0], "--json") && words[1] && !words[2])
		return whole_read(words[1], ret);
	if (words[0] && !strncmp(words[0], "--json=", 7) && !words[1])
		return whole_read(words[0] + 7, ret);
	while (r == 0 && *words) {
		int used;

		if (strncmp(*words, "--", 2) || !(*words)[2]) {
			complain("unexpected word '%.200s'; arguments are given as --NAME VALUE",
				 *words);
			r = -1;
			break;
		}
		used = flag_take(schema, words, &all);
		r = used < 0 ? -1 : 0;
		words += MAX(used, 0);
	}
	if (r == 0)
		r = required_check(schema, &all);
	if (r == 0)
		given_write(&all, ret);
	for (size_t i = 0; i < BUF_COUNT(&all, struct given); i++)
		buf_free(&BUF_ITEM(&all, struct given, i)->value);
	buf_free(&all);
	return r;
}

/* ---- help ---- */

static bool is_required(const struct json *schema, const char *name)
{
	const struct json *names = json_get(schema, "required", JSON_LIST);

	for (const struct json *r = names ? names->first : NULL; r; r = r->next)
		if (r->type == JSON_TEXT && !strcmp(r->text, name))
			return true;
	return false;
}

static void choices_add(const struct json *property, struct buf *to)
{
	const struct json *list = json_get(property, "enum", JSON_LIST);

	for (const struct json *v = list ? list->first : NULL; v; v = v->next) {
		buf_add_text(to, v == list->first ? " (one of " : ", ");
		if (v->type == JSON_TEXT)
			buf_add_text(to, v->text);
		else
			json_write(to, v);
	}
	buf_add_text(to, list && list->first ? ")" : "");
}

static void line_print(const char *left, struct buf *right)
{
	buf_add_text(right, "");
	text_hide_controls((char *)right->p);
	printf("  %-28s %s\n", left, (char *)right->p);
	buf_free(right);
}

void flags_help(const struct json *schema)
{
	const struct json *all = json_get(schema, "properties", JSON_OBJECT);
	struct buf json = { 0 };

	for (const struct json *p = all ? all->first : NULL; p; p = p->next) {
		const char *type = type_of(p), *text = json_get_text(p, "description");
		const struct json *preset = NULL;
		char name[NAME_MAX_HERE], left[NAME_MAX_HERE + 64];
		struct buf right = { 0 };

		if (!flag_name(p->key, name))
			continue;
		if (!strcmp(type, "array"))
			type = type_of(json_get(p, "items", JSON_OBJECT));
		if (!strcmp(type, "boolean"))
			snprintf(left, sizeof(left), "--[no-]%s", name);
		else
			snprintf(left, sizeof(left), "--%s %s%s", name,
				 *type && strcmp(type, "object") ? type : "JSON",
				 strcmp(type_of(p), "array") ? "" : "...");
		buf_add_text(&right, text ? text : "");
		choices_add(p, &right);
		for (const struct json *m = p->first; m; m = m->next)
			preset = !strcmp(m->key, "default") ? m : preset;
		if (preset) {
			buf_add_text(&right, " (default: ");
			json_write(&right, preset);
			buf_add_text(&right, ")");
		}
		buf_add_text(&right, is_required(schema, p->key) ? " (required)" : "");
		line_print(left, &right);
	}
	buf_add_text(&json, "all arguments as an object; -: from standard input");
	line_print("--json OBJECT", &json);
}
