/* What a verb works on: a cell, CELL, or one of its processes, CELL:PROCESS. */
#ifndef VIV_CLI_TARGET_H
#define VIV_CLI_TARGET_H

#include "keeper/client.h"

struct target {
	char cell[256]; /* as it was given */
	char id[KEEP_ID_LEN + 1];
	uint32_t proc; /* KEEP_FIRST, if none was named */
	bool proc_given;
	int fd; /* connected to its keeper; -1 */
};

/* Reads the text only. */
int target_parse(const char *text, struct target *ret, struct err *e);
/* And connects to its keeper. ERR_NOT_FOUND: it does not run. */
int target_open(const char *text, struct target *ret, struct err *e);

#endif
