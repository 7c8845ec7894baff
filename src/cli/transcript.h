/* A session's events as a text to read: chunks of a message are one item, and a tool call is one
 * with all its updates, its permission and the answer. Everything borrows from the events, which
 * the transcript keeps. */
#ifndef VIV_CLI_TRANSCRIPT_H
#define VIV_CLI_TRANSCRIPT_H

#include <stdio.h>

#include "cli/sessionevent.h"

enum item_kind {
	ITEM_PROMPT, /* text, data */
	ITEM_MESSAGE, /* text, images */
	ITEM_THOUGHT,
	ITEM_USER, /* what the agent repeats of a prompt */
	ITEM_TOOL,
	ITEM_PLAN, /* data: the last update of the turn */
	ITEM_TURN, /* data */
	ITEM_ERROR,
	ITEM_STDERR, /* text; noise as well */
	ITEM_NOTE, /* text: what else happened, in a line */
};

struct item {
	enum item_kind kind;
	uint64_t seq;
	const char *time;
	struct buf text; /* with a NUL behind it */
	const struct json *data;
	struct buf images; /* const struct json *: blocks */
	/* of a tool call; NULL or "": not said */
	const char *id, *title, *tool, *status;
	const struct json *content, *locations, *input, *output, *options, *answer;
	uint64_t approval;
};

struct transcript {
	struct buf events; /* struct event * */
	struct buf items; /* struct item * */
	struct item *plan; /* of this turn */
	struct item *turn_last; /* item that a chunk may go on */
	struct buf index; /* uint32_t: hash table of tool calls, item number + 1 */
	unsigned ntools, nprompts, nturns;
	uint64_t key[2];
	uint64_t tokens_in, tokens_out;
	struct session_head {
		char *id, *cell, *agent, *title, *created;
	} head;
};

void transcript_init(struct transcript *t);
void transcript_fini(struct transcript *t);
/* One line of events. -1: it is none, and is left out. */
int must_check transcript_add(struct transcript *t, const char *line, size_t size, struct err *e);
/* What the session's object says of it. */
void transcript_head(struct transcript *t, const struct json *session);

#define ITEM_AT(t, i) (*BUF_ITEM(&(t)->items, struct item *, i))
#define ITEM_COUNT(t) BUF_COUNT(&(t)->items, struct item *)

/* How a transcript is written in a format: each slot writes one kind of item. */
struct item_view {
	void (*prompt)(FILE *to, const struct item *it, unsigned n); /* the n-th, from 1 */
	void (*message)(FILE *to, const struct item *it);
	void (*thought)(FILE *to, const struct item *it);
	void (*user)(FILE *to, const struct item *it);
	void (*tool)(FILE *to, const struct item *it);
	void (*plan)(FILE *to, const struct item *it);
	void (*turn)(FILE *to, const struct item *it);
	void (*error)(FILE *to, const struct item *it);
	void (*err)(FILE *to, const struct item *it); /* standard error */
	void (*note)(FILE *to, const struct item *it);
	void (*fact)(FILE *to, const char *what, const char *text); /* of the session */
	void (*value)(FILE *to, const char *what, const char *text, bool json); /* of a tool call */
};

const char *transcript_title(const struct transcript *t);
void facts_put(const struct transcript *t, FILE *to, const struct item_view *v);
void items_put(const struct transcript *t, FILE *to, const struct item_view *v);
/* A value of a tool call: a text as it is, others as JSON. NULL: nothing. */
void value_put(FILE *to, const char *what, const struct json *value, const struct item_view *v);
/* The text of a block that a tool call gave, the caller's. NULL: it has none, or is a diff. */
char *content_text(const struct json *block);

void transcript_markdown(const struct transcript *t, FILE *to);
/* One page, without scripts and without anything from elsewhere. */
void transcript_html(const struct transcript *t, FILE *to);

#endif
