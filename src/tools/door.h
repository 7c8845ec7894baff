/* The connection to vivd, as seen by a command in a cell. */
#ifndef VIV_TOOLS_DOOR_H
#define VIV_TOOLS_DOOR_H

#include "base/buf.h"
#include "base/json.h"

/* Sends a request, a line of JSON, and gives each line of the answer to fn until it returns 0 or
 * more, which is the result. Without a whole answer: an exit status, after a message. A request
 * that had no effect yet is sent again when vivd was restarted. */
int door_ask(const struct buf *request, int (*fn)(void *arg, const struct json *line), void *arg);

/* An "error" line, on standard error: the exit status that goes with it. */
int door_error(const struct json *line);

/* "NAME: " and a message on standard error. */
void complain(const char *fmt, ...) printf_like(1, 2);
extern const char *command_name;

#endif
