/* See rpc.h. */
#include "daemon/sessions/rpc.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/utf8.h"

/* ---- reading ---- */

static json_t *object_read(const char *line, size_t n)
{
	size_t flags = JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES;
	json_error_t e;
	json_t *o = json_loadb(line, n, flags, &e);

	/* A whole number that is too big for us may be anywhere in what is only passed on. */
	if (!o && json_error_code(&e) == json_error_numeric_overflow)
		o = json_loadb(line, n, flags | JSON_DECODE_INT_AS_REAL, NULL);
	if (json_is_object(o))
		return o;
	json_decref(o);
	return NULL;
}

static bool id_is_valid(const json_t *id)
{
	return json_is_number(id) || (json_is_string(id) && json_string_length(id) <= RPC_ID_MAX);
}

void rpc_read(const char *line, size_t n, struct rpc *m)
{
	const json_t *id, *method;

	memset(m, 0, sizeof(*m));
	m->root = object_read(line, n);
	if (!m->root)
		return;
	id = json_object_get(m->root, "id");
	method = json_object_get(m->root, "method");
	m->params = json_object_get(m->root, "params");
	m->result = json_object_get(m->root, "result");
	m->error = json_object_get(m->root, "error");
	if (m->params && !json_is_object(m->params))
		m->params = NULL;
	if (json_is_string(method) &&
	    json_string_length(method) == strlen(json_string_value(method))) {
		m->method = json_string_value(method);
		m->id = id_is_valid(id) ? id : NULL;
		m->kind = m->id ? RPC_REQUEST : RPC_NOTICE;
	} else if (!method && id_is_valid(id) && (m->result != NULL) != json_is_object(m->error)) {
		m->id = id;
		m->kind = m->result ? RPC_RESULT : RPC_ERROR;
	}
}

void rpc_free(struct rpc *m)
{
	json_decref(m->root);
	memset(m, 0, sizeof(*m));
}

/* ---- parts of a line ---- */

struct scan {
	const char *p, *end;
};

static void space_skip(struct scan *s)
{
	while (s->p < s->end && strchr(" \t\r\n", *s->p) && *s->p)
		s->p++;
}

/* At a quote; false: it has no end. */
static bool text_skip(struct scan *s)
{
	for (s->p++; s->p < s->end && *s->p != '"'; s->p++)
		if (*s->p == '\\')
			s->p++;
	if (s->p >= s->end)
		return false;
	s->p++;
	return true;
}

/* Any value. */
static bool value_skip(struct scan *s)
{
	unsigned depth = 0;

	do {
		space_skip(s);
		if (s->p >= s->end)
			return false;
		if (*s->p == '"') {
			if (!text_skip(s))
				return false;
		} else if (*s->p == '{' || *s->p == '[') {
			depth++;
			s->p++;
		} else if (*s->p == '}' || *s->p == ']') {
			if (!depth)
				return false;
			depth--;
			s->p++;
		} else if (depth && (*s->p == ',' || *s->p == ':')) {
			s->p++;
		} else {
			const char *begin = s->p;

			while (s->p < s->end && !strchr(" \t\r\n,:]}[{\"", *s->p))
				s->p++;
			if (s->p == begin)
				return false;
		}
	} while (depth);
	return true;
}

/* The value of that name in the object that s stands at; then s is only that. */
static bool member_find(struct scan *s, const char *name)
{
	size_t len = strlen(name);

	space_skip(s);
	if (s->p >= s->end || *s->p++ != '{')
		return false;
	for (;;) {
		const char *key, *value;
		size_t nkey;

		space_skip(s);
		key = s->p;
		if (s->p >= s->end || *s->p != '"' || !text_skip(s))
			return false;
		nkey = (size_t)(s->p - key) - 2;
		space_skip(s);
		if (s->p >= s->end || *s->p++ != ':')
			return false;
		space_skip(s);
		value = s->p;
		if (!value_skip(s))
			return false;
		if (nkey == len && !memcmp(key + 1, name, len)) {
			s->end = s->p;
			s->p = value;
			return true;
		}
		space_skip(s);
		if (s->p >= s->end || *s->p++ != ',')
			return false;
	}
}

const char *rpc_raw(const char *line, size_t n, const char *outer, const char *inner, size_t *ret_n)
{
	struct scan s = { line, line + n };

	if (!member_find(&s, outer) || !member_find(&s, inner))
		return NULL;
	*ret_n = (size_t)(s.end - s.p);
	return s.p;
}

/* ---- writing ---- */

static char *line_make(json_t *o)
{
	char *text = o ? json_dumps(o, JSON_COMPACT) : NULL, *line;
	size_t n = text ? strlen(text) : 0;

	json_decref(o);
	line = text ? realloc(text, n + 2) : NULL;
	if (line)
		memcpy(line + n, "\n", 2);
	else
		free(text);
	return line;
}

static json_t *copy(const json_t *v)
{
	return json_incref((json_t *)(uintptr_t)v);
}

char *rpc_request(int64_t id, const char *method, const json_t *params)
{
	return line_make(json_pack("{s:s,s:I,s:s,s:o}", "jsonrpc", "2.0", "id", (json_int_t)id,
				   "method", method, "params", copy(params)));
}

char *rpc_notice(const char *method, const json_t *params)
{
	return line_make(json_pack("{s:s,s:s,s:o}", "jsonrpc", "2.0", "method", method, "params",
				   copy(params)));
}

char *rpc_result(const json_t *id, const json_t *result)
{
	return line_make(json_pack("{s:s,s:o,s:o}", "jsonrpc", "2.0", "id", copy(id), "result",
				   copy(result)));
}

char *rpc_error(const json_t *id, int code, const char *message)
{
	return line_make(json_pack("{s:s,s:o,s:{s:i,s:s}}", "jsonrpc", "2.0", "id", copy(id),
				   "error", "code", code, "message", message));
}
