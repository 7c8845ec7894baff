/* Answers; see request.h. */
#include "api/http/request.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/http/caller.h"
#include "api/http/cors.h"
#include "api/http/keys.h"

#define STREAM_BLOCK 65536

/* An answer to a request that waits makes MHD go on with it. */
static void reply_set(struct request *r, unsigned status, struct MHD_Response *response)
{
	if (r->response)
		MHD_destroy_response(r->response);
	r->response = response;
	r->status = status;
	request_wake(r);
}

void reply_text(struct request *r, unsigned status, const char *type, const void *text, size_t size)
{
	struct MHD_Response *m;

	if (!caller_answers(r, size)) {
		reply_error(r, ERR_OVERLOADED,
			    "the cells of the family have not read their answers" REMEDY
			    "read them, or ask for less with 'limit'");
		return;
	}
	m = MHD_create_response_from_buffer(size, (void *)(uintptr_t)text, MHD_RESPMEM_MUST_COPY);
	if (m && type)
		MHD_add_response_header(m, "Content-Type", type);
	if (r->key)
		key_finish(r, status, status == 204 ? "" : text);
	reply_set(r, status, m);
}

void reply_json(struct request *r, unsigned status, json_t *body)
{
	char *text =
		body ? json_dumps(body, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(12))
		     : NULL;
	size_t n = text ? strlen(text) : 0;
	char *line = text ? realloc(text, n + 2) : NULL;

	json_decref(body);
	if (!line) {
		static const char failed[] =
			"{\"code\":\"failed\",\"message\":\"out of memory\"}\n";

		free(text);
		reply_text(r, 500, "application/json", failed, sizeof(failed) - 1);
		return;
	}
	strcpy(line + n, "\n");
	reply_text(r, status, "application/json", line, n + 1);
	free(line);
}

void reply_err(struct request *r, const struct err *e)
{
	r->d->count.refused++;
	reply_json(r, (unsigned)err_http(e), json_err(e));
	if (e->kind == ERR_UNAUTHORIZED)
		reply_header(r, "WWW-Authenticate", "Bearer");
}

void reply_error(struct request *r, enum err_kind kind, const char *fmt, ...)
{
	struct err e;
	va_list ap;

	va_start(ap, fmt);
	err_note_va(&e, kind, fmt, ap);
	va_end(ap);
	reply_err(r, &e);
}

void reply_nothing(struct request *r)
{
	reply_text(r, 204, NULL, "", 0);
}

void reply_header(struct request *r, const char *name, const char *value)
{
	if (r->response)
		MHD_add_response_header(r->response, name, value);
}

void reply_upgrade(struct request *r, struct MHD_Response *m)
{
	reply_set(r, MHD_HTTP_SWITCHING_PROTOCOLS, m);
}

/* ---- streams ---- */

static ssize_t stream_read(void *arg, uint64_t pos, char *buf, size_t size)
{
	struct request *r = arg;
	ssize_t n;

	(void)pos;
	if (r->gone)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	n = r->stream->read(r, buf, r->caller ? MIN(size, (size_t)CALLER_BLOCK) : size);
	if (n == STREAM_BROKEN)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	/* What happened last is still told. */
	if (n < 0 || (n == 0 && r->d->ending))
		return MHD_CONTENT_READER_END_OF_STREAM;
	if (n == 0)
		request_wait(r);
	return n;
}

void reply_stream(struct request *r, const char *type, const struct stream *s, void *arg)
{
	reply_stream_sized(r, 200, type, UINT64_MAX, s, arg);
}

void reply_stream_sized(struct request *r, unsigned status, const char *type, uint64_t size,
			const struct stream *s, void *arg)
{
	struct MHD_Response *m;

	r->stream = s;
	r->arg = arg;
	m = MHD_create_response_from_callback(size, STREAM_BLOCK, stream_read, r, NULL);
	if (m) {
		MHD_add_response_header(m, "Content-Type", type);
		MHD_add_response_header(m, "Cache-Control", "no-store");
	}
	/* A reader that stops reading stops the writer, for as long as it likes. */
	MHD_set_connection_option(r->conn, MHD_CONNECTION_OPTION_TIMEOUT, 0u);
	reply_set(r, status, m);
}

enum MHD_Result request_send(struct request *r)
{
	enum MHD_Result ok;

	if (!r->response)
		return MHD_NO;
	cors_reply(r);
	/* What was told is written. */
	db_flush(&r->d->db);
	ok = MHD_queue_response(r->conn, r->status, r->response);
	MHD_destroy_response(r->response);
	r->response = NULL;
	return ok;
}
