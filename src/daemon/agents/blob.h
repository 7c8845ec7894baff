/* The definitions of agents/ of the project, as they are at build time; the Makefile makes them
 * with the assembler. The last one has no name. */
#ifndef VIV_DAEMON_AGENTS_BLOB_H
#define VIV_DAEMON_AGENTS_BLOB_H

#include <stddef.h>

struct agent_blob {
	const char *name; /* "claude"; NULL: that was the last */
	const char *text, *end;
};

extern const struct agent_blob agent_blobs[];

#endif
