/* Errors and warnings of a command as its user gets them: on standard error, as a line that begins
 * with "viv: ", or as an object of JSON for each. */
#ifndef VIV_BASE_REPORT_H
#define VIV_BASE_REPORT_H

#include "base/err.h"

/* From here on as JSON. */
void report_json(bool on);
bool report_is_json(void);
/* From here on an error's exit status is that of err_exit_guest. */
void report_guest(bool on);

/* Prints the error; returns its exit status. */
int report(const struct err *e);
/* The same for one that is made here, with a format as err_set has it. */
int fail(enum err_kind kind, const char *fmt, ...) printf_like(2, 3);
void warn(const char *fmt, ...) printf_like(1, 2);

#endif
