/* See expr.h. Values have at most the depth of a document that was read (YAML: 16 levels; JSON of
 * the API: jansson's bound), which bounds the recursion. */
#include "daemon/workflows/expr.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "daemon/workflows/limits.h"

#define OPEN "${{"
#define CLOSE "}}"

/* The next one in text: where it opens, and the expression without spaces around it. False: there
 * is none, or (*bad) it is wrong. */
static bool next_find(const char *text, const char **ret_open, const char **ret_expr, size_t *ret_n,
		      const char **ret_end, bool *bad)
{
	const char *open = text, *end, *p;
	bool quoted = false;
	size_t n;

	while ((open = strstr(open, OPEN)) && open > text && open[-1] == '$')
		open += 3;
	if (!open)
		return false;
	p = open + 3;
	/* A text of jq may have braces in it. */
	for (end = p; *end && (quoted || strncmp(end, CLOSE, 2)); end++) {
		if (quoted && *end == '\\' && end[1])
			end++;
		else if (*end == '"')
			quoted = !quoted;
	}
	*bad = !*end;
	if (*bad)
		return false;
	/* "{a: {b: 1}}}" ends with the last of them. */
	while (end[2] == '}')
		end++;
	while (isspace((unsigned char)*p))
		p++;
	n = (size_t)(end > p ? end - p : 0);
	while (n && isspace((unsigned char)p[n - 1]))
		n--;
	*bad = !n || n > WF_EXPR_MAX;
	*ret_open = open;
	*ret_expr = p;
	*ret_n = n;
	*ret_end = end + 2;
	return !*bad;
}

static int text_collect(const char *text, json_t *list)
{
	const char *open, *expr, *end;
	bool bad = false;
	size_t n;

	for (; next_find(text, &open, &expr, &n, &end, &bad); text = end)
		json_array_append_new(list, json_stringn(expr, n));
	return bad ? -1 : 0;
}

int expr_collect(const json_t *v, json_t *list, const char **ret_bad)
{
	const json_t *item;
	const char *key;
	size_t i;

	if (json_is_string(v)) {
		*ret_bad = json_string_value(v);
		return text_collect(json_string_value(v), list);
	}
	if (json_is_array(v)) {
		json_array_foreach(v, i, item)
			if (expr_collect(item, list, ret_bad) < 0)
				return -1;
	} else if (json_is_object(v)) {
		json_object_foreach((json_t *)(uintptr_t)v, key, item)
			if (expr_collect(item, list, ret_bad) < 0)
				return -1;
	}
	return 0;
}

bool expr_is_in(const json_t *v)
{
	json_t *list = json_array();
	const char *bad;
	bool some = expr_collect(v, list, &bad) < 0 || json_array_size(list);

	json_decref(list);
	return some;
}

/* A text outside of expressions, with its '$${{'. */
static void plain_add(struct buf *b, const char *p, size_t n)
{
	while (n) {
		const char *at = memmem(p, n, "$" OPEN, 4);
		size_t before = at ? (size_t)(at - p) : n;

		buf_add(b, p, before);
		if (at)
			buf_add(b, OPEN, 3);
		p += before + (at ? 4 : 0);
		n -= before + (at ? 4 : 0);
	}
}

static json_t *text_fill(const char *text, const json_t *values, size_t *at)
{
	const char *open, *expr, *end;
	struct buf b = { 0 };
	bool bad = false;
	json_t *ret;
	size_t n;

	if (next_find(text, &open, &expr, &n, &end, &bad) && open == text && !*end)
		return json_incref(json_array_get(values, (*at)++));
	for (; next_find(text, &open, &expr, &n, &end, &bad); text = end) {
		const json_t *v = json_array_get(values, (*at)++);
		char *dump =
			json_is_string(v) ? NULL : json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY);

		plain_add(&b, text, (size_t)(open - text));
		if (dump)
			buf_add(&b, dump, strlen(dump));
		else
			buf_add(&b, json_string_value(v), json_string_length(v));
		free(dump);
	}
	plain_add(&b, text, strlen(text));
	ret = json_stringn(b.len ? (char *)b.p : "", b.len);
	buf_free(&b);
	return ret;
}

json_t *expr_fill(const json_t *v, const json_t *values, size_t *at)
{
	const json_t *item;
	const char *key;
	json_t *ret;
	size_t i;

	if (json_is_string(v))
		return text_fill(json_string_value(v), values, at);
	if (json_is_array(v)) {
		ret = json_array();
		json_array_foreach(v, i, item)
			json_array_append_new(ret, expr_fill(item, values, at));
		return ret;
	}
	if (json_is_object(v)) {
		ret = json_object();
		json_object_foreach((json_t *)(uintptr_t)v, key, item)
			json_object_set_new(ret, key, expr_fill(item, values, at));
		return ret;
	}
	return json_incref((json_t *)(uintptr_t)v);
}

char *expr_bare(const char *text)
{
	const char *open, *expr, *end, *after;
	bool bad = false;
	size_t n;

	while (isspace((unsigned char)*text))
		text++;
	n = strlen(text);
	while (n && isspace((unsigned char)text[n - 1]))
		n--;
	if (!strstr(text, OPEN))
		return n && n <= WF_EXPR_MAX ? xstrndup(text, n) : NULL;
	if (!next_find(text, &open, &expr, &n, &end, &bad) || open != text)
		return NULL;
	for (after = end; isspace((unsigned char)*after); after++)
		;
	return *after ? NULL : xstrndup(expr, n);
}

/* ---- paths ---- */

static bool is_name(char c, bool first)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
	       (!first && c >= '0' && c <= '9');
}

/* One part of a path at *p: .name, .["name"], ["name"], [3]. The value of v there; NULL: it is not
 * a path, or v has no parts of this kind. */
static json_t *part_take(const char **p, json_t *v)
{
	const char *s = *p;
	char key[WF_EXPR_MAX + 1];
	size_t n = 0;
	json_t *ret;

	if (*s == '.' && is_name(s[1], true)) {
		for (s++; is_name(*s, n == 0); s++)
			key[n++] = *s;
	} else {
		s += *s == '.';
		if (*s != '[')
			return NULL;
		s++;
		if (*s >= '0' && *s <= '9') {
			char *end;
			unsigned long i = strtoul(s, &end, 10);

			if (*end != ']' || end - s > 9 || (!json_is_array(v) && !json_is_null(v)))
				return NULL;
			*p = end + 1;
			ret = json_array_get(v, i);
			return ret ? ret : json_null();
		}
		if (*s != '"')
			return NULL;
		for (s++; *s && *s != '"'; s++) {
			if (*s == '\\' || n >= WF_EXPR_MAX)
				return NULL;
			key[n++] = *s;
		}
		if (s[0] != '"' || s[1] != ']')
			return NULL;
		s += 2;
	}
	key[n] = '\0';
	if (!json_is_object(v) && !json_is_null(v))
		return NULL;
	*p = s;
	ret = json_object_get(v, key);
	return ret ? ret : json_null();
}

json_t *expr_path(const char *expr, const json_t *context)
{
	json_t *v = (json_t *)(uintptr_t)context;

	if (!strcmp(expr, "."))
		return json_incref(v);
	if (*expr != '.' || strlen(expr) > WF_EXPR_MAX)
		return NULL;
	while (*expr) {
		v = part_take(&expr, v);
		if (!v)
			return NULL;
	}
	return json_incref(v);
}
