/* What a verb works on: a running cell, CELL, or one of its processes, CELL:PROCESS. */
#ifndef VIV_CLI_TARGET_H
#define VIV_CLI_TARGET_H

#include "keeper/client.h"

struct target {
	char id[KEEP_ID_LEN + 1];
	uint32_t proc; /* KEEP_FIRST, if none was named */
	bool proc_given;
	int fd; /* connected to its keeper */
};

/* ERR_NOT_FOUND: it does not run. */
int target_open(const char *text, struct target *ret, struct err *e);
void target_close(struct target *t);

/* The options of a verb that takes few: "-x" or "--long", with a value or not. Stops at the first word that is no option, or after
 * "--". */
struct verb_option {
	char letter; /* 0: none */
	const char *name; /* without the dashes */
	bool *on; /* a switch */
	const char **value; /* or an option with a value */
	struct words *many; /* or one that may be given again */
};

struct words {
	const char *w[256];
	unsigned n;
};

/* Where the other words begin; or -1 with a message printed. */
int options_take(int argc, char **argv, const struct verb_option *list, unsigned n,
		 const char *usage);

#endif
