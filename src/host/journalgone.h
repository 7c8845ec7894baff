/* Journals that were removed on purpose, by 'viv journal prune' or by the sealer of the store: a
 * line "ID REASON" in a file beside them. vivd, which keeps the head of each journal, would report
 * as damage that one is gone; it takes these lines, and reports their removal instead. */
#ifndef VIV_HOST_JOURNALGONE_H
#define VIV_HOST_JOURNALGONE_H

#include "base/base.h"

/* reason: a word. What cannot be written is not: then it is reported as damage. */
void journal_gone_note(int journals, const char *id, const char *reason);
/* Takes what is there: n bytes at most of whole lines, a NUL behind them; how many. They are read
 * again until journal_gone_done(). */
size_t journal_gone_take(int journals, char *to, size_t n);
void journal_gone_done(int journals);

#endif
