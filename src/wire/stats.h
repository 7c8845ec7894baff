/* What a cell used and uses: figures that its kernel gives, and its keeper passes on. */
#ifndef VIV_WIRE_STATS_H
#define VIV_WIRE_STATS_H

#include "base/base.h"

/* What an event of a limit is about. */
enum keep_limit {
	LIMIT_OBJECTS, /* of a type of the kernel's */
	LIMIT_DISK,
	LIMIT_INODES,
	LIMIT_TASKS,
	LIMIT_MEMORY,
	LIMIT_CONNECTIONS,
	LIMIT_NET_IN,
	LIMIT_NET_OUT,
};

/* 0 limits: as much as the host has. */
struct keep_stats {
	uint64_t time; /* of the figures, nanoseconds since 1970 */
	uint64_t cpu_ns; /* of all processes and the kernel, ended ones too */
	uint64_t memory, memory_limit; /* bytes */
	uint64_t disk, disk_limit; /* bytes of the cell's own files */
	uint64_t inodes, inodes_limit;
	uint64_t tasks, tasks_limit; /* processes and threads */
	uint64_t procs; /* processes */
	uint64_t calls; /* system calls that the kernel answered */
	uint64_t files; /* open */
	uint64_t refused; /* calls that gave ENOSYS */
};

#endif
