/* A turn of an agent in a cell, followed from its prompt to its end: what the agent said last,
 * which tools it called, which questions are open. All of this is an agent's, that is a stranger's:
 * it is bounded here, and texts are cleaned before they are written. */
#ifndef VIV_CLI_MCP_TURN_H
#define VIV_CLI_MCP_TURN_H

#include "cli/mcp/mcp.h"
#include "cli/session.h"

#define TURN_CALLS_MAX 50
#define TURN_QUESTIONS_MAX 32

struct turn_call {
	char id[128];
	char title[256], kind[32], status[32]; /* cleaned */
};

struct turn_question {
	uint64_t approval;
	char title[256]; /* cleaned */
};

struct turn {
	/* asked for */
	struct task *t;
	struct session_id session;
	uint64_t prompt;
	uint64_t last; /* event that was read */
	size_t max; /* bytes of text */
	int64_t deadline; /* by clock_mono() */
	/* answered */
	struct bounded text; /* what it said after its last tool call */
	struct turn_call calls[TURN_CALLS_MAX];
	unsigned ncalls; /* all there were; the first ones are kept */
	struct turn_question questions[TURN_QUESTIONS_MAX]; /* that are open */
	unsigned nquestions;
	char stop_reason[64]; /* "": it has not ended */
	char error[1024];
	bool timed_out;
	/* its own */
	bool new_message; /* a tool was called: the next text begins one */
	int64_t give_up; /* when to wait no longer for its end; 0: there is no reason to */
	volatile int flags; /* TASK_ */
};

/* Follows it to its end. When the time is up it is cancelled, unless it waits for a person's
 * answer: then it is left as it is. When the call is cancelled, so is the turn, and the process
 * ends. 0; or -1: vivd is lost. */
int must_check turn_follow(struct turn *x, struct err *e);
/* Cancels it and ends the process, if the call was cancelled. */
void turn_cancel_check(struct turn *x);

/* The session of this id; cell "": of whichever cell. Of another cell it is not found (see
 * tool_sessions.c). */
int must_check session_get(const char *cell, const char *session, struct session_id *ret,
			   struct err *e);
/* An agent's text as it may be shown; free() it. */
char *agent_text(const char *text, size_t n, size_t *ret_len);
/* A line about an open question, with how it is answered. */
void question_line(FILE *to, uint64_t approval, const char *title);

#endif
