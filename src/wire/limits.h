/* Limits of a cell that runs, as they are changed: from its keeper to its kernel (CTL_LIMITS). */
#ifndef VIV_WIRE_LIMITS_H
#define VIV_WIRE_LIMITS_H

#include "base/base.h"

#define TASKS_DEFAULT 4096 /* a running cell can have so many, if not more from its start */
#define TASKS_SLACK 64 /* that the host allows more than the cell has: being born, or reaped */
#define LIMITS_CPU_WORDS 16 /* of 64 processors each */

/* All of them, whether they differ or not. */
struct cell_limits {
	uint64_t memory; /* bytes; 0: the host's */
	uint64_t disk_bytes, disk_inodes; /* of the cell's own layer; 0: as much as the host has */
	uint64_t net_connections, net_in, net_out, net_rate; /* 0: none */
	uint32_t tasks;
	uint32_t cpus; /* that it sees */
	bool memory_enforced; /* by a cgroup */
	/* on these processors of the host, and no others: where no cgroup limits time */
	bool place;
	uint64_t cpu_mask[LIMITS_CPU_WORDS];
};

#endif
