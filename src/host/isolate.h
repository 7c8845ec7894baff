/* How a kernel is locked in, as named stages in a fixed order. host/isolate.c does them, with
 * host/jail.c; host/filter.c has the last one. A gate is spawned in the same way, and goes on in
 * gate/isolate.c.
 *
 * In viv, isolate_spawn():
 *   ids         as root: the child gets an unprivileged uid and gid of its own, and no groups
 *   namespaces  one clone makes user, mount, PID, IPC, UTS, network and cgroup namespaces;
 *               the child is process 1
 *   maps        the child maps its own uid and gid to 0, and nothing else
 *   quotas      of what the host counts for each user (pending signals, processes, inotify watches)
 *               a cell gets a share, and the user keeps a rest; no user namespaces
 *   leash       the child dies with viv; it leaves viv's session, so that a terminal's
 *               signals reach viv only
 *   exec        viv-kernel by descriptor, with exactly the descriptors of wire/bootspec.h and
 *               an empty environment
 * In viv-kernel, isolate_enter(), before anything of a guest is looked at:
 *   numbers     of a cell that is thawed: what numbers of processes are chosen by
 *   frame       a small private tmpfs that the following mounts are attached to, and that
 *               nothing leads out of
 *   proc        a private /proc of the new PID namespace, processes only
 *   scratch     a private tmpfs for the contents of the cell's files
 *   mounts      each host directory and each directory of a disk becomes a mount of its own, so
 *               that ".." leads nowhere; layers of other disks are read-only
 *   view        FD_IMAGE becomes a read-only mount of the image's directory, or a read-only view of
 *               what the host image may show
 *   root        the process's root is an empty read-only directory; no path leads to the host
 *   caps        no capabilities, none to be gained, no_new_privs; while a cell is thawed, only
 *               CAP_CHECKPOINT_RESTORE of its own user namespace, until all processes are made
 *   rlimits     descriptors, processes, pending signals, no core files
 * and isolate_seal(), when the first runner exists:
 *   filter      a seccomp allowlist made from the "#syscalls:" comments of the sources
 * After that the kernel can make no process, open no socket, execute no file and map no
 * executable memory. */
#ifndef VIV_HOST_ISOLATE_H
#define VIV_HOST_ISOLATE_H

#include <sys/types.h>

#include "wire/bootspec.h"

/* ---- viv's side ---- */

/* uids that a cell gets when viv is root: a private range, so that two cells can neither see nor
 * touch each other. */
#define ISOLATE_UID_BASE 0x70000000u
#define ISOLATE_UID_BITS 24

/* The uid for a new cell: a fresh one when viv is root of the host, else the caller's own. Also
 * its gid. A cell with a disk has the one that its disk belongs to. */
void isolate_ids(uid_t *ret_uid, gid_t *ret_gid);

struct isolate_spawn {
	int program_fd; /* viv-kernel or viv-gate, O_PATH */
	bool gate; /* it keeps the host's network */
	const int *fds; /* become 0 .. nfds-1 */
	unsigned nfds;
	/* Of fds: carries what failed, and the child does not start when its other end is closed. A
	 * CTL_FAIL on a kernel's FD_CONTROL, a line of text of a gate. */
	unsigned control;
	uid_t uid; /* from isolate_ids */
	gid_t gid;
	int cgroup_fd; /* a cgroup v2 directory that the child is born in, or -1 */
	bool wait_go; /* the child waits for one byte on the control socket before it executes */
};

struct isolated {
	pid_t pid;
	int pidfd;
};

/* 0 or -errno of the clone (EPERM, ENOSPC, EUSERS: no user namespaces here). Later failures come
 * as CTL_FAIL. */
int must_check isolate_spawn(const struct isolate_spawn *s, struct isolated *ret);

/* ---- the kernel's side ---- */

struct isolate_result {
	/* -1: the host forbids it (a container with a masked /proc); a warning was given. */
	int proc_fd;
	int scratch_fd;
};

/* All stages up to the resource limits. FD_IMAGE is replaced by the narrowed view of the
 * host, when it was open. 0 or -errno, with a message in the log. */
int must_check isolate_enter(const struct bootspec *spec, struct isolate_result *ret);

/* Between the two, of a cell that is thawed: the next process or thread that is made in the cell
 * has this number, if it is free. It is the one thing that the kernel may still do until
 * isolate_numbers_end(). 0 or -errno. */
int must_check isolate_next_pid(pid_t pid);
int must_check isolate_numbers_end(void);

/* The last stage. 0 or -errno. */
int must_check isolate_seal(void);

/* For isolate_seal (host/filter.c). */
int must_check filter_install(void);

#endif
