/* Kept output of processes as lines of JSON. */
#ifndef VIV_API_EXEC_LOGLINE_H
#define VIV_API_EXEC_LOGLINE_H

#include "daemon/keepers/follow.h"

/* A line of JSON with some of the record, which is taken: head, then "cursor" if wanted, then its
 * bytes. */
ssize_t follow_line(struct follow *f, const char *head, bool cursor, char *buf, size_t size);

#endif
