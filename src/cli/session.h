/* Sessions of agents, as the verbs that use them find and start them. */
#ifndef VIV_CLI_SESSION_H
#define VIV_CLI_SESSION_H

#include "cli/vivd.h"

struct session_id {
	char id[64], cell[64];
	uint64_t last; /* number of its last event */
	char state[16];
};

/* By its id, an unambiguous beginning of it, or the name of a cell that has one session that is not
 * closed. 0 or -1. */
int must_check session_find(const char *word, struct session_id *ret, struct err *e);
/* The same from an object of the API. -1: that is none. */
int must_check session_read(const struct json *o, struct session_id *ret, struct err *e);
/* "/v1/cells/CELL/sessions/SESSION" and tail. */
struct cell_path session_path(const struct session_id *s, const char *tail);
/* Sends a prompt; ret gets its number. 0 or -1. */
int must_check session_prompt(const struct session_id *s, const char *text, uint64_t *ret,
			      struct err *e);
/* The values of --env as the member "env" of an object. */
struct args;
int must_check env_write(const struct args *a, struct buf *b, struct err *e);
/* -1: a word is not UTF-8. */
int must_check utf8_check(const struct args *a, struct err *e);
/* A list of words as a member of an object. */
void words_write(struct buf *b, const char *member, char **words);
/* The prompt that words are: joined by spaces, or standard input for "-"; free() it. NULL with an
 * error. */
char *prompt_read(char **words, struct err *e);

#endif
