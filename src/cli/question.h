/* Questions of a cell on a terminal: shown one at a time, answered with a line. An answer that was
 * typed before its question could be read does not count, and what is too long to show is said to
 * be. */
#ifndef VIV_CLI_QUESTION_H
#define VIV_CLI_QUESTION_H

#include "base/buf.h"
#include "cli/sessionevent.h"

struct question {
	int64_t id; /* of the approval */
	struct json_doc doc;
	const struct json
		*data; /* in doc: has tool_call and options (an agent's), or is an approval */
	bool agent;
};

struct questions {
	struct buf open; /* struct question, oldest first */
	struct buf seen; /* int64_t: every one that ever was open */
	bool shown; /* the first one is on the screen */
	bool left; /* the person will not be asked any more */
};

/* Takes doc. Nothing happens when this one was there already; true: it is new. */
bool questions_add(struct questions *q, int64_t id, struct json_doc *doc, const struct json *data);
/* It was answered, or withdrawn. True: it was on the screen. */
bool questions_drop(struct questions *q, int64_t id);
void questions_free(struct questions *q);
/* The first one; NULL: none is open. */
const struct question *questions_first(const struct questions *q);

/* Prints the first one with what can be answered, and throws away what was typed before. */
void question_ask(struct questions *q);
/* Reads a line of the terminal and answers. 1: the question is done with; 0: it stays open. */
int question_answer(struct questions *q);

#endif
