/* The error of the trusted side: what went wrong (message), why (cause), what to do about it
 * (remedy), and its kind, which is a code for programs, an exit status and a status of HTTP.
 * Functions that take a struct err return 0 or -1.
 *
 * An error that travels up is wrapped: err_wrap puts a message of the caller before it, and what
 * was said before becomes its cause. All texts are one line of UTF-8 that can be printed: what a
 * terminal should not see is replaced by '?' where a text is set. One that is too long ends with
 * "...". No memory is allocated. */
#ifndef VIV_BASE_ERR_H
#define VIV_BASE_ERR_H

#include <stdarg.h>

#include "base/base.h"

/* kind, code, exit status, HTTP status. The numbers cross process boundaries (wire/keeper.h): new
 * ones are added at the end. */
#define ERR_KINDS(X)                                         \
	X(FAILED, "failed", 1, 500)                          \
	X(USAGE, "usage", 2, 400) /* "invalid" in the API */ \
	X(NOT_FOUND, "not_found", 3, 404)                    \
	X(DENIED, "denied", 4, 403)                          \
	X(CONFLICT, "conflict", 5, 409)                      \
	X(WARNING, "warning", 0, 200) /* of report.h */      \
	X(INVALID, "invalid", 2, 400)                        \
	X(INVALID_FILE, "invalid_file", 2, 400)              \
	X(INVALID_JSON, "invalid_json", 2, 400)              \
	X(MISSING_FIELD, "missing_field", 2, 400)            \
	X(UNKNOWN_FIELD, "unknown_field", 2, 400)            \
	X(WRONG_TYPE, "wrong_type", 2, 400)                  \
	X(UNAUTHORIZED, "unauthorized", 4, 401)              \
	X(FORBIDDEN, "forbidden", 4, 403)                    \
	X(READ_ONLY, "read_only", 4, 403)                    \
	X(NO_LOG, "no_log", 3, 404)                          \
	X(NO_ROUTE, "no_route", 3, 404)                      \
	X(METHOD_NOT_ALLOWED, "method_not_allowed", 1, 405)  \
	X(AMBIGUOUS, "ambiguous", 5, 409)                    \
	X(BUSY, "busy", 5, 409)                              \
	X(CHANGED, "changed", 5, 409)                        \
	X(CLOSED, "closed", 5, 409)                          \
	X(DEPENDENCY, "failed", 5, 409)                      \
	X(ENDED, "ended", 5, 409)                            \
	X(EXISTS, "exists", 5, 409)                          \
	X(IN_PROGRESS, "in_progress", 5, 409)                \
	X(IN_USE, "in_use", 5, 409)                          \
	X(IS_DIRECTORY, "is_directory", 5, 409)              \
	X(LINK_LOOP, "link_loop", 5, 409)                    \
	X(NO_DISK, "no_disk", 5, 409)                        \
	X(NOT_A_FILE, "not_a_file", 5, 409)                  \
	X(NOT_DIRECTORY, "not_directory", 5, 409)            \
	X(NOT_EMPTY, "not_empty", 5, 409)                    \
	X(OTHER_FILE_SYSTEM, "other_file_system", 5, 409)    \
	X(TOO_MANY, "too_many", 5, 409)                      \
	X(WRONG_STATE, "wrong_state", 5, 409)                \
	X(TOO_LARGE, "too_large", 2, 413)                    \
	X(RANGE, "range", 1, 416)                            \
	X(BAD_ARCHIVE, "bad_archive", 2, 422)                \
	X(COMMAND_NOT_FOUND, "command_not_found", 127, 422)  \
	X(FILES, "files", 2, 422)                            \
	X(KEY_REUSED, "key_reused", 2, 422)                  \
	X(NOT_EXECUTABLE, "not_executable", 126, 422)        \
	X(START_FAILED, "start_failed", 2, 422)              \
	X(UNSUPPORTED, "unsupported", 2, 422)                \
	X(UPGRADE_REQUIRED, "upgrade_required", 1, 426)      \
	X(ENDING, "ending", 1, 503)                          \
	X(OVERLOADED, "busy", 1, 503)                        \
	X(NO_SPACE, "no_space", 1, 507)                      \
	X(STORAGE, "storage", 1, 507)                        \
	X(NOT_IMPORTED, "not_imported", 1, 422)              \
	X(SILENT, "no_answer", 1, 504)

#define ERR_ENUM(name, code, exit, http) ERR_##name,
enum err_kind { ERR_NONE, ERR_KINDS(ERR_ENUM) ERR_END };
#undef ERR_ENUM

struct err {
	enum err_kind kind; /* ERR_NONE: there is no error */
	char message[640];
	/* "": none is known; several are separated by ": ", the innermost is the last */
	char cause[768];
	char remedy[512]; /* "": none is known */
};

/* In a format: what follows is the remedy. "there is no cell '%s'" REMEDY "'viv ls' lists them" */
#define REMEDY "\x1f"

/* Sets all of it; always -1, so that it can be returned. A macro, so that whoever reads the caller
 * alone (a compiler, an analyzer) sees the -1. */
#define err_set(...)                   \
	({                             \
		err_note(__VA_ARGS__); \
		-1;                    \
	})
void err_note(struct err *e, enum err_kind kind, const char *fmt, ...) printf_like(3, 4);
void err_note_va(struct err *e, enum err_kind kind, const char *fmt, va_list ap) printf_like(3, 0);

/* Puts a message before an error that is set, which becomes its cause; kind and remedy stay. Always
 * -1. */
#define err_wrap(...)                       \
	({                                  \
		err_wrap_note(__VA_ARGS__); \
		-1;                         \
	})
void err_wrap_note(struct err *e, const char *fmt, ...) printf_like(2, 3);

/* Adds a cause behind those that it has; "" adds none. */
void err_cause(struct err *e, const char *cause);
/* A remedy for one that has none. */
void err_remedy(struct err *e, const char *remedy);

/* For programs: "not_found". */
const char *err_code(const struct err *e);
/* The reverse, by the status of HTTP as well (0: any), which decides when the code is not known. */
enum err_kind err_kind_of(const char *code, int http);
int err_exit(const struct err *e);
/* Of a command that ends with a guest's status otherwise: 126 or 127 as a shell has them, else
 * EXIT_OWN. */
#define EXIT_OWN 125
int err_exit_guest(const struct err *e);
enum err_kind err_kind_of_status(int guest_status); /* the reverse */
int err_http(const struct err *e);

/* All of it in one line for people: "MESSAGE: CAUSE; REMEDY"; "" when there is no error. */
struct err_line {
	char str[sizeof(struct err)];
};
struct err_line err_line(const struct err *e);

struct buf;
/* All of it for programs: {"code","message","cause","remedy"} without those that are not known. */
void err_json(const struct err *e, struct buf *to);

#endif
