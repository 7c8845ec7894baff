/* What happens in a session, for a terminal: messages as they come, thoughts faint, tool calls as a
 * line each, plans, differences in numbers. Everything of the agent goes through safetext.h.
 * Without a terminal the same, without colours. */
#ifndef VIV_CLI_SESSIONVIEW_H
#define VIV_CLI_SESSIONVIEW_H

#include <stdio.h>

#include "cli/sessionevent.h"

struct session_view;

#define VIEW_NO_PROMPT 1 /* prompts of this user are on the screen already */

struct session_view *view_new(FILE *to, unsigned flags);
void view_free(struct session_view *v);
void view_event(struct session_view *v, const struct event *ev);
/* Ends a line that is not ended, so that something else can be written. */
void view_break(struct session_view *v);

/* ---- until the turn ends ---- */

struct session_watch {
	const char *cell, *session; /* ids */
	uint64_t since; /* the last event that is not shown */
	uint64_t prompt; /* ends with this prompt's turn; 0: when the session is closed */
	bool json; /* events as they are, one on a line; nothing is asked */
	unsigned view; /* VIEW_ */
	bool keys; /* a person is there to be asked, and Ctrl-C cancels the turn */
};

/* Shows events until then, asks the terminal about questions of the cell, if there is one, and goes
 * on when vivd is restarted. Returns 0: the turn ended well; 1: in another way, or the session
 * failed; 130: the person detached; -1 with an error. */
int must_check session_watch(const struct session_watch *w, struct err *e);

#endif
