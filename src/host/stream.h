/* The caller's standard streams, prepared for a kernel, and the state of its terminal. */
#ifndef VIV_HOST_STREAM_H
#define VIV_HOST_STREAM_H

#include <termios.h>

#include "base/base.h"

/* Opens /dev/null in the place of closed streams, so that no other descriptor can come to be
 * one. Call it first. */
void streams_fill(void);

/* A descriptor for the cell's stream n (0, 1, 2). Pipes and terminals are opened again,
 * non-blocking, so that the mode of the caller's own description never changes; others are the
 * caller's own. A directory becomes /dev/null. The descriptor or -errno. */
int must_check stream_open(int n, bool *ret_tty);

/* /dev/null in the place of all three: whoever gave them is not to be held any longer. */
void streams_drop(void);

struct terminal {
	int fd; /* -1: none of the streams is one */
	struct termios saved;
};

/* Remembers the settings of the first stream that is a terminal. */
void terminal_save(struct terminal *t);
/* Puts them back; now gets those that were found, for terminal_set. */
void terminal_restore(const struct terminal *t, struct termios *now);
void terminal_set(const struct terminal *t, const struct termios *to);

#endif
