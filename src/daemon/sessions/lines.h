/* What an agent writes on its standard output, cut into lines. Bytes come as they were read, a line
 * in any number of pieces; one that is longer than LINE_MAX_BYTES is skipped, and only its length
 * and its beginning are told. */
#ifndef VIV_DAEMON_SESSIONS_LINES_H
#define VIV_DAEMON_SESSIONS_LINES_H

#include "base/buf.h"

#define LINE_MAX_BYTES (4u << 20)
#define LINE_SHOWN 200 /* bytes of one that is skipped */

struct lines {
	struct buf part; /* of the line that is not complete */
	uint64_t skipped; /* bytes of a line that is too long; 0: there is none */
	char shown[LINE_SHOWN];
	size_t nshown;
};

struct lines_user {
	/* One without its newline; a NUL is behind it. */
	void (*line)(void *arg, const char *p, size_t n);
	/* One that was too long: its beginning, and its length. */
	void (*skipped)(void *arg, const char *shown, size_t n, uint64_t length);
	void *arg;
};

/* Takes n bytes, and gives the lines that they complete. */
void lines_feed(struct lines *l, const char *p, size_t n, const struct lines_user *u);
/* The output is over: what is left is a line. */
void lines_end(struct lines *l, const struct lines_user *u);
/* Bytes of the line that is not complete which are kept here. */
size_t lines_kept(const struct lines *l);
void lines_free(struct lines *l);

#endif
