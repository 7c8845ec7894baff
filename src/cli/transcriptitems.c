/* See transcript.h: events become items. */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/siphash.h"
#include "cli/transcript.h"

#define INDEX_MIN 64u

void transcript_init(struct transcript *t)
{
	*t = (struct transcript){ 0 };
	if (getrandom(t->key, sizeof(t->key), 0) != sizeof(t->key))
		t->key[0] = 1;
}

void transcript_fini(struct transcript *t)
{
	for (size_t i = 0; i < ITEM_COUNT(t); i++) {
		buf_free(&ITEM_AT(t, i)->text);
		buf_free(&ITEM_AT(t, i)->images);
		free(ITEM_AT(t, i));
	}
	for (size_t i = 0; i < BUF_COUNT(&t->events, struct event *); i++) {
		event_free(*BUF_ITEM(&t->events, struct event *, i));
		free(*BUF_ITEM(&t->events, struct event *, i));
	}
	buf_free(&t->items);
	buf_free(&t->events);
	buf_free(&t->index);
	free(t->head.id);
	free(t->head.cell);
	free(t->head.agent);
	free(t->head.title);
	free(t->head.created);
	*t = (struct transcript){ 0 };
}

static void head_set(char **to, const char *text)
{
	if (*to || !*text)
		return;
	*to = xstrndup(text, strlen(text));
}

void transcript_head(struct transcript *t, const struct json *session)
{
	head_set(&t->head.id, member_text(session, "id"));
	head_set(&t->head.cell, member_text(session, "cell"));
	head_set(&t->head.agent, member_text(session, "agent"));
	head_set(&t->head.title, member_text(session, "title"));
	head_set(&t->head.created, member_text(session, "created"));
}

static struct item *item_add(struct transcript *t, enum item_kind kind, const struct event *ev)
{
	struct item *it = xalloc(sizeof(*it));

	it->kind = kind;
	it->seq = ev->seq;
	it->time = ev->time;
	it->data = ev->data;
	it->id = it->title = it->tool = it->status = "";
	buf_add_text(&it->text, "");
	buf_add(&t->items, &it, sizeof(it));
	t->turn_last = it;
	return it;
}

/* ---- tool calls ---- */

static uint32_t *slot_of(struct transcript *t, const char *id)
{
	size_t n = BUF_COUNT(&t->index, uint32_t), i = siphash(t->key, id, strlen(id)) & (n - 1);

	for (;; i = (i + 1) & (n - 1)) {
		uint32_t *slot = BUF_ITEM(&t->index, uint32_t, i);

		if (!*slot || !strcmp(ITEM_AT(t, *slot - 1)->id, id))
			return slot;
	}
}

static void index_grow(struct transcript *t)
{
	size_t n = BUF_COUNT(&t->index, uint32_t), more = n ? n * 2 : INDEX_MIN;

	if (t->ntools * 2u < n)
		return;
	buf_free(&t->index);
	buf_more(&t->index, more * sizeof(uint32_t));
	for (size_t i = 0; i < ITEM_COUNT(t); i++)
		if (ITEM_AT(t, i)->kind == ITEM_TOOL)
			*slot_of(t, ITEM_AT(t, i)->id) = (uint32_t)i + 1;
}

static struct item *tool_get(struct transcript *t, const struct event *ev, const char *id)
{
	uint32_t *slot;
	struct item *it;

	index_grow(t);
	slot = slot_of(t, id);
	if (*slot)
		return ITEM_AT(t, *slot - 1);
	it = item_add(t, ITEM_TOOL, ev);
	it->id = id;
	*slot = (uint32_t)ITEM_COUNT(t);
	t->ntools++;
	return it;
}

static void text_take(const char **to, const struct json *o, const char *key)
{
	if (*member_text(o, key))
		*to = member_text(o, key);
}

static void value_take(const struct json **to, const struct json *o, const char *key)
{
	if (json_member(o, key))
		*to = json_member(o, key);
}

static void tool_take(struct item *it, const struct json *o)
{
	text_take(&it->title, o, "title");
	text_take(&it->tool, o, "kind");
	text_take(&it->status, o, "status");
	if (json_get(o, "content", JSON_LIST))
		it->content = json_get(o, "content", JSON_LIST);
	if (json_get(o, "locations", JSON_LIST))
		it->locations = json_get(o, "locations", JSON_LIST);
	value_take(&it->input, o, "rawInput");
	value_take(&it->output, o, "rawOutput");
}

static void permission_take(struct transcript *t, const struct event *ev)
{
	const struct json *call = json_get(ev->data, "tool_call", JSON_OBJECT);
	struct item *it = tool_get(t, ev, member_text(call, "toolCallId"));

	tool_take(it, call);
	it->options = json_get(ev->data, "options", JSON_LIST);
	json_get_u64(ev->data, "approval", &it->approval);
}

static void answer_take(struct transcript *t, const struct event *ev)
{
	uint64_t id = 0;

	json_get_u64(ev->data, "approval", &id);
	for (size_t i = ITEM_COUNT(t); id && i > 0; i--)
		if (ITEM_AT(t, i - 1)->approval == id) {
			ITEM_AT(t, i - 1)->answer = ev->data;
			return;
		}
}

/* ---- the rest ---- */

static void chunk_take(struct transcript *t, const struct event *ev, enum item_kind kind)
{
	const struct json *content = json_get(ev->update, "content", JSON_OBJECT);
	struct item *it = t->turn_last;

	if (!it || it->kind != kind)
		it = item_add(t, kind, ev);
	if (!strcmp(member_text(content, "type"), "image"))
		buf_add(&it->images, &content, sizeof(void *));
	else
		block_text(&it->text, content);
}

static void note_add(struct transcript *t, const struct event *ev, const char *what,
		     const char *text)
{
	struct item *it = item_add(t, ITEM_NOTE, ev);

	buf_add_text(&it->text, what);
	buf_add_text(&it->text, text);
}

static void update_take(struct transcript *t, const struct event *ev)
{
	static const char *const silent[] = { "available_commands_update", "usage_update",
					      "config_option_update", "session_info_update" };
	const char *kind = ev->kind;

	for (unsigned i = 0; i < ARRAY_LEN(silent); i++)
		if (!strcmp(kind, silent[i])) {
			if (i == 3)
				head_set(&t->head.title, member_text(ev->update, "title"));
			return;
		}
	if (!strcmp(kind, "agent_message_chunk"))
		chunk_take(t, ev, ITEM_MESSAGE);
	else if (!strcmp(kind, "agent_thought_chunk"))
		chunk_take(t, ev, ITEM_THOUGHT);
	else if (!strcmp(kind, "user_message_chunk"))
		chunk_take(t, ev, ITEM_USER);
	else if (!strcmp(kind, "tool_call") || !strcmp(kind, "tool_call_update"))
		tool_take(tool_get(t, ev, member_text(ev->update, "toolCallId")), ev->update);
	else if (!strcmp(kind, "plan") && t->plan)
		t->plan->data = ev->update;
	else if (!strcmp(kind, "plan"))
		(t->plan = item_add(t, ITEM_PLAN, ev))->data = ev->update;
	else if (!strcmp(kind, "current_mode_update"))
		note_add(t, ev, "mode: ", member_text(ev->update, "currentModeId"));
	else if (!strcmp(kind, "x_notification"))
		note_add(t, ev, "notification: ", member_text(ev->update, "method"));
	else
		note_add(t, ev, "update: ", kind);
}

static void prompt_take(struct transcript *t, const struct event *ev)
{
	const struct json *blocks = json_get(ev->data, "content", JSON_LIST);
	struct item *it = item_add(t, ITEM_PROMPT, ev);

	for (const struct json *b = blocks ? blocks->first : NULL; b; b = b->next) {
		if (!strcmp(member_text(b, "type"), "image")) {
			buf_add(&it->images, &b, sizeof(void *));
			continue;
		}
		if (it->text.len)
			buf_add_text(&it->text, "\n");
		block_text(&it->text, b);
	}
	t->nprompts++;
	t->plan = NULL;
}

static void turn_take(struct transcript *t, const struct event *ev)
{
	const struct json *usage = json_get(ev->data, "usage", JSON_OBJECT);
	uint64_t n;

	item_add(t, ITEM_TURN, ev);
	t->nturns++;
	t->plan = NULL;
	if (json_get_u64(usage, "input_tokens", &n))
		t->tokens_in += n;
	if (json_get_u64(usage, "output_tokens", &n))
		t->tokens_out += n;
}

static void stderr_take(struct transcript *t, const struct event *ev)
{
	struct item *it = t->turn_last;

	if (!it || it->kind != ITEM_STDERR)
		it = item_add(t, ITEM_STDERR, ev);
	buf_add_text(&it->text, member_text(ev->data, "text"));
}

static void state_take(struct transcript *t, const struct event *ev)
{
	const char *state = member_text(ev->data, "state");

	if (!strcmp(state, "failed") || !strcmp(state, "closed")) {
		note_add(t, ev, "session ", state);
		if (*member_text(ev->data, "reason")) {
			buf_add_text(&t->turn_last->text, ": ");
			buf_add_text(&t->turn_last->text, member_text(ev->data, "reason"));
		}
	}
}

static void agent_take(struct transcript *t, const struct event *ev)
{
	struct buf b = { 0 };

	buf_add_text(&b, member_text(ev->data, "name"));
	if (*member_text(ev->data, "version")) {
		buf_add_text(&b, " ");
		buf_add_text(&b, member_text(ev->data, "version"));
	}
	head_set(&t->head.agent, (char *)b.p);
	buf_free(&b);
}

static void gap_take(struct transcript *t, const struct event *ev)
{
	note_add(t, ev, "events are missing here: ", member_text(ev->data, "reason"));
}

static void error_take(struct transcript *t, const struct event *ev)
{
	struct item *it = item_add(t, ITEM_ERROR, ev);

	buf_add_text(&it->text, member_text(ev->data, "message"));
	if (*member_text(ev->data, "cause")) {
		buf_add_text(&it->text, ": ");
		buf_add_text(&it->text, member_text(ev->data, "cause"));
	}
}

int transcript_add(struct transcript *t, const char *line, size_t size, struct err *e)
{
	static const struct {
		const char *type;
		void (*take)(struct transcript *t, const struct event *ev);
	} types[] = { { "update", update_take },   { "prompt", prompt_take },
		      { "turn", turn_take },	   { "permission", permission_take },
		      { "answered", answer_take }, { "state", state_take },
		      { "agent", agent_take },	   { "error", error_take },
		      { "stderr", stderr_take },   { "noise", stderr_take },
		      { "gap", gap_take } };
	struct event *ev = xalloc(sizeof(*ev));

	if (event_read(ev, line, size, e) < 0) {
		free(ev);
		return -1;
	}
	buf_add(&t->events, &ev, sizeof(ev));
	for (unsigned i = 0; i < ARRAY_LEN(types); i++)
		if (event_is(ev, types[i].type)) {
			types[i].take(t, ev);
			return 0;
		}
	note_add(t, ev, "event: ", ev->type);
	return 0;
}
