/* A record as one line: for people, and of JSON. */
#ifndef VIV_JOURNAL_LINE_H
#define VIV_JOURNAL_LINE_H

#include <stdio.h>

#include "journal/journal.h"

/* "read      /etc/passwd": what happened, without when and who. Nothing of it can steer a
 * terminal. */
void line_what(FILE *to, const struct journal_entry *j);
/* With both, aligned: time (UTC), process, program (n 0: not known). */
void line_print(FILE *to, const struct journal_entry *j, struct jtext program);
/* {"seq","time","mono","pid","program"?,"kind","group","block"?, fields...}. Fields without a value
 * are left out, numbers are not. A text that is not UTF-8 has a twin NAME_base64 with its bytes,
 * for WORDS with all of them, each ended by NUL. */
void line_json(FILE *to, const struct journal_entry *j, struct jtext program);

#endif
