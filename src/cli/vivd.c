/* See vivd.h. */
#include "cli/vivd.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/jsontext.h"
#include "cli/cli.h"

void viv_error_get(const struct viv_error *error, struct err *e)
{
	err_note(e, error->code == EACCES || error->code == EPERM ? ERR_DENIED : ERR_FAILED, "%s",
		 error->text);
	err_remedy(e, error->remedy);
}

int report_viv(const struct viv_error *error)
{
	struct err e;

	viv_error_get(error, &e);
	return report(&e);
}

int vivd_connect(struct viv_client **ret)
{
	struct viv_error error = { 0 };
	struct err e;

	*ret = viv_open(NULL, VIV_START, &error);
	if (*ret)
		return 0;
	viv_error_get(&error, &e);
	if (e.kind == ERR_DENIED)
		err_remedy(&e, "is the vivd another user's?");
	else
		err_wrap(&e, "vivd cannot be reached" REMEDY "'viv doctor' tells what is missing");
	return report(&e);
}

void vivd_refusal(const struct viv_reply *reply, struct err *e)
{
	struct json_doc d;

	if (json_parse(&d, reply->body, reply->size, e) < 0) {
		err_note(e, err_kind_of("", reply->status), "vivd answered with status %d",
			 reply->status);
		return;
	}
	json_get_err(d.root, reply->status, e);
	json_free(&d);
}

int vivd_refused(const struct viv_reply *reply)
{
	struct err e;

	vivd_refusal(reply, &e);
	return report(&e);
}

int vivd_ask(struct viv_client *c, const char *method, const char *path, const char *body,
	     struct json_doc *doc)
{
	struct viv_error error;
	struct viv_reply reply;
	struct err e;
	int status = 0;

	if (viv_call(c, method, path, body, &reply, &error) < 0)
		return report_viv(&error);
	if (reply.status >= 300) {
		status = vivd_refused(&reply);
	} else if (doc && json_parse(doc, reply.body, reply.size, &e) < 0) {
		err_wrap(&e, "vivd's answer cannot be read");
		status = report(&e);
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
