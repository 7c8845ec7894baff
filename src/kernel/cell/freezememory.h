/* The memory of processes, on its way to a file (freezememory.c). */
#ifndef VIV_KERNEL_CELL_FREEZEMEMORY_H
#define VIV_KERNEL_CELL_FREEZEMEMORY_H

#include <sys/types.h>

#include "base/base.h"

struct path;

/* A cell that is being written. */
struct freezer {
	int fd; /* -1: none is */
	uint64_t at; /* where the next pages go */
	char *records; /* FROZEN_RECORDS_MAX of them */
	size_t used;
	bool rested;
	int64_t until;
	uint32_t nsignals;
	char host[64];
	char why[256];
};

/* freeze.c: a record; why it cannot be done, for the answer; where something is. */
int must_check freeze_put(uint32_t type, const void *payload, size_t n, const void *more,
			  size_t nmore);
int freeze_refuse(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
int must_check freeze_path(const struct path *p, char *buf, size_t size, const char **ret);

int must_check freeze_write(struct freezer *f, const void *p, size_t n, uint64_t at);
/* Mappings and pages of a process that is at rest. */
int must_check freeze_memory(struct freezer *f, pid_t pid);
uint64_t freeze_brk(pid_t pid); /* the end of its heap */

/* ---- for thaw.c ---- */
struct maps_line {
	uint64_t start, end, off, dev, ino;
	char perms[5];
	const char *name; /* "" when it has none; ends at the NUL */
};
/* The host's list of mappings of a process: fn for each, until it returns other than 0. The text
 * is changed on the way. */
int must_check maps_each(pid_t pid, int (*fn)(const struct maps_line *m, void *arg), void *arg);
/* Is it one of the host's own, that every process has? */
bool maps_is_host(const struct maps_line *m);
int must_check maps_hash(pid_t pid, const struct maps_line *m, uint8_t out[32]);

#endif
