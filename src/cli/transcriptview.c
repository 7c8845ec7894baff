/* See transcript.h: what the formats of a transcript have in common, the walk over its items. */
#include <stdlib.h>
#include <string.h>

#include "cli/transcript.h"
#include "cli/vivd.h"

const char *transcript_title(const struct transcript *t)
{
	return t->head.title ? t->head.title : t->head.id ? t->head.id : "Session";
}

void facts_put(const struct transcript *t, FILE *to, const struct item_view *v)
{
	const struct {
		const char *what, *text;
	} facts[] = { { "session", t->head.id },
		      { "cell", t->head.cell },
		      { "agent", t->head.agent },
		      { "created", t->head.created } };
	char text[160];

	for (unsigned i = 0; i < ARRAY_LEN(facts); i++)
		if (facts[i].text)
			v->fact(to, facts[i].what, facts[i].text);
	snprintf(text, sizeof(text), "%u prompts, %u tool calls, %zu events", t->nprompts,
		 t->ntools, BUF_COUNT(&t->events, struct event *));
	v->fact(to, "contains", text);
	if (!t->tokens_out)
		return;
	snprintf(text, sizeof(text), "%llu in, %llu out", (unsigned long long)t->tokens_in,
		 (unsigned long long)t->tokens_out);
	v->fact(to, "tokens", text);
}

void items_put(const struct transcript *t, FILE *to, const struct item_view *v)
{
	unsigned prompts = 0;

	for (size_t i = 0; i < ITEM_COUNT(t); i++) {
		const struct item *it = ITEM_AT(t, i);

		switch (it->kind) {
		case ITEM_PROMPT:
			v->prompt(to, it, ++prompts);
			break;
		case ITEM_USER:
			v->user(to, it);
			break;
		case ITEM_MESSAGE:
			v->message(to, it);
			break;
		case ITEM_THOUGHT:
			v->thought(to, it);
			break;
		case ITEM_TOOL:
			v->tool(to, it);
			break;
		case ITEM_PLAN:
			v->plan(to, it);
			break;
		case ITEM_TURN:
			v->turn(to, it);
			break;
		case ITEM_ERROR:
			v->error(to, it);
			break;
		case ITEM_STDERR:
			v->err(to, it);
			break;
		case ITEM_NOTE:
			v->note(to, it);
			break;
		}
	}
}

void value_put(FILE *to, const char *what, const struct json *value, const struct item_view *v)
{
	char *text = NULL;
	size_t n = 0;
	FILE *mem;

	if (!value)
		return;
	if (value->type == JSON_TEXT) {
		v->value(to, what, value->text, false);
		return;
	}
	mem = open_memstream(&text, &n);
	if (!mem)
		return;
	json_value_print(mem, value, true);
	fclose(mem);
	v->value(to, what, text, true);
	free(text);
}

char *content_text(const struct json *block)
{
	struct diff_texts d;
	struct buf b = { 0 };

	if (diff_get(block, &d))
		return NULL;
	buf_add_text(&b, "");
	block_text(&b, json_get(block, "content", JSON_OBJECT));
	if (b.len)
		return (char *)b.p;
	buf_free(&b);
	return NULL;
}
