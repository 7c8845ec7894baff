/* viv transcript: what was said and done in a session, to read, to keep and to search. */
#include "cli/transcript.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/report.h"
#include "cli/args.h"
#include "cli/list.h"
#include "base/safetext.h"
#include "cli/session.h"
#include "cli/sessionview.h"

enum form { FORM_TEXT, FORM_JSON, FORM_MARKDOWN, FORM_HTML };

struct output {
	enum form form;
	FILE *to;
	struct transcript t;
	struct session_view *view;
	uint64_t last; /* event */
	unsigned bad; /* lines that are no events */
};

static int line_take(void *arg, const char *line, size_t size)
{
	struct output *o = arg;
	struct event ev;
	struct err e;
	int r = 0;

	if (o->form == FORM_MARKDOWN || o->form == FORM_HTML) {
		r = transcript_add(&o->t, line, size, &e);
		if (!r) {
			size_t n = BUF_COUNT(&o->t.events, struct event *);

			o->last = (*BUF_ITEM(&o->t.events, struct event *, n - 1))->seq;
		}
	} else {
		r = event_read(&ev, line, size, &e);
		if (!r) {
			o->last = ev.seq;
			if (o->form == FORM_TEXT)
				view_event(o->view, &ev);
			event_free(&ev);
		}
		if (o->form == FORM_JSON && !r) {
			if (isatty(fileno(o->to)))
				safe_json(o->to, line, size);
			else
				fwrite(line, 1, size, o->to);
			putc('\n', o->to);
		}
	}
	o->bad += r < 0;
	return ferror(o->to) ? 1 : 0;
}

/* ---- where events come from ---- */

static int file_read(struct output *o, const char *path, struct err *e)
{
	FILE *f = strcmp(path, "-") ? fopen(path, "re") : stdin;
	char *line = NULL;
	size_t cap = 0;
	ssize_t n;
	int r = 0;

	if (!f)
		return err_set(e, ERR_FAILED, "cannot read %s: %s", path, strerror(errno));
	while (!r && (n = getline(&line, &cap, f)) > 0) {
		if (line[n - 1] == '\n')
			line[--n] = '\0';
		if (n)
			r = line_take(o, line, (size_t)n);
	}
	if (ferror(f))
		r = err_set(e, ERR_FAILED, "cannot read %s: %s", path, strerror(errno));
	if (f != stdin)
		fclose(f);
	free(line);
	return r < 0 ? -1 : 0;
}

/* vivd may give them in pieces. */
static int session_fetch(struct output *o, const char *word, struct err *e)
{
	struct session_id s;
	struct json_doc d = { 0 };
	struct viv_client *c;
	struct viv_error error;
	struct viv_reply reply;
	uint64_t since;
	char tail[64];

	if (session_find(word, &s, e) < 0 ||
	    vivd_ask("GET", session_path(&s, "").str, NULL, &d, e) < 0 || vivd_connect(&c, e) < 0)
		return -1;
	transcript_head(&o->t, d.root);
	json_free(&d);
	do {
		since = o->last;
		snprintf(tail, sizeof(tail), "/events?since=%llu", (unsigned long long)since);
		if (viv_stream(c, "GET", session_path(&s, tail).str, NULL, line_take, o, &reply,
			       &error) < 0)
			return viv_error_get(&error, e);
		if (reply.status != 200)
			return vivd_refusal(&reply, e);
		viv_reply_free(&reply);
	} while (o->last > since && !ferror(o->to));
	return 0;
}

/* ---- the verb ---- */

static int form_read(const struct args *a, enum form *ret, struct err *e)
{
	unsigned n = a->json + arg_is_on(a, "markdown") + arg_is_on(a, "html");

	if (n > 1)
		return args_wrong(a, e, "--json, --markdown and --html exclude each other");
	*ret = a->json		      ? FORM_JSON
	       : arg_is_on(a, "html") ? FORM_HTML
	       : n		      ? FORM_MARKDOWN
				      : FORM_TEXT;
	return 0;
}

static int output_write(struct output *o, const char *from, const char *word, struct err *e)
{
	int r = from ? file_read(o, from, e) : session_fetch(o, word, e);

	if (!r && o->form == FORM_HTML)
		transcript_html(&o->t, o->to);
	else if (!r && o->form == FORM_MARKDOWN)
		transcript_markdown(&o->t, o->to);
	else if (o->form == FORM_TEXT)
		view_break(o->view);
	if (!r && o->bad)
		warn("%u lines are not events of a session, and were left out", o->bad);
	return r;
}

int transcript_main(struct args *a, struct err *e)
{
	const char *path = arg_value(a, "output"), *from = arg_value(a, "from");
	struct output o = { .to = stdout };
	int r;

	if (!from == !a->n)
		return args_wrong(a, e, "give either a session, or --from FILE");
	if (form_read(a, &o.form, e) < 0)
		return -1;
	if (path && strcmp(path, "-"))
		o.to = fopen(path, "we");
	if (!o.to)
		return err_set(e, ERR_FAILED, "cannot write %s: %s", path, strerror(errno));
	transcript_init(&o.t);
	o.view = view_new(o.to, 0);
	r = output_write(&o, from, a->words[0], e);
	view_free(o.view);
	transcript_fini(&o.t);
	if (o.to != stdout && (fclose(o.to) || r < 0)) {
		unlink(path);
		return r < 0 ? -1 : err_set(e, ERR_FAILED, "cannot write %s", path);
	}
	return r;
}

/* ---- search ---- */

static void heading_print(void)
{
	printf("%-18s %6s  %-19s %s\n", "SESSION", "EVENT", "TIME", "TEXT");
}

static void row_print(const struct json *m)
{
	const char *text = member_text(m, "snippet");

	printf("%-18.18s %6s  %-19.19s ", member_text(m, "session"), member_text(m, "seq"),
	       member_text(m, "time"));
	safe_print(stdout, text, strlen(text), SAFE_LINE, 0);
	putchar('\n');
}

static const char *session_shown(const struct json *m)
{
	return member_text(m, "session");
}

int transcript_search_main(struct args *a, struct err *e)
{
	struct listing l = { .member = "transcripts",
			     .heading = heading_print,
			     .row = row_print,
			     .name = session_shown };
	struct buf path = { 0 };
	char *words = prompt_read(a->words, e);
	int r;

	if (!words)
		return -1;
	buf_add_text(&path, "/v1/transcripts");
	query_add(&path, "q", words);
	query_add(&path, "cell", arg_value(a, "cell"));
	query_add(&path, "limit", arg_value(a, "limit"));
	l.path = (const char *)path.p;
	r = list_show(a, &l, e);
	buf_free(&path);
	free(words);
	return r;
}
