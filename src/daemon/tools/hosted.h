/* A program of the operator's that runs on the host for a cell, as vivd's user: no shell, a clean
 * environment, everything that it starts ended with it (viv-hold), also when vivd is killed. */
#ifndef VIV_DAEMON_TOOLS_HOSTED_H
#define VIV_DAEMON_TOOLS_HOSTED_H

#include "base/err.h"
#include "daemon/state/daemon.h"

struct hosted;

struct hosted_ops {
	/* Bytes that it printed. */
	void (*out)(void *arg, const char *data, size_t n);
	void (*err)(void *arg, const char *data, size_t n);
	/* It has ended and all of its output was given; the struct goes after this. status as a
	 * shell has it. */
	void (*end)(void *arg, int status);
};

/* argv is NULL-terminated and borrowed. cell, name, tool: for its environment; cell may be NULL. */
struct hosted *hosted_start(struct daemon *d, char *const *argv, const char *cell, const char *name,
			    const char *tool, const struct hosted_ops *ops, void *arg,
			    struct err *e);
/* Copies. False: too much is waiting for it to be read. */
bool hosted_write(struct hosted *h, const char *data, size_t n);
void hosted_close_input(struct hosted *h);
/* Whether its output is read for now. */
void hosted_read(struct hosted *h, bool on);
/* Ends it; end() is still called. */
void hosted_kill(struct hosted *h);
/* Ends it, and nothing is told any more. */
void hosted_drop(struct hosted *h);

#endif
