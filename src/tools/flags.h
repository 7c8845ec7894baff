/* Arguments of a tool from the words of a command line, by its JSON schema. vivd checks them again:
 * this is for the user of the command. */
#ifndef VIV_TOOLS_FLAGS_H
#define VIV_TOOLS_FLAGS_H

#include "base/buf.h"
#include "base/json.h"

/* The object of arguments. 0, or -1 after a message. */
int flags_read(const struct json *schema, char **words, struct buf *ret);
/* A line of help for each flag. */
void flags_help(const struct json *schema);
/* A value as text of JSON again. */
void json_write(struct buf *to, const struct json *v);

#endif
