/* See vivd.h. */
#include "cli/vivd.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/jsontext.h"
#include "cli/cli.h"

int vivd_connect(struct viv_client **ret)
{
	struct viv_error error = { 0 };

	*ret = viv_open(NULL, VIV_START, &error);
	if (*ret)
		return 0;
	if (error.code == EACCES || error.code == EPERM)
		return fail_as(ERR_DENIED, "%s; is the vivd another user's?", error.text);
	return fail_as(ERR_FAILED, "vivd cannot be reached: %s; 'viv doctor' tells what is missing",
		       error.text);
}

struct viv_client *vivd_open(void)
{
	struct viv_client *c;

	return vivd_connect(&c) ? NULL : c;
}

static enum err_kind status_exit(int status)
{
	switch (status) {
	case 400:
	case 413:
	case 422:
		return ERR_USAGE;
	case 401:
	case 403:
		return ERR_DENIED;
	case 404:
		return ERR_NOT_FOUND;
	case 409:
		return ERR_CONFLICT;
	default:
		return ERR_FAILED;
	}
}

int vivd_refused(const struct viv_reply *reply)
{
	const char *message, *cause, *remedy;
	struct json_doc d;
	struct err e;

	if (json_parse(&d, reply->body, reply->size, &e) < 0)
		return fail_as(status_exit(reply->status), "vivd answered with status %d",
			       reply->status);
	if (say_is_json()) {
		json_value_print(stderr, d.root, false);
		fputc('\n', stderr);
		json_free(&d);
		return status_exit(reply->status);
	}
	message = json_get_text(d.root, "message");
	cause = json_get_text(d.root, "cause");
	remedy = json_get_text(d.root, "remedy");
	fail("%s%s%s%s%s%s", message ? message : "vivd refused", cause ? " (" : "",
	     cause ? cause : "", cause ? ")" : "", remedy ? "; " : "", remedy ? remedy : "");
	json_free(&d);
	return status_exit(reply->status);
}

int vivd_ask(struct viv_client *c, const char *method, const char *path, const char *body,
	     struct json_doc *doc)
{
	struct viv_error error;
	struct viv_reply reply;
	struct err e;
	int status = 0;

	if (viv_call(c, method, path, body, &reply, &error) < 0)
		return fail_as(ERR_FAILED, "%s", error.text);
	if (reply.status >= 300) {
		status = vivd_refused(&reply);
	} else if (doc && json_parse(doc, reply.body, reply.size, &e) < 0) {
		status = fail_as(ERR_FAILED, "vivd's answer cannot be read: %s", e.text);
	}
	viv_reply_free(&reply);
	return status;
}

struct cell_path cell_path(const char *cell, const char *tail)
{
	static const char prefix[] = "/v1/cells/", hex[] = "0123456789ABCDEF";
	struct cell_path p = { 0 };
	size_t n = sizeof(prefix) - 1;

	memcpy(p.str, prefix, n);
	/* A longer one is no cell's. */
	for (; *cell && n < 600; cell++) {
		unsigned char c = (unsigned char)*cell;

		if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		    c == '_' || c == '-' || (c == '.' && n > sizeof(prefix) - 1)) {
			p.str[n++] = (char)c;
		} else {
			p.str[n++] = '%';
			p.str[n++] = hex[c >> 4];
			p.str[n++] = hex[c & 15];
		}
	}
	snprintf(p.str + n, sizeof(p.str) - n, "%s", tail);
	return p;
}

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

const char *json_show(const struct json *v, const char *key)
{
	for (const struct json *m = v ? v->first : NULL; m; m = m->next)
		if (m->key && !strcmp(m->key, key))
			return m->text ? m->text : "";
	return "";
}
