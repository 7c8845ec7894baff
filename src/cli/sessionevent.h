/* Events of a session as they are read: {"seq":1,"time":"…","type":"update","data":{…}}. What is in
 * "data" is an agent's in part; every member may be missing or of another type. */
#ifndef VIV_CLI_SESSIONEVENT_H
#define VIV_CLI_SESSIONEVENT_H

#include "base/json.h"

#define EVENT_MAX (64u << 20)

struct event {
	struct json_doc doc;
	uint64_t seq;
	const char *time, *type; /* "": there is none */
	const struct json *data; /* NULL: there is none */
	const struct json *update; /* of an event "update": the agent's object; NULL: none */
	const char *kind; /* of the update: "tool_call"; "" */
};

/* 0, or -1 when this is no event. event_free() it. */
int must_check event_read(struct event *ev, const char *line, size_t size, struct err *e);
void event_free(struct event *ev);
bool event_is(const struct event *ev, const char *type);

/* A block of content as text: what is no text is named, "[image image/png, 12.0KiB]". */
void block_text(struct buf *b, const struct json *block);
/* A list of blocks, one below the other. */
void blocks_text(struct buf *b, const struct json *blocks);
/* The texts of a difference of a tool call (type "diff"); old is "" for a new file. */
struct diff_texts {
	const char *path, *from, *to;
	bool is_new;
};
bool diff_get(const struct json *content, struct diff_texts *ret);
/* How many lines it adds and removes; false: too long to say. */
bool diff_count(const struct diff_texts *d, unsigned *added, unsigned *removed);
/* Gives the lines of it: mark is '+', '-', ' ' for one that both have near a change, and '@' where
 * lines that both have are left out. false: too long to compare. */
typedef void (*diff_line_fn)(void *arg, char mark, const char *line, size_t size);
bool diff_lines(const struct diff_texts *d, diff_line_fn fn, void *arg);
/* What an answer says: the name of the option, if it is one of these (may be NULL), or how it
 * ended. */
const char *answer_text(const struct json *answered, const struct json *options);
/* A member that is a text or a number; "": there is none. */
const char *member_text(const struct json *v, const char *key);
/* A member of an object, of any type but null; NULL. */
const struct json *json_member(const struct json *v, const char *key);

#endif
