/* See sessionview.h. A tool call's line stays open while nothing else is written, so that its
 * result can stand behind it; when something came between, the line is written again with its
 * result. */
#include "cli/sessionview.h"

#include <stdlib.h>
#include <string.h>

#include "cli/color.h"
#include "base/safetext.h"

#define TOOLS 512 /* of which the latest are remembered */
#define PLAN_SHOWN 60
#define OUTPUT_SHOWN 400 /* characters of what a failed call said */

enum open { OPEN_NOTHING, OPEN_MESSAGE, OPEN_THOUGHT, OPEN_USER, OPEN_STDERR, OPEN_TOOL };

struct tool {
	char *id, *title, *kind;
	struct buf diffs; /* lines to print when it has ended */
	bool ended;
};

struct session_view {
	FILE *to;
	unsigned flags;
	enum open open;
	bool in_line; /* something is on the line */
	struct tool tools[TOOLS];
	uint64_t ntools; /* ever; entry i is in tools[i % TOOLS] */
	uint64_t open_tool;
};

struct session_view *view_new(FILE *to, unsigned flags)
{
	struct session_view *v = xalloc(sizeof(*v));

	v->to = to;
	v->flags = flags;
	return v;
}

static void tool_forget(struct tool *t)
{
	free(t->id);
	free(t->title);
	free(t->kind);
	buf_free(&t->diffs);
	*t = (struct tool){ 0 };
}

void view_free(struct session_view *v)
{
	if (!v)
		return;
	for (unsigned i = 0; i < TOOLS; i++)
		tool_forget(&v->tools[i]);
	free(v);
}

void view_break(struct session_view *v)
{
	if (v->in_line)
		putc('\n', v->to);
	v->in_line = false;
	v->open = OPEN_NOTHING;
}

/* ---- texts ---- */

static void text_put(struct session_view *v, const char *text, enum color color)
{
	size_t n = strlen(text);

	if (!n)
		return;
	fputs(color_on(v->to, color), v->to);
	safe_print(v->to, text, n, 0, 0);
	fputs(color_off(v->to, color), v->to);
	v->in_line = text[n - 1] != '\n';
}

static void chunk_show(struct session_view *v, const struct json *content, enum open open)
{
	struct buf b = { 0 };

	if (v->open != open) {
		view_break(v);
		v->open = open;
		if (open == OPEN_USER)
			fputs("> ", v->to);
	}
	buf_add_text(&b, "");
	block_text(&b, content);
	text_put(v, (char *)b.p, open == OPEN_THOUGHT ? COLOR_FAINT : COLOR_NONE);
	buf_free(&b);
}

/* A line of viv's own: before, an agent's text, after. */
static void line_show(struct session_view *v, enum color color, const char *before,
		      const char *text, const char *after)
{
	view_break(v);
	fputs(color_on(v->to, color), v->to);
	fputs(before, v->to);
	safe_print(v->to, text, strlen(text), SAFE_LINE, 0);
	fputs(after, v->to);
	fputs(color_off(v->to, color), v->to);
	putc('\n', v->to);
}

static void prompt_show(struct session_view *v, const struct event *ev)
{
	struct buf b = { 0 };

	if (v->flags & VIEW_NO_PROMPT)
		return;
	view_break(v);
	buf_add_text(&b, "");
	blocks_text(&b, json_get(ev->data, "content", JSON_LIST));
	fputs("> ", v->to);
	text_put(v, (char *)b.p, COLOR_GOOD);
	view_break(v);
	buf_free(&b);
}

/* ---- tool calls ---- */

static struct tool *tool_find(struct session_view *v, const char *id, uint64_t *ret)
{
	for (uint64_t i = v->ntools; i > 0 && i + TOOLS > v->ntools; i--) {
		struct tool *t = &v->tools[(i - 1) % TOOLS];

		if (t->id && !strcmp(t->id, id))
			return *ret = i - 1, t;
	}
	return NULL;
}

static struct tool *tool_add(struct session_view *v, const char *id, uint64_t *ret)
{
	struct tool *t = &v->tools[v->ntools % TOOLS];

	tool_forget(t);
	t->id = xstrndup(id, strlen(id));
	*ret = v->ntools++;
	return t;
}

static void text_set(char **to, const char *text)
{
	if (!text)
		return;
	free(*to);
	*to = xstrndup(text, strlen(text));
}

static void diffs_take(struct tool *t, const struct json *content)
{
	struct diff_texts d;
	unsigned added, removed;
	char counts[48];

	if (!content)
		return;
	t->diffs.len = 0;
	for (const struct json *c = content->first; c; c = c->next) {
		if (!diff_get(c, &d))
			continue;
		if (diff_count(&d, &added, &removed))
			snprintf(counts, sizeof(counts), " +%u -%u%s\n", added, removed,
				 d.is_new ? " (new)" : "");
		else
			snprintf(counts, sizeof(counts), " (too long to compare)\n");
		/* The path is the agent's: a line end in it is not one here. */
		buf_add_text(&t->diffs, "  ");
		for (const char *p = d.path; *p; p++)
			buf_add(&t->diffs, *p == '\n' ? "?" : p, 1);
		buf_add_text(&t->diffs, counts);
	}
}

static const char *mark_of(const char *status, enum color *color)
{
	*color = COLOR_NONE;
	if (!strcmp(status, "completed"))
		return *color = COLOR_GOOD, "✓";
	if (!strcmp(status, "failed"))
		return *color = COLOR_BAD, "✗";
	return "•";
}

static void output_show(struct session_view *v, const struct json *content)
{
	struct buf b = { 0 };
	size_t n;

	buf_add_text(&b, "");
	for (const struct json *c = content ? content->first : NULL; c; c = c->next)
		if (json_get(c, "content", JSON_OBJECT))
			block_text(&b, json_get(c, "content", JSON_OBJECT));
	if (b.len) {
		fputs("  ", v->to);
		n = safe_print(v->to, (char *)b.p, b.len, SAFE_LINE, OUTPUT_SHOWN);
		if (n < b.len)
			fprintf(v->to, " … (%zu more bytes)", b.len - n);
		putc('\n', v->to);
	}
	buf_free(&b);
}

static void tool_line(struct session_view *v, const struct tool *t, const char *status)
{
	enum color color;
	const char *mark = mark_of(status, &color);
	const char *title = t->title ? t->title : t->id;

	view_break(v);
	fprintf(v->to, "%s%s%s ", color_on(v->to, color), mark, color_off(v->to, color));
	safe_print(v->to, title, strlen(title), SAFE_LINE, 0);
	if (t->kind && strcmp(t->kind, "other")) {
		fputs(color_on(v->to, COLOR_FAINT), v->to);
		fputs(" (", v->to);
		safe_print(v->to, t->kind, strlen(t->kind), SAFE_LINE, 0);
		fputs(")", v->to);
		fputs(color_off(v->to, COLOR_FAINT), v->to);
	}
	v->in_line = true;
}

static void tool_ended(struct session_view *v, struct tool *t, uint64_t i, const char *status,
		       const struct json *content)
{
	enum color color;
	const char *mark = mark_of(status, &color);

	if (v->open == OPEN_TOOL && v->open_tool == i && v->in_line)
		fprintf(v->to, " %s%s%s", color_on(v->to, color), mark, color_off(v->to, color));
	else
		tool_line(v, t, status);
	view_break(v);
	if (t->diffs.len)
		safe_print(v->to, (char *)t->diffs.p, t->diffs.len, 0, 0);
	if (!strcmp(status, "failed"))
		output_show(v, content);
	t->ended = true;
}

static void tool_show(struct session_view *v, const struct json *u)
{
	const char *id = member_text(u, "toolCallId"), *status = member_text(u, "status");
	const struct json *content = json_get(u, "content", JSON_LIST);
	uint64_t i;
	struct tool *t = tool_find(v, id, &i);
	bool is_new = !t, ended;

	if (is_new)
		t = tool_add(v, id, &i);
	text_set(&t->title, json_get_text(u, "title"));
	text_set(&t->kind, json_get_text(u, "kind"));
	diffs_take(t, content);
	ended = !strcmp(status, "completed") || !strcmp(status, "failed");
	if (ended && !t->ended) {
		tool_ended(v, t, i, status, content);
	} else if (is_new) {
		tool_line(v, t, "");
		v->open = OPEN_TOOL;
		v->open_tool = i;
	}
}

/* ---- the rest ---- */

static void plan_show(struct session_view *v, const struct json *u)
{
	const struct json *entries = json_get(u, "entries", JSON_LIST);
	unsigned n = 0;

	line_show(v, COLOR_NONE, "Plan", "", "");
	for (const struct json *p = entries ? entries->first : NULL; p; p = p->next) {
		const char *status = member_text(p, "status"), *text = member_text(p, "content");
		bool done = !strcmp(status, "completed");

		if (n++ >= PLAN_SHOWN)
			continue;
		line_show(v, done ? COLOR_FAINT : COLOR_NONE,
			  done				   ? "  [x] "
			  : !strcmp(status, "in_progress") ? "  [>] "
							   : "  [ ] ",
			  text, "");
	}
	if (n > PLAN_SHOWN)
		fprintf(v->to, "  … and %u more\n", n - PLAN_SHOWN);
}

static void update_show(struct session_view *v, const struct event *ev)
{
	const struct json *u = ev->update, *content = json_get(u, "content", JSON_OBJECT);
	const char *kind = ev->kind;

	if (!strcmp(kind, "agent_message_chunk"))
		chunk_show(v, content, OPEN_MESSAGE);
	else if (!strcmp(kind, "agent_thought_chunk"))
		chunk_show(v, content, OPEN_THOUGHT);
	else if (!strcmp(kind, "user_message_chunk"))
		chunk_show(v, content, OPEN_USER);
	else if (!strcmp(kind, "tool_call") || !strcmp(kind, "tool_call_update"))
		tool_show(v, u);
	else if (!strcmp(kind, "plan"))
		plan_show(v, u);
	else if (!strcmp(kind, "current_mode_update"))
		line_show(v, COLOR_FAINT, "mode: ", member_text(u, "currentModeId"), "");
	else if (!strcmp(kind, "notice"))
		line_show(v, COLOR_WARN, "notice: ",
			  *member_text(u, "message") ? member_text(u, "message")
						     : member_text(u, "text"),
			  "");
	else if (!strcmp(kind, "x_notification"))
		line_show(v, COLOR_FAINT, "(notification: ", member_text(u, "method"), ")");
	else if (strcmp(kind, "available_commands_update") && strcmp(kind, "usage_update") &&
		 strcmp(kind, "config_option_update") && strcmp(kind, "session_info_update"))
		line_show(v, COLOR_FAINT, "(update: ", kind, ")");
}

static void turn_show(struct session_view *v, const struct event *ev)
{
	const char *reason = member_text(ev->data, "stop_reason");
	const struct json *usage = json_get(ev->data, "usage", JSON_OBJECT);
	bool well = !strcmp(reason, "end_turn");

	if (!well)
		line_show(v, COLOR_WARN, "the turn ended: ", reason, "");
	if (usage && *member_text(usage, "output_tokens")) {
		view_break(v);
		fputs(color_on(v->to, COLOR_FAINT), v->to);
		fputs("(tokens: ", v->to);
		safe_print(v->to, member_text(usage, "input_tokens"),
			   strlen(member_text(usage, "input_tokens")), SAFE_LINE, 20);
		fputs(" in, ", v->to);
		safe_print(v->to, member_text(usage, "output_tokens"),
			   strlen(member_text(usage, "output_tokens")), SAFE_LINE, 20);
		fputs(" out)", v->to);
		fputs(color_off(v->to, COLOR_FAINT), v->to);
		putc('\n', v->to);
	}
	view_break(v);
}

static void state_show(struct session_view *v, const struct event *ev)
{
	const char *state = member_text(ev->data, "state"),
		   *reason = member_text(ev->data, "reason");

	if (strcmp(state, "failed") && strcmp(state, "closed"))
		return;
	line_show(v, *state == 'f' ? COLOR_BAD : COLOR_FAINT,
		  *state == 'f' ? "the session failed" : "the session is closed", "",
		  *reason ? ":" : "");
	if (*reason)
		line_show(v, COLOR_FAINT, "  ", reason, "");
}

static void error_show(struct session_view *v, const struct event *ev)
{
	line_show(v, COLOR_BAD, "error: ", member_text(ev->data, "message"), "");
	if (*member_text(ev->data, "cause"))
		line_show(v, COLOR_BAD, "  ", member_text(ev->data, "cause"), "");
	if (*member_text(ev->data, "remedy"))
		line_show(v, COLOR_BAD, "  ", member_text(ev->data, "remedy"), "");
}

static void gap_show(struct session_view *v, const struct event *ev)
{
	line_show(v, COLOR_WARN, "(events are missing here: ", member_text(ev->data, "reason"),
		  ")");
}

static void stderr_show(struct session_view *v, const struct event *ev)
{
	if (v->open != OPEN_STDERR) {
		view_break(v);
		v->open = OPEN_STDERR;
	}
	text_put(v, member_text(ev->data, "text"), COLOR_FAINT);
}

static void permission_show(struct session_view *v, const struct event *ev)
{
	const struct json *call = json_get(ev->data, "tool_call", JSON_OBJECT);

	line_show(v, COLOR_WARN, "asks for permission: ", member_text(call, "title"), "");
}

static void answered_show(struct session_view *v, const struct event *ev)
{
	line_show(v, COLOR_FAINT, "answered: ", answer_text(ev->data, NULL), "");
}

void view_event(struct session_view *v, const struct event *ev)
{
	static const struct {
		const char *type;
		void (*show)(struct session_view *v, const struct event *ev);
	} types[] = { { "update", update_show },
		      { "prompt", prompt_show },
		      { "turn", turn_show },
		      { "state", state_show },
		      { "error", error_show },
		      { "gap", gap_show },
		      { "stderr", stderr_show },
		      { "noise", stderr_show },
		      { "permission", permission_show },
		      { "answered", answered_show } };

	for (unsigned i = 0; i < ARRAY_LEN(types); i++)
		if (event_is(ev, types[i].type)) {
			types[i].show(v, ev);
			return;
		}
	if (!event_is(ev, "agent"))
		line_show(v, COLOR_FAINT, "(event: ", ev->type, ")");
}
