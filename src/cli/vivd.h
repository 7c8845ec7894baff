/* Verbs that ask vivd: the connection, and its errors as viv's. */
#ifndef VIV_CLI_VIVD_H
#define VIV_CLI_VIVD_H

#include <stdio.h>

#include "base/json.h"
#include "base/jsontext.h"
#include "client/vivarium.h"

/* The same: 0, or the exit status. */
int vivd_connect(struct viv_client **ret);
/* Asks and checks: 0 when the status is below 300. Else the message is printed, and what is
 * returned is the exit status. doc (may be NULL) gets the answer, json_free() it. */
int vivd_ask(struct viv_client *c, const char *method, const char *path, const char *body,
	     struct json_doc *doc);
/* Prints an error that is part of a stream; the exit status that belongs to it. */
int refused_print(const struct json *error);
/* The error that an answer is; and printed: its exit status. */
void vivd_refusal(const struct viv_reply *reply, struct err *e);
int vivd_refused(const struct viv_reply *reply);
/* The same for an error of libvivarium. */
void viv_error_get(const struct viv_error *error, struct err *e);
int report_viv(const struct viv_error *error);

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
 * is added to it. what ("import") begins the bar on a terminal, unless quiet. 0, or the exit status
 * with the message printed; doc gets the result. */
int vivd_work(struct viv_client *c, const char *path, struct buf *body, const char *what,
	      bool quiet, struct json_doc *doc);
/* Ctrl-C ends viv, and so the work that vivd does for it, also where the shell has made it ignored
 * for a job in the background. */
void interrupt_allow(void);
/* Prints the "warnings" of a result. */
void warnings_print(const struct json *result);

/* Prints a value as it was read; indent: over several lines, for people. Without a line end. */
void json_value_print(FILE *to, const struct json *v, bool indent);
/* A member as text for people: "" when it is not there. */
const char *json_show(const struct json *v, const char *key);

#endif
