/* Tools that let an agent in a cell work: which there are, and one prompt for one; see mcp.h. A
 * call that is cancelled cancels the agent's turn; the session stays, and so does its transcript.
 * What the agent asks for is a person's to answer: here it is only told. */
#include <stdlib.h>
#include <string.h>

#include "base/jsontext.h"
#include "base/utf8.h"
#include "cli/mcp/turn.h"
#include "cli/vivd.h"
#include "keeper/channel.h"

#define OUTPUT_DEFAULT 30000
#define OUTPUT_MAX 262144
#define PROMPT_MAX 1048576
#define TIMEOUT_DEFAULT 1800
#define TIMEOUT_MAX 86400

/* ---- agent_list ---- */

static void member_write(FILE *to, const char *name, const char *text)
{
	fprintf(to, "\"%s\":", name);
	json_quoted(to, text);
}

static void agent_write(struct answer *a, const struct json *agent)
{
	const struct json *error = json_get(agent, "error", JSON_OBJECT);
	const char *image = json_show(agent, "image"), *name = json_show(agent, "name");
	bool there = !error && (!strcmp(image, "host") || *json_show(agent, "image_id"));
	char title[256];

	text_clean(json_show(agent, "title"), strnlen(json_show(agent, "title"), 200), title,
		   sizeof(title));
	fprintf(a->text, "%s  %s  %s\n", name, title,
		error	? "(its definition is wrong)"
		: there ? "image is there"
			: "no image yet: a person makes it with 'viv agent add'");
	fputc('{', a->data);
	member_write(a->data, "name", name);
	fputc(',', a->data);
	member_write(a->data, "title", title);
	fputc(',', a->data);
	member_write(a->data, "image", image);
	fprintf(a->data, ",\"image_exists\":%s}", there ? "true" : "false");
}

static int list_run(struct task *t, const struct json *args, struct answer *a, struct err *e)
{
	struct json_doc d = { 0 };
	const struct json *list;

	(void)t;
	(void)args;
	if (vivd_ask("GET", "/v1/agents", NULL, &d, e) < 0)
		return -1;
	list = json_get(d.root, "agents", JSON_LIST);
	fputs("{\"agents\":[", a->data);
	for (const struct json *m = list ? list->first : NULL; m; m = m->next) {
		agent_write(a, m);
		fputs(m->next ? "," : "", a->data);
	}
	fputs("]}", a->data);
	if (!list || !list->first)
		fputs("[none]\n", a->text);
	json_free(&d);
	return 0;
}

/* ---- agent_run: the session ---- */

static const struct tool_arg run_args[] = {
	{ "cell", ARG_TEXT, true, 0, 256, .about = "name or id of the cell" },
	{ "prompt", ARG_TEXT, true, 0, PROMPT_MAX, .about = "what the agent is to do" },
	{ "agent", ARG_TEXT, false, 0, 64,
	  .about = "a known agent (agent_list), for which a new session is opened" },
	{ "command", ARG_TEXTS, false, 0, 0,
	  .about = "instead of 'agent': program and arguments of an agent that speaks ACP" },
	{ "session", ARG_TEXT, false, 0, 64,
	  .about = "instead of both: go on with this session, which an earlier call returned" },
	{ "workdir", ARG_TEXT, false, 0, 4096,
	  .about = "directory that a new session works in, an absolute path" },
	{ "timeout", ARG_NUMBER, false, 0.001, TIMEOUT_MAX,
	  .about = "cancel the turn after so many seconds (default 1800); one that waits for a "
		   "person's permission then is not cancelled" },
	{ "max_output", ARG_COUNT, false, 100, OUTPUT_MAX,
	  .about = "bytes of the agent's text to return (default 30000): of more, the beginning "
		   "and the end" },
};

static void open_body(struct buf *b, const struct json *args)
{
	const struct json *command = json_get(args, "command", JSON_LIST);

	buf_add_text(b, "{");
	json_member_text(b, "agent", json_get_text(args, "agent"));
	if (command) {
		json_member_add(b, "command", "[");
		for (const struct json *w = command->first; w; w = w->next)
			json_member_text(b, NULL, w->text);
		buf_add_text(b, "]");
	}
	json_member_text(b, "workdir", json_get_text(args, "workdir"));
	buf_add(b, "}", 2);
}

static int session_open(const struct json *args, struct session_id *ret, struct err *e)
{
	const char *session = json_get_text(args, "session");
	struct json_doc d = { 0 };
	struct buf b = { 0 };
	int r;

	if (!!session + !!json_get_text(args, "agent") + !!json_get(args, "command", JSON_LIST) !=
	    1)
		return err_set(e, ERR_INVALID, "give one of 'agent', 'command' and 'session'");
	if (session && json_get_text(args, "workdir"))
		return err_set(e, ERR_INVALID, "'workdir' is for a new session only");
	if (session)
		return session_get(arg_cell(args), session, ret, e);
	open_body(&b, args);
	r = vivd_ask("POST", cell_path(arg_cell(args), "/sessions").str, (char *)b.p, &d, e);
	buf_free(&b);
	if (!r)
		r = session_read(d.root, ret, e);
	json_free(&d);
	return r;
}

static void session_tell(struct task *t, const struct session_id *s)
{
	char line[128];
	int n = snprintf(line, sizeof(line), "session %.64s", s->id);

	task_tell(t, line, (size_t)n, true);
}

/* ---- agent_run: the result ---- */

static void calls_write(const struct turn *x, struct answer *a)
{
	unsigned kept = MIN(x->ncalls, (unsigned)TURN_CALLS_MAX);

	fputs(",\"tool_calls\":[", a->data);
	for (unsigned i = 0; i < kept; i++) {
		const struct turn_call *c = &x->calls[i];

		fprintf(a->text, "[tool call: %s%s%s]\n", c->title, c->status[0] ? ", " : "",
			c->status);
		fputs(i ? ",{" : "{", a->data);
		member_write(a->data, "title", c->title);
		fputc(',', a->data);
		member_write(a->data, "kind", c->kind);
		fputc(',', a->data);
		member_write(a->data, "status", c->status);
		fputc('}', a->data);
	}
	fprintf(a->data, "],\"tool_calls_left_out\":%u", x->ncalls - kept);
	if (x->ncalls > kept)
		fprintf(a->text, "[%u more tool calls]\n", x->ncalls - kept);
}

static void questions_write(const struct turn *x, struct answer *a)
{
	fputs(",\"approvals\":[", a->data);
	for (unsigned i = 0; i < x->nquestions; i++) {
		const struct turn_question *q = &x->questions[i];

		fputc('[', a->text);
		question_line(a->text, q->approval, q->title);
		fputs("]\n", a->text);
		fprintf(a->data, "%s{\"id\":%llu,", i ? "," : "", (unsigned long long)q->approval);
		member_write(a->data, "title", q->title);
		fputc('}', a->data);
	}
	fputc(']', a->data);
}

static const char *stop_reason(const struct turn *x)
{
	if (x->stop_reason[0])
		return x->stop_reason;
	if (x->nquestions && x->timed_out)
		return "waiting";
	return x->timed_out ? "unfinished" : "error";
}

static void run_write(const struct turn *x, struct answer *a)
{
	const char *reason = stop_reason(x);
	size_t n, len;
	char *kept = bounded_text(&x->text, &n), *text = agent_text(kept, n, &len);

	fwrite(text, 1, len, a->text);
	if (len && text[len - 1] != '\n')
		fputc('\n', a->text);
	fprintf(a->data, "{\"session\":\"%s\",\"stop_reason\":", x->session.id);
	json_quoted(a->data, reason);
	fputs(",\"text\":", a->data);
	json_bytes(a->data, text, len);
	fprintf(a->data, ",\"truncated\":%s", bounded_is_cut(&x->text) ? "true" : "false");
	free(kept);
	free(text);
	calls_write(x, a);
	questions_write(x, a);
	if (x->error[0] && strcmp(reason, "end_turn")) {
		fprintf(a->text, "[error: %s]\n", x->error);
		fputc(',', a->data);
		member_write(a->data, "error", x->error);
	}
	if (x->timed_out)
		fprintf(a->text, "[the time was up%s]\n",
			x->nquestions ? "; the turn goes on when the question is answered" : "");
	fprintf(a->text, "[stop reason: %s; session %s]\n", reason, x->session.id);
	fprintf(a->data, ",\"timed_out\":%s,\"last_seq\":%llu}", x->timed_out ? "true" : "false",
		(unsigned long long)x->last);
}

static int run_run(struct task *t, const struct json *args, struct answer *a, struct err *e)
{
	static struct turn x;
	const struct json *timeout = json_get(args, "timeout", JSON_NUMBER);
	double seconds = timeout ? strtod(timeout->text, NULL) : TIMEOUT_DEFAULT;

	x.t = t;
	x.max = arg_count(args, "max_output", OUTPUT_DEFAULT);
	task_hold(&x.flags);
	if (session_open(args, &x.session, e) < 0)
		return -1;
	session_tell(t, &x.session);
	turn_cancel_check(&x);
	x.last = x.session.last;
	if (session_prompt(&x.session, json_get_text(args, "prompt"), &x.prompt, e) < 0)
		return -1;
	x.deadline = clock_mono() + (int64_t)(seconds * (double)NSEC_PER_SEC);
	if (turn_follow(&x, e) < 0)
		return err_wrap(e, "the session %s cannot be followed any more", x.session.id);
	run_write(&x, a);
	return 0;
}

#define ARGS(list) .args = list, .nargs = ARRAY_LEN(list)

const struct tool agent_tools[] = {
	{ "agent_list", "List agents",
	  "Lists the agents that this machine knows, and whether the image of each is there.",
	  list_run, .flags = TOOL_REPEATABLE },
	{ "agent_run", "Let an agent work",
	  "Prompts an agent in a cell and waits for the end of its turn. Returns what it said "
	  "last, "
	  "its tool calls and the session, with which a further call goes on. Permissions that it "
	  "asks for are answered by people, not by this tool. Cancelling the request cancels the "
	  "turn.",
	  run_run, ARGS(run_args), TOOL_WRITES | TOOL_DESTROYS | TOOL_OUTSIDE,
	  "{\"type\":\"object\",\"properties\":{\"session\":{\"type\":\"string\"},"
	  "\"stop_reason\":{\"type\":\"string\"},\"text\":{\"type\":\"string\"},"
	  "\"truncated\":{\"type\":\"boolean\"},\"tool_calls\":{\"type\":\"array\",\"items\":{"
	  "\"type\":\"object\"}},\"tool_calls_left_out\":{\"type\":\"integer\"},"
	  "\"approvals\":{\"type\":\"array\",\"items\":{\"type\":\"object\"}},"
	  "\"error\":{\"type\":\"string\"},\"timed_out\":{\"type\":\"boolean\"},"
	  "\"last_seq\":{\"type\":\"integer\"}}}" },
};
const unsigned nagent_tools = ARRAY_LEN(agent_tools);
