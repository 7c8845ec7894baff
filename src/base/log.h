/* Messages of the program itself to standard error (or, in the kernel, to the control channel). */
#ifndef VIV_BASE_LOG_H
#define VIV_BASE_LOG_H

#include "base/base.h"

/* Set by main; called with a finished line without newline. NULL: standard error is used. */
extern void (*log_sink)(const char *line);
extern bool log_debug_on;

void log_warn(const char *fmt, ...) printf_like(1, 2);
void log_debug(const char *fmt, ...) printf_like(1, 2);
/* For what cannot go on: prints and exits with status 125. */
_Noreturn void log_die(const char *fmt, ...) printf_like(1, 2);

#endif
