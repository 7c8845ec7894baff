/* Verbs that ask vivd: one connection for the whole command, and vivd's errors as viv's, with the
 * kind, cause and remedy that vivd gave. Functions return 0 or -1. */
#ifndef VIV_CLI_VIVD_H
#define VIV_CLI_VIVD_H

#include <stdio.h>

#include "base/json.h"
#include "base/jsontext.h"
#include "client/vivarium.h"

/* Connects, unless that was done, and starts vivd when it does not run. The functions below do so
 * by themselves. */
int must_check vivd_connect(struct viv_client **ret, struct err *e);
/* The next one that needs it connects again. */
void vivd_disconnect(void);
/* In a handler of a signal: the request that is under way fails. */
void vivd_interrupt(void);
/* Asks; a status of 300 or more is an error. doc (may be NULL) gets the answer, json_free() it. */
int must_check vivd_ask(const char *method, const char *path, const char *body,
			struct json_doc *doc, struct err *e);
/* The same for a GET that takes long and may be repeated: goes on when vivd was restarted, and
 * starts it if nobody else does. */
int must_check vivd_wait(const char *path, struct json_doc *doc, struct err *e);
/* The same for an answer that comes line by line (viv_stream). A line that is an error, as long
 * work reports it, is one of the stream; the others are fn's. */
int must_check vivd_stream(const char *method, const char *path, const char *body, viv_line_fn fn,
			   void *arg, struct err *e);
/* Begins a GET whose answer is bytes, to be read with viv_get_data(). Who does not read all of them
 * disconnects. */
int must_check vivd_get(const char *path, struct viv_client **ret, struct err *e);
/* Opens a stream to be polled, on a connection of its own, which viv_close() ends. 1: ret is it; 0:
 * not now, and perhaps later; -1: vivd refuses. */
int must_check vivd_follow(struct viv_client **ret, const char *path, struct err *e);
/* Calls fn for each word of the verb, whatever becomes of one, and reports each failure: the exit
 * status is that of the first. -1: vivd cannot be reached. */
struct args;
typedef int (*word_fn)(const struct args *a, const char *word, void *arg, struct err *e);
int must_check words_each(const struct args *a, word_fn fn, void *arg, struct err *e);
/* The error that an answer is. Always -1. */
int vivd_refusal(const struct viv_reply *reply, struct err *e);
/* An error of libvivarium. Always -1. */
int viv_error_get(const struct viv_error *error, struct err *e);

/* A path below a cell: "/v1/cells/CELL" and tail. What CELL has that a path must not have is
 * written as %XX. */
struct cell_path {
	char str[1024];
};
struct cell_path cell_path(const char *cell, const char *tail);
/* The same below "/v1/images/" and the like. */
struct cell_path vivd_path(const char *prefix, const char *name, const char *tail);
/* Adds "?NAME=VALUE" to a path, or "&NAME=VALUE" if it has one already; nothing when value is
 * NULL. */
void query_add(struct buf *path, const char *name, const char *value);

/* POSTs to a path whose answer tells how far it is. body: an object that is still open; "progress"
 * is added to it. what ("import") begins the bar on a terminal, unless quiet. doc gets the
 * result. */
int must_check vivd_work(const char *path, struct buf *body, const char *what, bool quiet,
			 struct json_doc *doc, struct err *e);
/* Ctrl-C ends viv, and so the work that vivd does for it, also where the shell has made it ignored
 * for a job in the background. */
void interrupt_allow(void);
/* Prints the "warnings" of a result. */
void warnings_print(const struct json *result);

/* Prints a value as it was read; indent: over several lines, for people. Without a line end. */
void json_value_print(FILE *to, const struct json *v, bool indent);
/* The same on standard output, with one. */
void json_line_print(const struct json *v, bool indent);
/* A member as text for people: "" when it is not there. */
const char *json_show(const struct json *v, const char *key);

#endif
