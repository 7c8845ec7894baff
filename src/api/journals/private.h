/* Between the files of this folder. */
#ifndef VIV_API_JOURNALS_PRIVATE_H
#define VIV_API_JOURNALS_PRIVATE_H

#include "api/http/request.h"
#include "daemon/journal/heads.h"

/* Finds the journal of the path's first parameter: that of a cell that is there, by what names it,
 * or of one that is gone, by its id or the name that it had. Answers if there is none, or if it is
 * not for the client's token; otherwise calls fn, in which the request is still to be answered. */
void journal_find(struct request *r, void (*fn)(struct request *r, const struct journal_info *j));

#endif
