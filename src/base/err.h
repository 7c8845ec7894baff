/* Errors of the trusted side: what went wrong, in words for the person at the command line, and the
 * kind, which becomes the exit status. Functions that take a struct err return 0 or -1. */
#ifndef VIV_BASE_ERR_H
#define VIV_BASE_ERR_H

#include "base/base.h"

enum err_kind {
	ERR_FAILED = 1,
	ERR_USAGE = 2,
	ERR_NOT_FOUND = 3,
	ERR_DENIED = 4,
	ERR_CONFLICT = 5,
};

struct err {
	enum err_kind kind;
	const char *code; /* static, for programs: "wrong_type"; NULL: that of the kind */
	char text[1024]; /* one line; bytes that a terminal should not see are shown as '?' */
};

/* Sets the message; always -1, so that it can be returned. A macro, so that whoever reads the caller
 * alone (a compiler, an analyzer) sees the -1. */
#define err_set(...)                   \
	({                             \
		err_note(__VA_ARGS__); \
		-1;                    \
	})
void err_note(struct err *e, enum err_kind kind, const char *fmt, ...) printf_like(3, 4);
/* The same for wrong usage, with a code of its own. */
#define err_set_code(...)                   \
	({                                  \
		err_note_code(__VA_ARGS__); \
		-1;                         \
	})
void err_note_code(struct err *e, const char *code, const char *fmt, ...) printf_like(3, 4);

#endif
