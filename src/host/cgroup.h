/* Limits for a whole cell by the host's control groups: memory, processor time, number of
 * processes.
 *
 * A cgroup is made below one that the caller may write to: v2 when its controllers are there
 * (delegated by systemd to a user, or root), else v1 hierarchies, else nothing, and the cell's
 * kernel counts for itself. Each controller is looked for by itself, so a host with both kinds
 * works. Made only when a limit was asked for. */
#ifndef VIV_HOST_CGROUP_H
#define VIV_HOST_CGROUP_H

#include <sys/types.h>

#include "base/base.h"

enum cgroup_controller { CGROUP_MEMORY, CGROUP_CPU, CGROUP_PIDS, CGROUP_CONTROLLERS };

struct cgroup_limits {
	uint64_t memory; /* bytes; 0: none */
	uint32_t cpu_milli; /* thousandths of one processor; 0: none */
	uint32_t pids; /* 0: none */
};

struct cgroup {
	char v2[512]; /* the cell's directories; "": none */
	char v1[CGROUP_CONTROLLERS][512];
	int v2_fd; /* of v2, to be born in; -1 */
	bool enforced[CGROUP_CONTROLLERS];
};

/* Makes what can be made and removes what dead cells left there. Never fails: enforced says what
 * is. */
void cgroup_create(struct cgroup *cg, const struct cgroup_limits *limits);
/* Another limit where one of this kind is enforced; 0: none. -errno: it stays as it was; -EBUSY:
 * more is in use (memory, v1). */
int must_check cgroup_set(const struct cgroup *cg, const struct cgroup_limits *limits,
			  enum cgroup_controller c);
/* The same where none is, for a cell that runs: the group is made, and the kernel and all that it
 * started are moved there. What memory they have is not moved with them, so a limit of memory
 * counts only what comes. False: it cannot be had; what was made goes with cgroup_remove. */
bool cgroup_add(struct cgroup *cg, const struct cgroup_limits *limits, enum cgroup_controller c,
		pid_t kernel);
/* Moves the kernel of a cell and all that it started into groups that were made for it. False: some
 * could not be. */
bool cgroup_enter(const struct cgroup *cg, pid_t kernel);
/* Whether a process has to be moved into some of them, because it cannot be born there: all of
 * v1; v2 when root starts the cell under another uid, which may not write there (born_fd < 0
 * says so). */
bool cgroup_is_joined_late(const struct cgroup *cg, int born_fd);
/* Moves it. 0 or -errno. */
int must_check cgroup_join(const struct cgroup *cg, int born_fd, pid_t pid);
/* How often the host killed something in it for lack of memory. */
unsigned long cgroup_oom_kills(const struct cgroup *cg);
/* A descriptor that can be read, without blocking, when that may have happened; -1: none. The
 * caller's. */
int cgroup_oom_watch(const struct cgroup *cg);
/* After the last process ended. */
void cgroup_remove(struct cgroup *cg);

#endif
