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

/* What a gate decides, by the words of its records; failed: it was allowed and could not be done.
 */
enum gate_decision { GATE_ALLOW, GATE_AUDIT, GATE_DENY, GATE_FAILED, GATE_ASK, GATE_DECISIONS };
#define GATE_DECISION_NAMES "allow", "audit", "deny", "failed", "ask"

/* What went through the gate in this run of the cell: the keeper's word, from its journal. */
struct keep_gate {
	uint64_t counted; /* 0: there is no gate, or no journal to count by */
	uint64_t names[GATE_DECISIONS];
	uint64_t connections[GATE_DECISIONS];
	uint64_t requests[GATE_DECISIONS];
	uint64_t in, out; /* bytes of connections that have ended */
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
	uint64_t inbound; /* connections from the outside that are open */
	/* when the last one came, nanoseconds since 1970; the keeper's word; 0: none did */
	uint64_t inbound_at;
	struct keep_gate gate; /* the keeper's word */
};

#endif
