/* Tools about sessions of agents in cells: read what happened, close one, and see which questions
 * wait for a person; see mcp.h. */
#include <stdlib.h>
#include <string.h>

#include "base/jsontext.h"
#include "base/utf8.h"
#include "cli/mcp/turn.h"
#include "cli/sessionview.h"
#include "cli/vivd.h"

#define EVENTS_DEFAULT 500
#define EVENTS_MAX 10000
#define OUTPUT_DEFAULT 30000
#define OUTPUT_MAX 262144
#define APPROVALS_SHOWN 100

#define SESSION_ARG                                                                         \
	{                                                                                   \
		"session", ARG_TEXT, true, 0, 64, .about = "the id that agent_run returned" \
	}
#define CELL_ARG                                            \
	{                                                   \
		"cell", ARG_TEXT, false, 0, 256,            \
			.about = "name or id of its cell; " \
				 "may be left out"          \
	}

int session_get(const char *cell, const char *session, struct session_id *ret, struct err *e)
{
	struct json_doc d = { 0 };
	char tail[96];
	int r;

	if (strncmp(session, "s_", 2) || strspn(session + 2, "0123456789abcdef") != 16 ||
	    session[18])
		return err_set(e, ERR_INVALID,
			       "'session' must be an id such as s_0123456789abcdef" REMEDY
			       "agent_run returns it");
	if (!*cell)
		return session_find(session, ret, e);
	snprintf(tail, sizeof(tail), "/sessions/%s", session);
	if (vivd_ask("GET", cell_path(cell, tail).str, NULL, &d, e) < 0)
		return -1;
	r = session_read(d.root, ret, e);
	json_free(&d);
	return r;
}

/* ---- session_events ---- */

static const struct tool_arg events_args[] = {
	SESSION_ARG,
	CELL_ARG,
	{ "since", ARG_COUNT, false, 0, 0,
	  .about = "number of the last event that is known (default 0: from the beginning)" },
	{ "limit", ARG_COUNT, false, 1, EVENTS_MAX,
	  .about = "at most so many events (default 500)" },
	{ "max_output", ARG_COUNT, false, 100, OUTPUT_MAX,
	  .about = "bytes of text after which no further event is returned (default 30000)" },
};

struct events_state {
	struct session_view *view;
	FILE *f;
	char *text;
	size_t size, max;
	uint64_t last, n;
};

static int events_line(void *arg, const char *line, size_t size)
{
	struct events_state *x = arg;
	struct event ev;
	struct err unused;

	if (event_read(&ev, line, size, &unused) < 0)
		return 0;
	x->last = MAX(x->last, ev.seq);
	x->n++;
	view_event(x->view, &ev);
	event_free(&ev);
	fflush(x->f);
	return x->size >= x->max;
}

/* Not vivd_stream: events of errors are no errors of the stream. */
static int events_read(const struct session_id *s, struct events_state *x, uint64_t limit,
		       struct err *e)
{
	struct viv_client *c;
	struct viv_error error;
	struct viv_reply reply = { 0 };
	char tail[96];
	int r;

	snprintf(tail, sizeof(tail), "/events?since=%llu&limit=%llu", (unsigned long long)x->last,
		 (unsigned long long)limit);
	if (vivd_connect(&c, e) < 0)
		return -1;
	r = viv_stream(c, "GET", session_path(s, tail).str, NULL, events_line, x, &reply, &error);
	if (r < 0)
		return viv_error_get(&error, e);
	if (!r && reply.status != 200)
		r = vivd_refusal(&reply, e);
	viv_reply_free(&reply);
	return r < 0 ? -1 : 0;
}

static void events_write(const struct events_state *x, const struct session_id *s, struct answer *a)
{
	bool more = x->last < s->last;
	struct bounded b;
	char *text;
	size_t n;

	/* One event can be larger than all that is wanted. */
	bounded_init(&b, x->max * 2);
	bounded_add(&b, x->text, x->size);
	text = bounded_text(&b, &n);
	fwrite(text, 1, n, a->text);
	fprintf(a->text, more ? "[more after event %llu]\n" : "[event %llu is the last]\n",
		(unsigned long long)x->last);
	fprintf(a->data,
		"{\"state\":\"%s\",\"events\":%llu,\"next\":%llu,\"more\":%s,\"text\":", s->state,
		(unsigned long long)x->n, (unsigned long long)x->last, more ? "true" : "false");
	json_bytes(a->data, text, n);
	fputc('}', a->data);
	free(text);
	bounded_fini(&b);
}

static int events_run(struct task *t, const struct json *args, struct answer *a, struct err *e)
{
	struct events_state x = { .last = arg_count(args, "since", 0),
				  .max = arg_count(args, "max_output", OUTPUT_DEFAULT) };
	struct session_id s;
	int r;

	(void)t;
	if (session_get(arg_cell(args), json_get_text(args, "session"), &s, e) < 0)
		return -1;
	x.f = open_memstream(&x.text, &x.size);
	if (!x.f)
		return err_set(e, ERR_FAILED, "out of memory");
	x.view = view_new(x.f, 0);
	r = events_read(&s, &x, arg_count(args, "limit", EVENTS_DEFAULT), e);
	view_break(x.view);
	view_free(x.view);
	fclose(x.f);
	if (!r)
		events_write(&x, &s, a);
	free(x.text);
	return r;
}

/* ---- session_close ---- */

static const struct tool_arg close_args[] = { SESSION_ARG, CELL_ARG };

static int close_run(struct task *t, const struct json *args, struct answer *a, struct err *e)
{
	struct session_id s;

	(void)t;
	if (session_get(arg_cell(args), json_get_text(args, "session"), &s, e) < 0 ||
	    vivd_ask("POST", session_path(&s, "/close").str, NULL, NULL, e) < 0)
		return -1;
	fprintf(a->text, "closed %s\n", s.id);
	fprintf(a->data, "{\"closed\":\"%s\"}", s.id);
	return 0;
}

/* ---- approvals_list ---- */

static const struct tool_arg approvals_args[] = {
	{ "cell", ARG_TEXT, false, 0, 256, .about = "only those of this cell" },
};

/* What is asked, in a line. */
static void what_read(const struct json *q, char *to, size_t size)
{
	static const char *const members[] = { "title",	  "action", "method", "name",
					       "address", "port",   "path",   "to" };
	struct buf b = { 0 };

	for (unsigned i = 0; i < ARRAY_LEN(members); i++)
		if (*json_show(q, members[i])) {
			buf_add_text(&b, b.len ? " " : "");
			buf_add_text(&b, json_show(q, members[i]));
		}
	text_clean(b.len ? (char *)b.p : "", b.len, to, size);
	buf_free(&b);
}

static void approval_write(struct answer *a, const struct json *q)
{
	static const char *const members[] = { "cell", "scope", "session", "program" };
	char what[512], clean[256];
	uint64_t id = 0;

	json_get_u64(q, "id", &id);
	what_read(q, what, sizeof(what));
	question_line(a->text, id, what);
	fputc('\n', a->text);
	fprintf(a->data, "{\"id\":%llu,\"what\":", (unsigned long long)id);
	json_quoted(a->data, what);
	for (unsigned i = 0; i < ARRAY_LEN(members); i++) {
		const char *text = json_show(q, members[i]);

		if (!*text)
			continue;
		text_clean(text, strlen(text), clean, sizeof(clean));
		fprintf(a->data, ",\"%s\":", members[i]);
		json_quoted(a->data, clean);
	}
	fputc('}', a->data);
}

static int approvals_run(struct task *t, const struct json *args, struct answer *a, struct err *e)
{
	const char *cell = arg_cell(args);
	struct buf path = { 0 };
	struct json_doc d = { 0 };
	const struct json *list;
	unsigned n = 0, left = 0;

	(void)t;
	buf_add_text(&path, "/v1/approvals");
	query_add(&path, "cell", *cell ? cell : NULL);
	if (vivd_ask("GET", (char *)path.p, NULL, &d, e) < 0)
		return -1;
	list = json_get(d.root, "approvals", JSON_LIST);
	fputs("{\"approvals\":[", a->data);
	for (const struct json *q = list ? list->first : NULL; q; q = q->next) {
		if (n == APPROVALS_SHOWN) {
			left++;
			continue;
		}
		fputs(n++ ? "," : "", a->data);
		approval_write(a, q);
	}
	fprintf(a->data, "],\"left_out\":%u}", left);
	if (!n)
		fputs("[no question is open]\n", a->text);
	if (left)
		fprintf(a->text, "[%u more are left out]\n", left);
	json_free(&d);
	buf_free(&path);
	return 0;
}

#define ARGS(list) .args = list, .nargs = ARRAY_LEN(list)

const struct tool session_tools[] = {
	{ "session_events", "Read a transcript",
	  "Returns what was said and done in a session of an agent, as text. 'next' is the number "
	  "for 'since' of the following call.",
	  events_run, ARGS(events_args), TOOL_REPEATABLE },
	{ "session_close", "Close a session",
	  "Ends the agent of a session that is not needed any more. Its transcript stays.",
	  close_run, ARGS(close_args), TOOL_WRITES | TOOL_DESTROYS },
	{ "approvals_list", "List open questions",
	  "Lists what cells and their agents ask permission for at the moment. People answer, with "
	  "'viv approvals'; no tool does.",
	  approvals_run, ARGS(approvals_args), TOOL_REPEATABLE },
};
const unsigned nsession_tools = ARRAY_LEN(session_tools);
