/* See vivd.h. */
#include "cli/vivd.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/bar.h"
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
		err_wrap(&e, "vivd cannot be reached" REMEDY "'viv doctor' shows what is missing");
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

int refused_print(const struct json *error)
{
	struct err e;

	json_get_err(error, 0, &e);
	return report(&e);
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

static bool is_plain(unsigned char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       c == '_' || c == '-';
}

struct cell_path vivd_path(const char *prefix, const char *name, const char *tail)
{
	struct cell_path p;
	size_t begin = (size_t)snprintf(p.str, sizeof(p.str), "%s", prefix), n = begin;

	/* A longer one is nobody's. */
	for (; *name && n < 600; name++)
		if (is_plain((unsigned char)*name) || (*name == '.' && n > begin))
			p.str[n++] = *name;
		else
			n += (size_t)snprintf(p.str + n, 4, "%%%02X", (unsigned char)*name);
	snprintf(p.str + n, sizeof(p.str) - n, "%s", tail);
	return p;
}

struct cell_path cell_path(const char *cell, const char *tail)
{
	return vivd_path("/v1/cells/", cell, tail);
}

void query_add(struct buf *path, const char *name, const char *value)
{
	char c[4];

	if (!value)
		return;
	buf_add_text(path, path->len && memchr(path->p, '?', path->len) ? "&" : "?");
	buf_add_text(path, name);
	buf_add_text(path, "=");
	for (; *value; value++) {
		snprintf(c, sizeof(c), is_plain((unsigned char)*value) ? "%c" : "%%%02X",
			 (unsigned char)*value);
		buf_add_text(path, c);
	}
}

/* ---- long work ---- */

void interrupt_allow(void)
{
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
}

struct work {
	const char *what;
	bool bar;
	int64_t began;
	struct json_doc *result;
	int status;
	bool ended;
};

static uint64_t number_of(const struct json *v, const char *key)
{
	uint64_t n = 0;

	json_get_u64(v, key, &n);
	return n;
}

static int work_line(void *arg, const char *line, size_t size)
{
	struct work *w = arg;
	struct json_doc d;
	struct err e;
	const char *type;

	if (json_parse(&d, line, size, &e) < 0)
		return 0;
	type = json_show(d.root, "type");
	if (!strcmp(type, "progress") && w->bar) {
		bar_print(w->what, number_of(d.root, "files"), number_of(d.root, "bytes"),
			  number_of(d.root, "done"), number_of(d.root, "total"), w->began);
	} else if (!strcmp(type, "end")) {
		w->ended = true;
		*w->result = d;
		return 0;
	} else if (!strcmp(type, "error")) {
		if (w->bar)
			bar_clear();
		w->ended = true;
		w->status = refused_print(d.root);
	}
	json_free(&d);
	return 0;
}

void warnings_print(const struct json *result)
{
	const struct json *list = json_get(result, "warnings", JSON_LIST);

	for (const struct json *w = list ? list->first : NULL; w; w = w->next)
		if (w->text)
			warn("%s", w->text);
}

int vivd_work(struct viv_client *c, const char *path, struct buf *body, const char *what,
	      bool quiet, struct json_doc *doc)
{
	struct work w = { .what = what,
			  .bar = !quiet && isatty(STDERR_FILENO),
			  .began = bar_now(),
			  .result = doc };
	struct viv_error error;
	struct viv_reply reply;
	int r;

	interrupt_allow();
	json_member_add(body, "progress", "true");
	buf_add(body, "}", 2);
	r = viv_stream(c, "POST", path, (char *)body->p, work_line, &w, &reply, &error);
	if (w.bar)
		bar_clear();
	if (r < 0)
		w.status = report_viv(&error);
	else if (reply.status != 200)
		w.status = vivd_refused(&reply);
	else if (!w.ended)
		w.status = fail(ERR_FAILED, "vivd ended before the work did");
	viv_reply_free(&reply);
	return w.status;
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
