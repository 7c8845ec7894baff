/* See message.h. */
#include "cli/mcp/message.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/jsontext.h"
#include "base/utf8.h"

int rpc_fail(struct rpc_error *e, enum rpc_code code, const char *fmt, ...)
{
	va_list ap;

	e->code = code;
	va_start(ap, fmt);
	vsnprintf(e->text, sizeof(e->text), fmt, ap);
	va_end(ap);
	text_hide_controls(e->text);
	return -1;
}

static bool is_whole(const char *s)
{
	s += *s == '-';
	return *s && strlen(s) <= 18 && strspn(s, "0123456789") == strlen(s) &&
	       (s[0] != '0' || !s[1]);
}

bool id_write(const struct json *v, char *to, size_t size)
{
	struct buf b = { 0 };
	bool fits;

	if (v->type == JSON_NUMBER && is_whole(v->text))
		return (size_t)snprintf(to, size, "%s", v->text) < size;
	if (v->type != JSON_TEXT || !text_is_utf8(v->text, strlen(v->text)))
		return false;
	json_text_add(&b, v->text);
	fits = b.len < size;
	if (fits) {
		memcpy(to, b.p, b.len);
		to[b.len] = '\0';
	}
	buf_free(&b);
	return fits;
}

static const struct json *member(const struct json *v, const char *key)
{
	for (v = v->first; v; v = v->next)
		if (!strcmp(v->key, key))
			return v;
	return NULL;
}

int message_read(const struct json *v, struct message *ret, struct rpc_error *e)
{
	const struct json *id, *method, *params, *version;

	*ret = (struct message){ .id = "null" };
	if (v->type != JSON_OBJECT)
		return rpc_fail(e, RPC_INVALID, "a message must be an object");
	id = member(v, "id");
	if (id && !id_write(id, ret->id, sizeof(ret->id))) {
		strcpy(ret->id, "null");
		return rpc_fail(e, RPC_INVALID,
				"'id' must be a whole number or a text of fewer than %u bytes",
				MCP_ID_MAX);
	}
	version = member(v, "jsonrpc");
	if (!version || version->type != JSON_TEXT || strcmp(version->text, "2.0"))
		return rpc_fail(e, RPC_INVALID, "'jsonrpc' must be \"2.0\"");
	method = member(v, "method");
	if (!method && id && (member(v, "result") || member(v, "error"))) {
		ret->kind = MESSAGE_ANSWER;
		return 0;
	}
	if (!method || method->type != JSON_TEXT)
		return rpc_fail(e, RPC_INVALID, "'method' must be a text");
	params = member(v, "params");
	if (params && params->type != JSON_OBJECT)
		return rpc_fail(e, RPC_PARAMS, "'params' must be an object");
	ret->kind = id ? MESSAGE_REQUEST : MESSAGE_NOTE;
	ret->method = method->text;
	ret->params = params;
	return 0;
}

static void answer_begin(struct buf *to, const char *id)
{
	buf_add_text(to, "{\"jsonrpc\":\"2.0\",\"id\":");
	buf_add_text(to, id);
}

void rpc_result(struct buf *to, const char *id, const char *result, size_t size)
{
	answer_begin(to, id);
	buf_add_text(to, ",\"result\":");
	buf_add(to, result, size);
	buf_add_text(to, "}");
}

void rpc_failure(struct buf *to, const char *id, const struct rpc_error *e)
{
	char code[16];

	answer_begin(to, id);
	snprintf(code, sizeof(code), "%d", e->code);
	buf_add_text(to, ",\"error\":{\"code\":");
	buf_add_text(to, code);
	json_member_text(to, "message", e->text);
	buf_add_text(to, "}}");
}

/* ---- lines ---- */

static void line_end(struct line_reader *l, line_fn fn, void *arg)
{
	size_t n = l->b.len;

	if (n && l->b.p[n - 1] == '\r')
		n--;
	if (l->skipping)
		fn(arg, NULL, 0);
	else if (n)
		fn(arg, (char *)l->b.p, n);
	l->b.len = 0;
	l->skipping = false;
}

void line_reader_feed(struct line_reader *l, const char *data, size_t n, line_fn fn, void *arg)
{
	while (n) {
		const char *nl = memchr(data, '\n', n);
		size_t some = nl ? (size_t)(nl - data) : n;

		if (l->skipping || some > MCP_MESSAGE_MAX - l->b.len) {
			l->skipping = true;
			buf_free(&l->b);
		} else {
			buf_add(&l->b, data, some);
		}
		if (nl) {
			line_end(l, fn, arg);
			some++;
		}
		data += some;
		n -= some;
	}
}

void line_reader_fini(struct line_reader *l)
{
	buf_free(&l->b);
}
