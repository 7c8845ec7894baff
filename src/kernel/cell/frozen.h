/* A frozen cell as a file: what is in it, and the reader that checks it
 * (docs/decisions/0056-freeze.md).
 *
 *   a page     struct frozen_head
 *   pages      contents of memory
 *   records    each a struct frozen_rec and its payload, padded to 8 bytes
 *
 * First FROZEN_PIPE and FROZEN_FILE, numbered by their order; then for each process a FROZEN_PROC
 * (parents before children), and behind it what belongs to it: its threads, descriptors, mappings
 * in ascending order, each followed by the pages that differ from what it maps, and at last the
 * pages of the stub's own data. A kernel of the same build wrote it, but it is read as if anybody
 * had. */
#ifndef VIV_KERNEL_CELL_FROZEN_H
#define VIV_KERNEL_CELL_FROZEN_H

#include <fcntl.h>

#include "base/sha256.h"
#include "kernel/abi/signal.h"
#include "kernel/task/cred.h"
#include "kernel/task/proc.h"
#include "wire/frozen.h"

#define FROZEN_RECORDS_MAX (64UL << 20)
#define FROZEN_TEXT 4096 /* of a path, with its NUL */
#define FROZEN_FILES_MAX 4096u
#define FROZEN_PIPES_MAX 1024u
#define FROZEN_TASKS_MAX 4096u
#define FROZEN_SIGNALS_MAX 1024u
#define FROZEN_PID_MAX 4194304
#define FROZEN_TIME_MAX (INT64_MAX / 4) /* ns: can be added to a time */

enum frozen_type {
	FROZEN_PIPE = 1, /* struct frozen_pipe, its content */
	FROZEN_FILE, /* struct frozen_file, its path */
	FROZEN_PROC, /* struct frozen_proc, three paths */
	FROZEN_ZOMBIE, /* struct frozen_zombie */
	FROZEN_TASK, /* struct frozen_task */
	FROZEN_FD, /* struct frozen_fd */
	FROZEN_MAP, /* struct frozen_map, its path */
	FROZEN_PAGES, /* struct frozen_pages */
	FROZEN_SIGNAL, /* struct frozen_signal, behind its thread */
	FROZEN_LAST = FROZEN_SIGNAL,
};

struct frozen_rec {
	uint32_t type, size; /* of the payload */
};

struct frozen_pipe {
	uint32_t capacity, used;
};

enum frozen_kind { FROZEN_BY_PATH, FROZEN_STREAM, FROZEN_PIPE_READ, FROZEN_PIPE_WRITE };

/* Of O_, what an open file can have. */
#define FROZEN_FLAGS                                                                         \
	(O_ACCMODE | O_APPEND | O_NONBLOCK | O_SYNC | O_DIRECT | 0100000 /* O_LARGEFILE */ | \
	 O_DIRECTORY | O_NOFOLLOW | O_NOATIME)

struct frozen_file {
	uint32_t kind; /* enum frozen_kind */
	uint32_t flags; /* of FROZEN_FLAGS */
	uint32_t number; /* of the stream or pipe */
	uint32_t pad;
	int64_t pos;
};

/* Numbers that both sides copy. */
struct frozen_numbers {
	int32_t pid, ppid, pgid, sid; /* ppid 1: the kernel's own child */
	int32_t exit_signal, nice, oom_score_adj, dumpable;
	uint64_t sig_caught, sig_guarded;
	uint64_t arg_start, arg_end, env_start, env_end, auxv_addr, start_brk, start_stack,
		start_code, end_code;
	uint64_t personality;
	uint32_t auxv_size;
	uint8_t is_first, chld_ignore, chld_nowait, chld_nostop, did_exec, subreaper, no_new_privs,
		thp_disable;
};

struct frozen_proc {
	struct frozen_numbers n;
	struct klimit limits[RLIMITS];
	uint64_t brk;
	int64_t alarm, alarm_interval; /* ns; alarm 0: none */
	uint32_t umask, nthreads;
	uint32_t cwd, exe; /* lengths of the paths behind, with their NULs */
};

struct frozen_zombie {
	int32_t pid, ppid, pgid, sid, exit_signal, wait_status;
	uint32_t uid, gid;
	char comm[16];
};

struct frozen_task {
	int32_t tid, pdeathsig;
	uint64_t sp; /* in stub_rest() */
	char comm[16];
	struct cred cred;
	uint32_t loginuid, sessionid, timerslack_ns, timerslack_default;
	int32_t nice;
	uint16_t ioprio;
	uint8_t sched_policy, sched_prio, sched_reset, pad2[7];
	uint32_t restart; /* a call keeps its deadline when it is made again */
	int32_t restart_nr;
	uint32_t pad;
	uint64_t restart_args[6];
	int64_t restart_deadline;
};

/* On its way to the thread before it, which has not taken it yet. */
struct frozen_signal {
	uint32_t shared, pad; /* for the process */
	struct linux_siginfo info;
};

struct frozen_fd {
	uint32_t fd, file, cloexec, pad;
};

enum frozen_memory {
	FROZEN_ANON,
	FROZEN_STACK, /* grows down */
	FROZEN_PRIVATE, /* of the file at the path */
	FROZEN_SHARED, /* the same; never writable */
	FROZEN_HOST, /* the host's own: vDSO and what goes with it */
	FROZEN_STUB, /* data of the stub, which is there already */
};

struct frozen_map {
	uint64_t start, end, off;
	uint32_t prot, memory; /* enum frozen_memory */
	/* of the file */
	uint64_t ino, size;
	int64_t mtime, mtime_ns;
	uint8_t hash[SHA256_SIZE]; /* of FROZEN_HOST that is code */
};

struct frozen_pages {
	uint64_t addr, n; /* bytes */
	uint64_t at; /* in the file */
};

/* Walks the records. 1: *ret_ and *ret_data (its payload) are the next one; 0: there is none;
 * -EINVAL. */
int must_check frozen_next(const uint8_t *records, size_t size, size_t *at, struct frozen_rec *ret,
			   const uint8_t **ret_data);
/* All of it is as described above: numbers in their bounds, nothing overlaps, every reference leads
 * somewhere. 0, or -EINVAL and what is wrong. */
int must_check frozen_check(const struct frozen_head *head, uint64_t file_size,
			    const uint8_t *records, const char **ret_why);

#endif
