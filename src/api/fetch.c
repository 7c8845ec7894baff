/* POST /v1/cells/{cell}/fetch: a request of HTTP to a program in the cell. */
#include "daemon/previews/fetch.h"

#include <stdlib.h>
#include <string.h>

#include "api/cells.h"
#include "api/http/text.h"
#include "api/routes.h"

#define LONGEST 600.0 /* seconds */
#define USUAL 30.0

struct fetch_op {
	struct op op; /* first */
	struct fetch *fetch;
};

static const struct field fields[] = {
	{ "port", FIELD_INT, true },	    { "method", FIELD_TEXT, false },
	{ "path", FIELD_TEXT, false },	    { "headers", FIELD_MAP, false },
	{ "body", FIELD_TEXT, false },	    { "base64", FIELD_TEXT, false },
	{ "timeout", FIELD_NUMBER, false },
};

static void answered(void *arg, const struct fetch_response *a, const struct err *e)
{
	struct fetch_op *x = arg;
	struct request *r = op_end(&x->op);
	json_t *o, *text;

	free(x);
	if (!r)
		return;
	if (!a) {
		reply_err(r, e);
		return;
	}
	o = json_pack("{s:i,s:O}", "status", (int)a->status, "headers", a->headers);
	text = json_stringn(a->size ? (const char *)a->body : "", a->size);
	if (text) {
		json_object_set_new(o, "body", text);
	} else {
		char *coded = xalloc(a->size / 3 * 4 + 8);

		base64_encode(coded, a->body, a->size);
		json_object_set_new(o, "base64", json_string(coded));
		free(coded);
	}
	reply_json(r, 200, o);
}

static void gone(struct op *op)
{
	struct fetch_op *x = (struct fetch_op *)op;

	fetch_cancel(x->fetch);
	free(x);
}

/* The body, decoded if need be; *ret_coded is the caller's to free. */
static int body_read(const json_t *o, struct fetch_request *q, char **ret_coded, struct err *f)
{
	const char *coded = json_text(o, "base64");
	ssize_t n;

	q->body = json_text(o, "body");
	q->size = q->body ? json_string_length(json_object_get(o, "body")) : 0;
	if (!coded)
		return 0;
	if (q->body)
		return err_set(f, ERR_INVALID, "'body' and 'base64' exclude each other");
	*ret_coded = xalloc(strlen(coded) + 1);
	n = base64_decode(*ret_coded, coded, strlen(coded));
	if (n < 0)
		return err_set(f, ERR_INVALID, "'base64' is not base64");
	q->body = *ret_coded;
	q->size = (size_t)n;
	return 0;
}

static int start(struct request *r, struct cell *c, const json_t *o, struct err *f)
{
	json_int_t port = json_integer_value(json_object_get(o, "port"));
	const json_t *time = json_object_get(o, "timeout");
	double seconds = time ? json_number_value(time) : USUAL;
	const char *method = json_text(o, "method"), *path = json_text(o, "path");
	struct fetch_request q = { .port = (uint16_t)port,
				   .method = method ? method : "GET",
				   .path = path ? path : "/",
				   .headers = json_object_get(o, "headers"),
				   .timeout_ms = (uint64_t)(seconds * 1000) };
	struct fetch_op *x;
	char *coded = NULL;
	int ret = -1;

	if (port < 1 || port > UINT16_MAX)
		return err_set(f, ERR_INVALID, "'port' is a number from 1 to 65535");
	if (seconds <= 0 || seconds > LONGEST)
		return err_set(f, ERR_INVALID, "'timeout' is more than 0 and at most 600 seconds");
	x = xalloc(sizeof(*x));
	x->op.gone = gone;
	if (body_read(o, &q, &coded, f) == 0 &&
	    (x->fetch = fetch_start(c, &q, answered, x, f)) != NULL) {
		op_begin(r, &x->op);
		ret = 0;
	} else {
		free(x);
	}
	free(coded);
	return ret;
}

void fetch_post(struct request *r)
{
	struct cell *c = request_live(r);
	json_t *o = c ? request_json(r, fields, ARRAY_LEN(fields)) : NULL;
	struct err f = { 0 };

	if (o && start(r, c, o, &f) < 0)
		reply_err(r, &f);
	json_decref(o);
}
