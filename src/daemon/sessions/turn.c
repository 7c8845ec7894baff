/* Prompts and their turns: one at a time, the others wait in the database. An agent that does not
 * speak ACP is run once for each prompt, with its text as the last word; what it prints is what it
 * says. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/utf8.h"
#include "daemon/cells/sleep.h"
#include "daemon/journal/note.h"
#include "daemon/sessions/private.h"
#include "daemon/state/output.h"

/* ---- the end of a turn ---- */

static void usage_add(struct session *s, const json_t *usage)
{
	json_t *total = live_object(s, "usage");
	const char *key;
	json_t *v;

	json_object_foreach((json_t *)(uintptr_t)usage, key, v)
		json_object_set_new(total, key,
				    json_integer(json_integer_value(json_object_get(total, key)) +
						 json_integer_value(v)));
}

/* The words of a prompt, for a command and for the journal. */
static json_t *content_text(const json_t *content)
{
	struct buf b = { 0 };
	const json_t *block;
	json_t *v;
	size_t i;

	json_array_foreach(content, i, block) {
		const char *text = json_text(block, "text");

		if (!text)
			text = json_text(block, "uri");
		if (!text)
			continue;
		if (b.len)
			buf_add(&b, "\n", 1);
		buf_add(&b, text, strlen(text));
	}
	v = json_stringn(b.len ? (char *)b.p : "", b.len);
	buf_free(&b);
	return v;
}

/* It is recorded when its turn begins: what the agent does from then on is for it. */
static void prompt_note(struct session *s, int64_t prompt, const json_t *content)
{
	json_t *text = content_text(content);
	struct journal_PROMPT r = { .session = note_text(s->id),
				    .number = (uint64_t)prompt,
				    .text = note_cut(json_string_value(text),
						     json_string_length(text)) };

	note_add(s->d, s->cell, J_PROMPT, &r);
	json_decref(text);
}

static void answer_note(struct session *s, int64_t prompt, const char *reason)
{
	struct journal_ANSWER r = { .session = note_text(s->id),
				    .number = (uint64_t)prompt,
				    .reason = note_text(reason) };

	note_add(s->d, s->cell, J_ANSWER, &r);
}

void turn_end(struct session *s, const char *reason, const json_t *usage)
{
	json_t *o = json_pack("{s:I,s:s}", "prompt", (json_int_t)s->running, "stop_reason", reason);

	if (json_object_size(usage)) {
		json_object_set_new(o, "usage", json_deep_copy(usage));
		usage_add(s, usage);
	}
	event_put(s, "turn", o, 0);
	answer_note(s, s->running, reason);
	s->running = 0;
	live_set(s, "cancelled", NULL);
}

/* It was taken from those that wait. Takes content. */
static void dropped(struct session *s, int64_t prompt, json_t *content, const char *reason)
{
	prompt_note(s, prompt, content);
	json_decref(content);
	event_put(s, "turn",
		  json_pack("{s:I,s:s}", "prompt", (json_int_t)prompt, "stop_reason", reason), 0);
	answer_note(s, prompt, reason);
}

void turn_drop(struct session *s, const char *reason)
{
	int64_t prompt;
	json_t *content;

	while ((content = queue_take(s, &prompt)))
		dropped(s, prompt, content, reason);
}

void turn_drop_one(struct session *s, int64_t prompt, const char *reason)
{
	json_t *content = queue_take_one(s, prompt);

	if (content)
		dropped(s, prompt, content, reason);
}

/* ---- its beginning ---- */

/* What an agent takes depends on its word. */
static bool blocks_fit(const struct session *s, const json_t *content, struct err *e)
{
	const json_t *caps = json_object_get(live_get(s, "caps"), "promptCapabilities"), *block;
	size_t i;

	json_array_foreach(content, i, block) {
		const char *type = json_text(block, "type");
		const char *need = !strcmp(type, "resource") ? "embeddedContext" : type;

		if (!strcmp(type, "text") || !strcmp(type, "resource_link") ||
		    json_is_true(json_object_get(caps, need)))
			continue;
		err_note(e, ERR_UNSUPPORTED,
			 "the agent takes no content of type '%.20s'" REMEDY
			 "put it into a file of the cell and name that",
			 type);
		return false;
	}
	return true;
}

static void prompt_send(struct session *s, json_t *content)
{
	const char *preamble = json_string_value(live_get(s, "preamble"));
	struct err e = { 0 };

	if (!blocks_fit(s, content, &e)) {
		event_error(s, &e);
		turn_end(s, "error", NULL);
		return;
	}
	if (preamble)
		json_array_insert_new(content, 0,
				      json_pack("{s:s,s:s}", "type", "text", "text", preamble));
	live_set(s, "preamble", NULL);
	acp_call(s, "prompt", "session/prompt",
		 json_pack("{s:O,s:O}", "sessionId", live_get(s, "acp"), "prompt", content),
		 json_pack("{s:I}", "prompt", (json_int_t)s->running));
}

void turn_next(struct session *s)
{
	const struct cell *c = cell_by_id(s->d, s->cell);
	bool acp = session_is_acp(s);
	json_t *content;

	/* An agent that is about to end with its cell is not asked any more; the next one is. */
	if (acp && s->phase == PHASE_READY && c && cell_is_asleep(c))
		return;
	if (!s->queue || s->running || s->state == SESSION_CLOSED || s->phase == PHASE_ENDING)
		return;
	if (acp && s->phase != PHASE_READY) {
		if (s->phase == PHASE_NONE)
			session_start(s);
		return;
	}
	if (!acp && s->proc)
		return;
	while (!s->running && (content = queue_take(s, &s->running))) {
		prompt_note(s, s->running, content);
		if (acp) {
			prompt_send(s, content);
		} else {
			live_set(s, "oneshot", content_text(content));
			s->phase = PHASE_NONE;
			session_start(s);
		}
		json_decref(content);
	}
	if (acp)
		state_follow(s);
}

/* ---- one run for each prompt ---- */

void oneshot_output(struct session *s, const char *p, size_t n, int64_t time)
{
	const char *rest = json_string_value(live_get(s, "rest"));
	struct buf b = { 0 };
	size_t tail;
	char kept[4];

	/* A character stays in one piece. The rest is kept as it was read, by its bytes. */
	for (; rest && rest[0] && rest[1]; rest += 2) {
		char byte = (char)(((rest[0] - 'a') << 4) | (rest[1] - 'a'));

		buf_add(&b, &byte, 1);
	}
	buf_add(&b, p, n);
	tail = text_utf8_tail((char *)b.p, b.len);
	live_set(s, "rest", NULL);
	if (tail) {
		char text[8] = "";

		memcpy(kept, b.p + b.len - tail, tail);
		for (size_t i = 0; i < tail; i++) {
			text[2 * i] = (char)('a' + ((unsigned char)kept[i] >> 4));
			text[2 * i + 1] = (char)('a' + ((unsigned char)kept[i] & 15));
		}
		live_set(s, "rest", json_stringn(text, 2 * tail));
		b.len -= tail;
	}
	if (b.len)
		event_put(s, "update",
			  json_pack("{s:{s:s,s:{s:s,s:o}}}", "update", "sessionUpdate",
				    "agent_message_chunk", "content", "type", "text", "text",
				    output_text((char *)b.p, b.len, b.len)),
			  time);
	buf_free(&b);
}

void oneshot_ended(struct session *s)
{
	bool cancelled = json_is_true(live_get(s, "cancelled"));
	bool failed = s->cell_over || s->status;
	struct err e = { 0 };

	live_set(s, "oneshot", NULL);
	live_set(s, "rest", NULL);
	if (failed && !cancelled) {
		if (s->cell_over)
			err_note(&e, ERR_ENDED, "the command ended with its cell");
		else if (WIFSIGNALED(s->status))
			err_note(&e, ERR_FAILED, "the command was killed by signal %d",
				 WTERMSIG(s->status));
		else
			err_note(&e, ERR_FAILED, "the command ended with status %d",
				 WEXITSTATUS(s->status));
		event_error(s, &e);
	}
	if (s->running)
		turn_end(s, cancelled ? "cancelled" : failed ? "error" : "end_turn", NULL);
	s->phase = PHASE_NONE;
	state_set(s, SESSION_IDLE, NULL);
	turn_next(s);
}
