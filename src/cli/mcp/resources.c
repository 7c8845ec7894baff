/* Resources: cell://CELL/PATH is a file of a cell (of a directory: its listing), cell-log://CELL
 * what its command wrote; see mcp.h. */
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/hex.h"
#include "base/jsontext.h"
#include "base/utf8.h"
#include "cli/list.h"
#include "cli/mcp/mcp.h"
#include "cli/vivd.h"

#define RESOURCE_MAX (1u << 20)
#define PAGE 500
#define FILE_SCHEME "cell://"
#define LOG_SCHEME "cell-log://"

void templates_write(FILE *to)
{
	fputs("{\"resourceTemplates\":["
	      "{\"uriTemplate\":\"cell://{cell}/{+path}\",\"name\":\"file\",\"title\":\"File of a "
	      "cell\",\"description\":\"The content of a file, or the listing of a directory\"},"
	      "{\"uriTemplate\":\"cell-log://{cell}\",\"name\":\"log\",\"title\":\"Output of a "
	      "cell\",\"description\":\"The end of what the cell's command "
	      "wrote\",\"mimeType\":\"text/plain\"}]}",
	      to);
}

/* ---- list ---- */

static void resource_write(FILE *out, const char *scheme, const char *cell, const char *tail,
			   const char *title)
{
	char uri[400];

	/* Names and ids of cells need no escapes. */
	snprintf(uri, sizeof(uri), "%s%.256s%s", scheme, cell, tail);
	fputs("{\"uri\":", out);
	json_quoted(out, uri);
	snprintf(uri, sizeof(uri), "%s of %.256s", title, cell);
	fputs(",\"name\":", out);
	json_quoted(out, uri);
	fputs(*tail ? "}" : ",\"mimeType\":\"text/plain\"}", out);
}

static void cell_resources(FILE *out, const char *cell)
{
	resource_write(out, FILE_SCHEME, cell, "/", "files");
	fputc(',', out);
	resource_write(out, LOG_SCHEME, cell, "", "output");
}

int resources_list(struct task *t, FILE *out)
{
	const char *cursor = json_get_text(t->params, "cursor"), *next;
	struct buf path = { 0 };
	struct json_doc d = { 0 };
	const struct json *list;
	char limit[16];

	fputs("{\"resources\":[", out);
	if (mcp.cell) {
		cell_resources(out, mcp.cell);
		fputs("]}", out);
		return 0;
	}
	snprintf(limit, sizeof(limit), "%d", PAGE);
	buf_add_text(&path, "/v1/cells");
	query_add(&path, "limit", limit);
	query_add(&path, "cursor", cursor);
	if (vivd_ask("GET", (char *)path.p, NULL, &d, &t->e) < 0)
		return cursor && t->e.kind == ERR_INVALID
			       ? rpc_fail(&t->rpc, RPC_PARAMS,
					  "the cursor is none of this server's")
			       : -1;
	list = json_get(d.root, "cells", JSON_LIST);
	for (const struct json *c = list ? list->first : NULL; c; c = c->next) {
		cell_resources(out, cell_shown(c));
		fputs(c->next ? "," : "", out);
	}
	fputc(']', out);
	next = json_get_text(d.root, "next");
	if (next) {
		fputs(",\"nextCursor\":", out);
		json_quoted(out, next);
	}
	fputc('}', out);
	return 0;
}

/* ---- read ---- */

/* Decodes %XX in place; false: that is broken, or a NUL. */
static bool unescape(char *s)
{
	char *to = s;

	for (; *s; s++) {
		if (*s != '%') {
			*to++ = *s;
			continue;
		}
		if (hex_digit(s[1]) < 0 || hex_digit(s[2]) < 0 || (s[1] == '0' && s[2] == '0'))
			return false;
		*to++ = (char)(hex_digit(s[1]) << 4 | hex_digit(s[2]));
		s += 2;
	}
	*to = '\0';
	return true;
}

/* Splits a URI; false: it is none of ours. The parts are the caller's to free. */
static bool uri_split(const char *uri, bool *is_log, char **cell, char **path)
{
	const char *rest, *slash;

	*is_log = !strncmp(uri, LOG_SCHEME, strlen(LOG_SCHEME));
	if (!*is_log && strncmp(uri, FILE_SCHEME, strlen(FILE_SCHEME)))
		return false;
	rest = uri + strlen(*is_log ? LOG_SCHEME : FILE_SCHEME);
	slash = strchr(rest, '/');
	*cell = xstrndup(rest, slash ? (size_t)(slash - rest) : strlen(rest));
	*path = xstrndup(slash ? slash : "/", slash ? strlen(slash) : 1);
	return unescape(*cell) && unescape(*path) && **cell && (!*is_log || !slash || !slash[1]);
}

static void contents_write(FILE *out, const char *uri, const char *mime, const struct buf *b)
{
	bool text = text_is_utf8((char *)b->p, b->len) && !memchr(b->p, 0, b->len);
	char *coded;

	fputs("{\"contents\":[{\"uri\":", out);
	json_quoted(out, uri);
	fprintf(out, ",\"mimeType\":\"%s\",",
		mime   ? mime
		: text ? "text/plain"
		       : "application/octet-stream");
	if (text) {
		fputs("\"text\":", out);
		json_bytes(out, (char *)b->p, b->len);
	} else {
		coded = xalloc(BASE64_SIZE(b->len) + 1);
		base64_encode(coded, b->p, b->len);
		fprintf(out, "\"blob\":\"%s\"", coded);
		free(coded);
	}
	fputs("}]}", out);
}

/* A directory as a list, one object for each line. */
static int resource_get(const char *cell, const char *path, bool is_log, struct buf *b,
			const char **mime, bool *more, struct err *e)
{
	struct buf ask = { 0 };

	buf_add_text(&ask, cell_path(cell, is_log ? "/logs?tail=1000" : "/files").str);
	if (!is_log)
		query_add(&ask, "path", path);
	if (bytes_get((char *)ask.p, 0, RESOURCE_MAX, b, more, e) == 0)
		return 0;
	if (e->kind != ERR_IS_DIRECTORY)
		return -1;
	*mime = "application/x-ndjson";
	ask.len = 0;
	buf_add_text(&ask, cell_path(cell, "/files/list").str);
	query_add(&ask, "path", path);
	return bytes_get((char *)ask.p, 0, RESOURCE_MAX, b, more, e);
}

/* What vivd gives as lines of JSON, as the bytes that they are. */
static void log_decode(struct buf *b)
{
	struct buf bytes = { 0 };
	size_t at = 0;

	while (at < b->len) {
		char *line = (char *)b->p + at, *nl = memchr(line, '\n', b->len - at);
		size_t n = nl ? (size_t)(nl - line) : b->len - at, len;
		struct json_doc d;
		struct err bad;

		if (json_parse(&d, line, n, &bad) == 0) {
			const char *data = entry_bytes(d.root, &len);

			buf_add(&bytes, data, len);
			json_free(&d);
		}
		at += n + 1;
	}
	buf_free(b);
	*b = bytes;
}

int resources_read(struct task *t, FILE *out)
{
	const char *uri = json_get_text(t->params, "uri"), *mime = NULL;
	char *cell = NULL, *path = NULL;
	struct buf b = { 0 };
	bool is_log, more;

	if (!uri)
		return rpc_fail(&t->rpc, RPC_PARAMS, "'uri' must be a text");
	if (!uri_split(uri, &is_log, &cell, &path) || cell_is_ours(cell, &t->e) < 0)
		return rpc_fail(&t->rpc, RPC_NO_RESOURCE,
				"there is no resource '%.150s'; its form is cell://CELL/PATH or "
				"cell-log://CELL",
				uri);
	if (resource_get(cell, path, is_log, &b, &mime, &more, &t->e) < 0) {
		enum rpc_code code = t->e.kind == ERR_NOT_FOUND || t->e.kind == ERR_NO_LOG
					     ? RPC_NO_RESOURCE
					     : RPC_INTERNAL;

		return rpc_fail(&t->rpc, code, "%.250s", err_line(&t->e).str);
	}
	if (more && !is_log)
		return rpc_fail(&t->rpc, RPC_INTERNAL,
				"the resource has more than %u bytes; file_read reads parts of it",
				RESOURCE_MAX);
	if (is_log)
		log_decode(&b);
	contents_write(out, uri, mime, &b);
	return 0;
}
