/* How far long work is, on a terminal; and whether it is to stop. */
#ifndef VIV_IMPORT_PROGRESS_H
#define VIV_IMPORT_PROGRESS_H

#include "base/base.h"

/* From now on progress and warnings are lines of JSON, whatever standard error is:
 * {"progress":{...}} and {"code":"warning",...}. */
void progress_json(void);
/* what: "import". Shown only when standard error is a terminal and not quiet. */
void progress_start(const char *what, bool quiet);
/* What was done: bytes of contents and files; done of total (0: unknown) of the source. */
void progress_add(uint64_t bytes, uint64_t files);
void progress_source(uint64_t done, uint64_t total);
/* Redraws, a few times in a second at most. */
void progress_show(void);
/* Takes the line away. */
void progress_end(void);

/* A line to standard error, with the bar out of its way. */
void progress_warn(const char *fmt, ...) printf_like(1, 2);

/* From now on SIGINT, SIGTERM and SIGHUP only make interrupted() true and calls return EINTR;
 * another one a second later ends the program. A broken pipe and a file that may not grow are
 * errors. */
void interrupt_catch(void);
bool interrupted(void);
/* Ends the program by the signal that came, if one came. */
void interrupt_finish(void);

#endif
