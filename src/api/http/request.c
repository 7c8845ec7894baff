/* The parts of a request: its path, its query, its body; see request.h. */
#include "api/http/request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/http/keys.h"
#include "api/http/text.h"
#include "daemon/tools/tools.h"

struct request *request_new(struct server *s, struct daemon *d, struct MHD_Connection *c)
{
	struct request *r = xalloc(sizeof(*r));

	r->server = s;
	r->d = d;
	r->conn = c;
	list_init(&r->link);
	return r;
}

static void hangup_closed(uv_handle_t *h)
{
	free(h);
}

void request_free(struct request *r)
{
	if (r->stream)
		r->stream->end(r);
	else if (r->upload)
		r->upload->over(r);
	request_wake_cancel(r);
	if (r->op)
		r->op->r = NULL;
	if (r->op && r->op->gone)
		r->op->gone(r->op);
	if (r->key)
		key_drop(r);
	if (r->hangup) {
		r->hangup->data = NULL;
		uv_close((uv_handle_t *)r->hangup, hangup_closed);
	}
	if (r->response)
		MHD_destroy_response(r->response);
	list_remove(&r->link);
	grants_free(r->grants);
	buf_free(&r->body);
	free(r->path);
	free(r);
}

void op_begin(struct request *r, struct op *op)
{
	op->r = r;
	r->op = op;
	request_wait(r);
}

struct request *op_end(struct op *op)
{
	if (op->r)
		op->r->op = NULL;
	return op->r;
}

/* ---- routes ---- */

/* Compares with the route's path; what {...} stands for goes to param. */
static bool route_matches(const struct route *route, char **parts, int n, const char **param)
{
	const char *p = route->path;
	int nparam = 0, i = 0;

	for (; *p == '/'; i++) {
		size_t len = strcspn(++p, "/");

		if (i == n)
			return false;
		if (*p == '{')
			param[nparam++] = parts[i];
		else if (strlen(parts[i]) != len || strncmp(parts[i], p, len))
			return false;
		p += len;
	}
	return i == n;
}

/* The parts of the path, decoded; they stay with r. -1: it is none. */
static int path_parts(struct request *r, const char *url, char *parts[MAX_PARTS])
{
	int n;

	free(r->path);
	r->path = xstrndup(url, strlen(url));
	n = text_split_path(r->path, parts, MAX_PARTS);
	for (int i = 0; i < n; i++)
		if (!*parts[i] || !text_unescape(parts[i]))
			return -1;
	return n;
}

bool request_methods(struct request *r, const char *url, char methods[METHODS_SIZE])
{
	const char *param[ARRAY_LEN(r->param)];
	char *parts[MAX_PARTS];
	int n = path_parts(r, url, parts);
	size_t len = 0;

	for (unsigned i = 0; n > 0 && i < nroutes; i++)
		if (route_matches(&routes[i], parts, n, param))
			len += (size_t)snprintf(methods + len, METHODS_SIZE - len, "%s%s",
						len ? ", " : "", routes[i].method);
	return len;
}

bool request_route(struct request *r, const char *method, const char *url)
{
	char *parts[MAX_PARTS], allow[METHODS_SIZE];
	int n = path_parts(r, url, parts);

	/* Known methods only: the text of an unknown one is anybody's. */
	if (!strcmp(method, "HEAD"))
		method = "GET";
	for (unsigned i = 0; n > 0 && i < nroutes; i++) {
		const char *param[ARRAY_LEN(r->param)] = { NULL };

		if (strcmp(routes[i].method, method) || !route_matches(&routes[i], parts, n, param))
			continue;
		r->route = &routes[i];
		memcpy(r->param, param, sizeof(param));
		return true;
	}
	if (request_methods(r, url, allow)) {
		reply_error(r, ERR_METHOD_NOT_ALLOWED, "this path takes %s", allow);
		reply_header(r, "Allow", allow);
	} else {
		reply_error(r, ERR_NO_ROUTE,
			    "there is no such path in the API" REMEDY
			    "GET /v1/openapi.json lists them");
	}
	return false;
}

/* ---- the query ---- */

const char *request_header(struct request *r, const char *name)
{
	return MHD_lookup_connection_value(r->conn, MHD_HEADER_KIND, name);
}

static char *query_value(struct request *r, const char *name, bool (*decode)(char *s), bool *bad)
{
	const char *raw = MHD_lookup_connection_value(r->conn, MHD_GET_ARGUMENT_KIND, name);
	char *s;

	if (!raw)
		return NULL;
	s = xstrndup(raw, strlen(raw));
	for (char *p = s; *p; p++)
		if (*p == '+')
			*p = ' ';
	if (decode(s))
		return s;
	free(s);
	*bad = true;
	reply_error(r, ERR_INVALID, "the value of '%s' is not well encoded", name);
	return NULL;
}

char *request_query(struct request *r, const char *name, bool *bad)
{
	return query_value(r, name, text_unescape, bad);
}

char *request_query_bytes(struct request *r, const char *name, bool *bad)
{
	return query_value(r, name, text_decode, bad);
}

struct query_names {
	const char *const *names;
	const char *unknown;
};

static enum MHD_Result query_name_check(void *arg, enum MHD_ValueKind kind, const char *key,
					const char *value)
{
	struct query_names *q = arg;

	(void)kind;
	(void)value;
	for (const char *const *n = q->names; *n; n++)
		if (!strcmp(*n, key))
			return MHD_YES;
	q->unknown = key;
	return MHD_NO;
}

bool request_query_only(struct request *r, const char *const *names)
{
	struct query_names q = { .names = names };

	MHD_get_connection_values(r->conn, MHD_GET_ARGUMENT_KIND, query_name_check, &q);
	if (!q.unknown)
		return true;
	reply_error(r, ERR_INVALID, "this path knows no parameter '%.40s'", q.unknown);
	return false;
}

bool request_query_number(struct request *r, const char *name, uint64_t max, uint64_t *ret)
{
	bool bad = false;
	char *s = request_query(r, name, &bad);

	if (!s)
		return !bad;
	if (!text_number(s, max, ret)) {
		reply_error(r, ERR_INVALID, "'%s' is a whole number", name);
		bad = true;
	}
	free(s);
	return !bad;
}

/* ---- the body ---- */

json_t *request_object(struct request *r)
{
	struct err f = { 0 };
	json_error_t e;
	json_t *o;

	if (!r->body.len)
		return json_object();
	o = json_loadb((char *)r->body.p, r->body.len, JSON_REJECT_DUPLICATES, &e);
	if (!o) {
		err_note(&f, ERR_INVALID_JSON, "the body is not JSON (line %d, column %d)", e.line,
			 e.column);
		err_cause(&f, e.text);
		reply_err(r, &f);
		return NULL;
	}
	if (json_is_object(o))
		return o;
	reply_error(r, ERR_WRONG_TYPE, "the body must be an object");
	json_decref(o);
	return NULL;
}

json_t *request_json(struct request *r, const struct field *fields, unsigned n)
{
	struct err f = { 0 };
	json_t *o = request_object(r);

	if (!o || fields_check(o, fields, n, "", &f) == 0)
		return o;
	reply_err(r, &f);
	json_decref(o);
	return NULL;
}
