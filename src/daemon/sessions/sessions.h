/* Sessions: agents in cells that speak ACP (the Agent Client Protocol: JSON-RPC, one message in
 * each line of their standard streams), with vivd as their client
 * (docs/decisions/0044-sessions.md).
 *
 * A session has a row in the database with all that has to survive vivd: what to run, how far the
 * agent's output was read, what is still to be written to it, which requests are open on either
 * side. What the agent writes becomes events, numbered from 1, that are never changed; events, the
 * position in the output and answers are one transaction, so nothing is lost or doubled when vivd
 * is killed. The agent's process belongs to the cell's keeper, which keeps all of its output until
 * it is stored here (KEEP_X_WHOLE).
 *
 * Clients prompt, cancel and close; any number of them watch. Types of events: state, agent,
 * prompt, update, permission, answered, turn, error, stderr, noise, gap. */
#ifndef VIV_DAEMON_SESSIONS_SESSIONS_H
#define VIV_DAEMON_SESSIONS_SESSIONS_H

#include <jansson.h>

#include "daemon/cells/cells.h"
#include "daemon/state/fields.h"

struct session;

#define SESSIONS_MAX 1000 /* of all cells */
#define SESSIONS_CELL 64 /* of one */
#define SESSIONS_FAMILY 64 /* of all cells that were made by one or by its children */
#define PROMPT_MAX (12u << 20) /* bytes of one */
#define PROMPTS_MAX 64 /* that wait */

/* At the start, with the database open and before cells are. */
void sessions_open(struct daemon *d);
/* The cells are known: agents that run are met again. */
void sessions_begin(struct daemon *d);
/* vivd ends; agents go on. */
void sessions_close(struct daemon *d);

/* A new one, which is starting. spec: checked by session_fields; taken. NULL: an error. */
extern const struct field session_fields[];
extern const unsigned nsession_fields;
struct session *session_new(struct cell *c, json_t *spec, const char *by, struct err *e);
/* Of this cell (an id; NULL: any). Borrowed; NULL: an error 404. */
struct session *session_find(struct daemon *d, const char *cell, const char *id, struct err *e);
/* One that vivd made for a purpose of its own, with "key" in its spec, which clients cannot give.
 * Borrowed; NULL: there is none. */
struct session *session_by_key(struct daemon *d, const char *cell, const char *key);
bool session_is_prompted(const struct session *s); /* it has been, at least once */
/* 1: it has done all that it was asked to; 0: not yet; 2: the same, because somebody has to answer
 * the agent's question; -1: it is closed, or failed. */
int session_rest(const struct session *s, struct err *e);
json_t *session_json(const struct session *s);
/* A list, oldest first. cell: an id; "": of all. */
json_t *sessions_list(struct daemon *d, const char *cell);
/* How many there are in cells below this one. */
unsigned sessions_below(struct daemon *d, const char *cell);
const char *session_cell(const struct session *s);

/* Adds a prompt to its queue: a list of ACP's content blocks, which is taken. by: who says so. */
int must_check session_prompt(struct session *s, json_t *content, const char *by,
			      int64_t *ret_prompt, int64_t *ret_seq, struct err *e);
/* The same; within(arg, ...) writes what belongs to the same transaction. NULL: nothing. */
typedef void (*prompt_within)(void *arg, int64_t prompt, int64_t seq);
int must_check session_prompt_with(struct session *s, json_t *content, const char *by,
				   prompt_within within, void *arg, struct err *e);
/* Ends this prompt only: its turn, if it runs, or its wait for one. kill: an agent that runs it is
 * not asked, but ended; it is started again for the next one. */
int must_check session_prompt_end(struct session *s, int64_t prompt, bool kill, struct err *e);
/* Ends the turn that runs, and drops the prompts that wait. */
int must_check session_cancel(struct session *s, struct err *e);
/* Ends the agent for good. */
int must_check session_close(struct session *s, struct err *e);
/* The same, and it goes with its transcript. */
int must_check session_remove(struct session *s, struct err *e);

/* Has the agent change its mode, model, or another option. fn is called once, later, unless this
 * fails: f NULL: it did. */
typedef void (*session_fn)(void *arg, struct session *s, const struct err *f);
int must_check session_set(struct session *s, const char *what, const char *option,
			   const json_t *value, session_fn fn, void *arg, struct err *e);
/* No more calls for arg. */
void session_forget(struct session *s, const void *arg);

/* Somebody who follows its events. fn is called when there may be news, or (gone) it is removed,
 * after which w is not touched. It must not change the session. */
struct session_watch {
	struct list link;
	void (*fn)(struct session_watch *w, bool gone);
};
void session_watch_add(struct session *s, struct session_watch *w,
		       void (*fn)(struct session_watch *w, bool gone));
void session_watch_remove(struct session_watch *w);
/* The next event after number *seq as one line of JSON without a newline (free() it), and moves
 * *seq; NULL: none yet. Where the next ones are not kept any more, one of type gap comes first. */
char *session_event_next(struct session *s, int64_t *seq);
int64_t session_last(const struct session *s);

/* Events whose text has all these words, newest first. cell: an id; "": of all. */
json_t *transcripts_search(struct daemon *d, const char *words, const char *cell, unsigned limit,
			   struct err *e);

#endif
