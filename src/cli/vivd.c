/* See vivd.h. */
#include "cli/vivd.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/bar.h"
#include "base/jsontext.h"
#include "cli/args.h"
#include "keeper/channel.h"

/* A wait that lost vivd: how often it tries again, when it starts vivd itself, when it gives up;
 * and how long a connection has to last for all of this to begin anew. */
#define WAIT_STEP_US 50000
#define WAIT_START (3 * NSEC_PER_SEC)
#define WAIT_LOST (15 * NSEC_PER_SEC)
#define WAIT_HELD (1 * NSEC_PER_SEC)

#define ASK_AGAIN 3

static struct viv_client *client;

int viv_error_get(const struct viv_error *error, struct err *e)
{
	err_note(e, err_kind_of(error->kind, 0), "%s", error->text);
	err_cause(e, error->cause);
	err_remedy(e, error->remedy);
	return -1;
}

int vivd_connect(struct viv_client **ret, struct err *e)
{
	struct viv_error error = { 0 };

	if (!client)
		client = viv_open(NULL, VIV_START, &error);
	*ret = client;
	if (client)
		return 0;
	viv_error_get(&error, e);
	if (e->kind == ERR_DENIED)
		err_remedy(e, "is the vivd another user's?");
	else
		err_wrap(e, "vivd cannot be reached" REMEDY "'viv doctor' shows what is missing");
	return -1;
}

void vivd_disconnect(void)
{
	viv_close(client);
	client = NULL;
}

void vivd_interrupt(void)
{
	if (client)
		viv_interrupt(client);
}

int vivd_refusal(const struct viv_reply *reply, struct err *e)
{
	struct json_doc d;

	if (json_parse(&d, reply->body, reply->size, e) < 0)
		return err_set(e, err_kind_of("", reply->status), "vivd answered with status %d",
			       reply->status);
	json_get_err(d.root, reply->status, e);
	json_free(&d);
	return -1;
}

int vivd_get(const char *path, struct viv_client **ret, struct err *e)
{
	struct viv_error error;
	struct viv_reply reply;

	if (vivd_connect(ret, e) < 0)
		return -1;
	if (viv_get_begin(*ret, path, &reply, &error) < 0)
		return viv_error_get(&error, e);
	if (reply.status == 200)
		return 0;
	vivd_refusal(&reply, e);
	viv_reply_free(&reply);
	return -1;
}

/* A vivd that was just killed, or is replaced by another one, is no reason not to read. */
static bool can_ask_again(const char *method, const struct viv_error *error, int tries)
{
	return tries < ASK_AGAIN && !strcmp(method, "GET") &&
	       (error->code == ECONNRESET || error->code == EPIPE);
}

/* The answer: 0 with doc, or its error. Frees it. */
static int reply_take(struct viv_reply *reply, struct json_doc *doc, struct err *e)
{
	int r = 0;

	if (reply->status >= 300)
		r = vivd_refusal(reply, e);
	else if (doc && json_parse(doc, reply->body, reply->size, e) < 0)
		r = err_wrap(e, "vivd's answer cannot be read");
	viv_reply_free(reply);
	return r;
}

int vivd_ask(const char *method, const char *path, const char *body, struct json_doc *doc,
	     struct err *e)
{
	struct viv_error error;
	struct viv_client *c;
	struct viv_reply reply;
	int r = -1;

	for (int tries = 0; r < 0; tries++) {
		if (vivd_connect(&c, e) < 0)
			return -1;
		r = viv_call(c, method, path, body, &reply, &error);
		if (r < 0 && !can_ask_again(method, &error, tries))
			return viv_error_get(&error, e);
		if (r < 0)
			vivd_disconnect();
	}
	return reply_take(&reply, doc, e);
}

static bool is_ending(const struct viv_reply *reply)
{
	struct err e = { 0 };

	return reply->status >= 300 && vivd_refusal(reply, &e) < 0 && e.kind == ERR_ENDING;
}

int vivd_wait(const char *path, struct json_doc *doc, struct err *e)
{
	int64_t broke = 0, began, now;
	struct viv_error error = { 0 };
	struct viv_client *c;
	struct viv_reply reply;

	if (vivd_connect(&c, e) < 0)
		return -1;
	for (;;) {
		began = clock_mono();
		if (viv_call(c, "GET", path, NULL, &reply, &error) == 0) {
			if (!is_ending(&reply))
				return reply_take(&reply, doc, e);
			snprintf(error.text, sizeof(error.text), "vivd ends");
			viv_reply_free(&reply);
		} else if (error.code == EACCES || error.code == EPERM || error.code == EPROTO) {
			return viv_error_get(&error, e);
		}
		now = clock_mono();
		if (!broke || now - began > WAIT_HELD)
			broke = now;
		if (now - broke > WAIT_LOST)
			return viv_error_get(&error, e);
		usleep(WAIT_STEP_US);
		/* Whoever restarts it may have options for it. */
		if (now - broke > WAIT_START && viv_start(NULL, &error) < 0)
			return viv_error_get(&error, e);
	}
}

int words_each(const struct args *a, word_fn fn, void *arg, struct err *e)
{
	struct viv_client *c;
	int status = 0, r;

	if (vivd_connect(&c, e) < 0)
		return -1;
	for (int i = 0; i < a->n; i++) {
		r = fn(a, a->words[i], arg, e) < 0 ? report(e) : 0;
		status = status ? status : r;
	}
	return status;
}

/* ---- line by line ---- */

struct stream {
	viv_line_fn fn;
	void *arg;
	struct err *e;
	bool failed;
};

static int stream_line(void *arg, const char *line, size_t size)
{
	struct stream *s = arg;
	struct json_doc d = { 0 };
	bool error = strstr(line, "\"error\"") && json_parse(&d, line, size, s->e) == 0 &&
		     !strcmp(json_show(d.root, "type"), "error");

	if (error)
		json_get_err(d.root, 0, s->e);
	json_free(&d);
	s->failed |= error;
	return error ? 0 : s->fn(s->arg, line, size);
}

int vivd_stream(const char *method, const char *path, const char *body, viv_line_fn fn, void *arg,
		struct err *e)
{
	struct stream s = { .fn = fn, .arg = arg, .e = e };
	struct viv_client *c;
	struct viv_error error;
	struct viv_reply reply;
	int r;

	if (vivd_connect(&c, e) < 0)
		return -1;
	if (viv_stream(c, method, path, body, stream_line, &s, &reply, &error) < 0)
		return viv_error_get(&error, e);
	r = reply.status != 200 ? vivd_refusal(&reply, e) : s.failed ? -1 : 0;
	viv_reply_free(&reply);
	return r;
}

int vivd_follow(struct viv_client **ret, const char *path, struct err *e)
{
	struct viv_error error = { 0 };
	struct viv_reply reply = { 0 };
	struct viv_client *c = viv_open(NULL, VIV_START, &error);
	int r = 0;

	if (c && viv_follow(c, path, &reply, &error) == 0) {
		if (reply.status == 200) {
			*ret = c;
			return 1;
		}
		r = vivd_refusal(&reply, e) < 0 && e->kind == ERR_ENDING ? 0 : -1;
		viv_reply_free(&reply);
	} else {
		viv_error_get(&error, e);
	}
	viv_close(c);
	return r;
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

int vivd_work(const char *path, struct buf *body, const char *what, bool quiet,
	      struct json_doc *doc, struct err *e)
{
	struct work w = { .what = what,
			  .bar = !quiet && isatty(STDERR_FILENO),
			  .began = bar_now(),
			  .result = doc };
	int r;

	interrupt_allow();
	json_member_add(body, "progress", "true");
	buf_add(body, "}", 2);
	r = vivd_stream("POST", path, (char *)body->p, work_line, &w, e);
	if (w.bar)
		bar_clear();
	if (!r && !w.ended)
		r = err_set(e, ERR_FAILED, "vivd ended before the work did");
	return r;
}
