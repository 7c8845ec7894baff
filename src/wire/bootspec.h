/* What viv tells a kernel at its start, and on which descriptors.
 *
 * viv (trusted) starts viv-kernel as process 1 of fresh namespaces with these descriptors and no
 * others:
 *   0 1 2  the caller's streams
 *   3      control: a SOCK_SEQPACKET pair; messages below
 *   4      the spec: a sealed memfd with a struct bootspec and then strings
 *   5      the image: the host's root directory, or the directory of an image of the store; O_PATH
 *   6      the channel to viv-gate, if the cell is granted any network (wire/gate.h)
 *   7...   one O_PATH directory for each host mount, in the spec's order; likewise what disks
 *          need: the directory with the layers of a disk (data/), and one for each layer of
 *          another disk in its chain
 *   then   with --trace: where the trace goes (trace_fd says which number); with a journal: its
 *          ring and the bell of it (journal_fd, journal_bell)
 * The spec is written by bootspec_write in viv and read by bootspec_read in the kernel. It comes
 * from the operator and is trusted, but it is still bounded. */
#ifndef VIV_WIRE_BOOTSPEC_H
#define VIV_WIRE_BOOTSPEC_H

#include "base/base.h"
#include "wire/limits.h"
#include "wire/stats.h"

#define FD_CONTROL 3
#define FD_SPEC 4
#define FD_IMAGE 5
#define FD_GATE 6
#define FD_MOUNTS 7

#define SPEC_MAX_MOUNTS 32
#define SPEC_HOSTS_MAX 24576
#define SPEC_SEARCH_MAX 2048
#define SPEC_CA_MAX 8192 /* bytes */
#define SPEC_TOOLS_MAX 4096
#define SPEC_MAX_ARGS 65536
#define SPEC_MAX_LAYERS 16384 /* sealed ones, of all disks together */
#define SPEC_FDS 640 /* numbers below it are for what viv gives; it may be more */

/* A disk (docs/decisions/0017). Its chain is layers[first ... first + nsealed) of the spec, from
 * the root on, then the active one. */
struct disk_spec {
	bool present;
	bool readonly; /* the chain alone: active does not count */
	bool detached; /* the descriptors are mounts of their own already */
	int32_t data_fd; /* the directory with its own layers */
	uint32_t active; /* made if it is not there yet */
	uint32_t first, nsealed;
	uint64_t max_bytes, max_inodes; /* quotas; 0: as much as the host has */
};

struct layer_spec {
	int32_t fd; /* the directory of another disk's layer; -1: an own one, below data_fd */
	uint32_t number;
};

struct mount_spec {
	const char *dst; /* absolute guest path; made when missing */
	const char *kind; /* "host" (a directory), "file", "tmpfs", "disk" or "s3" */
	bool readonly;
	bool nofollow; /* no part of dst may be a symbolic link */
	int fd; /* of a host directory or file; of s3: the socket of its viv-s3 (wire/s3.h) */
	/* of a file that is not read-only: a number of its own, for the descriptor that writes */
	int32_t write_fd;
	bool detached; /* fd is a mount of its own already, so that ".." leads nowhere */
	uint64_t size; /* of a tmpfs; 0: default */
	struct disk_spec disk;
};

/* A limit of each process that viv starts in the cell. */
#define SPEC_ULIMITS 16 /* one for each RLIMIT_ */
struct ulimit {
	uint32_t resource; /* RLIMIT_ */
	uint64_t soft, hard;
};

/* Whether runners answer path look-ups themselves, and post calls. */
enum fast_mode {
	FAST_ON,
	FAST_OFF,
	FAST_CHECK, /* no, but what they would have said is compared with the truth */
	FAST_EAGER, /* as on, but from the first call on and whether it pays or not: for tests */
	/* as on, and every call that waits is detached at once (kernel/task/detach.c): for tests */
	FAST_DETACH,
	FAST_LAST = FAST_DETACH,
};

/* What a cell's journal records (docs/decisions/0049-journal.md). */
enum journal_level {
	JOURNAL_OFF,
	JOURNAL_CHANGES, /* all but what is read */
	JOURNAL_ALL,
};
#define JOURNAL_DEFAULT JOURNAL_ALL /* of a cell whose operator says nothing */
enum journal_full { JOURNAL_FULL_WAIT, JOURNAL_FULL_CONTINUE };

/* What the kernel is for. Other than MODE_RUN: no guest, the disk (all of its chain, read-only) is
 * told to out_fd; see kernel/cell/maintain.c. argv is not used then, but not empty. */
enum spec_mode { MODE_RUN, MODE_LIST, MODE_CONTENTS, MODE_TAR, MODE_CHECK, MODE_MERGE };
#define TELL_CONTENT_MAX (4u << 20) /* MODE_CONTENTS: larger ones are not told */

struct bootspec {
	uint32_t mode; /* enum spec_mode */
	/* no first process: it waits for CTL_EXEC, and ends by CTL_END, or with a process that
	 * CTL_X_FIRST started */
	bool idle;
	bool seed; /* further processes can be started; an idle cell always has this */
	int32_t out_fd; /* of a mode that tells something */
	/* differences are to the first so many layers of the chain; 0: to the image */
	uint32_t from_layers;
	int32_t log_fd; /* of MODE_MERGE: an empty file */
	uint32_t log_layer; /* and the number of its layer */
	bool tar_whole; /* not only what differs */
	bool tar_objects; /* contents of an image of the store by number */
	char **argv; /* NULL-terminated; never empty */
	char **envp;
	const char *workdir; /* "/" by default */
	bool workdir_make; /* when it is not there */
	const char *hostname; /* the cell's */
	/* PEM: the certificate of the CA that opens the cell's connections; NULL: none does */
	const char *ca;
	uint32_t uid, gid; /* of the first process, inside */
	/* instead: "NAME", "UID", with ":GROUP" or not, by the cell's own /etc/passwd and
	 * /etc/group; or NULL */
	const char *user;
	const char *groups; /* further ones, by name or number: "video,44"; or NULL */
	uint32_t nulimits;
	struct ulimit ulimits[SPEC_ULIMITS];
	bool readonly_root; /* guests cannot write to the root's mount, nor make it writable */
	const char *
		wasm; /* command that runs WebAssembly modules; NULL: node, where the cell has it */
	bool image_stored; /* FD_IMAGE is an image of the store */
	bool image_detached; /* and a mount of its own already */
	uint32_t user_uid,
		user_gid; /* the extra ordinary user in /etc/passwd: "agent" 1000 by default */
	bool network; /* FD_GATE may be used */
	const char *hosts; /* lines for /etc/hosts, or NULL; at most SPEC_HOSTS_MAX bytes */
	const char *search; /* domains for /etc/resolv.conf, or NULL; at most SPEC_SEARCH_MAX */
	/* a sealed memory file with rules of the scopes files and exec (policy/compiled.h); -1:
	 * there are none */
	int32_t policy_fd;
	/* the names of the cell's tools, separated by spaces; NULL: it has no door to vivd. At most
	 * SPEC_TOOLS_MAX bytes */
	const char *tools;
	int32_t tool_fd; /* the program behind them; -1: none */
	int32_t viv_fd; /* viv itself, of a cell that may make cells; -1: none */
	int32_t thaw_fd; /* a frozen cell (kernel/cell/frozen.h) that goes on; -1: none */
	bool trace;
	int32_t trace_fd; /* with trace: the descriptor that the lines are written to; else -1 */
	uint32_t fast; /* enum fast_mode */
	uint32_t journal; /* enum journal_level; off: there are no descriptors for it */
	/* otherwise: the ring (wire/journalring.h), and the eventfd that wakes its reader */
	int32_t journal_fd, journal_bell;
	/* at the end, print what changed in the cell's layer as CTL_LOG lines: A, C or D and the
	 * path */
	bool changes;
	bool quiet; /* no warnings and events, only failures */
	bool tty[3]; /* which streams are terminals */
	uint32_t cpus; /* that the cell sees; at least 1 */
	uint32_t host_cpus; /* numbers that they can have on the host; at least cpus */
	uint64_t memory; /* bytes that the cell sees and may use; 0: the host's */
	bool memory_enforced; /* a cgroup enforces it; else the kernel does by accounting */
	uint32_t max_tasks; /* processes and threads */
	uint32_t most_tasks; /* that a change of max_tasks can reach while it runs */
	uint32_t max_files; /* open files of the whole cell */
	/* that may be written to the cell's own layer and tmpfs together; a disk has a quota of its
	 * own */
	uint64_t disk_bytes;
	uint64_t disk_inodes;
	/* of the network: connections at once, bytes for the cell's whole life; 0: no limit */
	uint64_t net_connections, net_in, net_out, net_rate;
	int64_t timeout_ns; /* 0: none; enforced by viv, shown for completeness */
	uint32_t nmounts;
	struct mount_spec mounts[SPEC_MAX_MOUNTS];
	struct disk_spec disk; /* of the root; not present: it goes with the cell */
	uint32_t nlayers;
	struct layer_spec *layers;
	void *map; /* what bootspec_read mapped; it stays unless the reader unmaps it */
	size_t map_size;
};

/* Writes spec into a sealed memfd: the descriptor or -errno. */
int bootspec_write(const struct bootspec *spec);
/* Maps and reads it; strings point into the mapping, which stays. 0 or -errno. */
int bootspec_read(int fd, struct bootspec *out);

/* ---- control messages, both ways; one struct each, fixed size ---- */
enum ctl_type {
	/* viv -> kernel: signal a, for the foreground group if it is a terminal's (SIGINT,
	 * SIGWINCH, ...), else for the first process */
	CTL_SIGNAL = 1,
	/* kernel -> viv: the first process ended with wait status a; sent once, then the kernel
	 * ends */
	CTL_EXIT,
	/* kernel -> viv: the cell could not start or go on; text says why; a: exit status to use */
	CTL_FAIL,
	/* kernel -> viv: text; a is 1: a result that was asked for, shown as it is and also when
	 * quiet */
	CTL_LOG,
	/* kernel -> viv: a limit was hit or neared: text; a is 1: of memory, and a process was
	 * ended for it */
	CTL_EVENT,
	/* viv -> kernel: seal the root's active layer, layer a goes on; text "sync": bring all to
	 * the host's disk before. viv has noted that a is the active one before it asks (a layer
	 * that is not there yet is an empty one), and takes it back if that fails */
	CTL_SEAL,
	CTL_SEALED, /* kernel -> viv: a is 0 or -errno; text: how many microseconds it took */
	/* kernel -> viv: SIGTSTP came for the first process: viv stops, for its shell to go on */
	CTL_STOP,
	CTL_READY, /* kernel -> viv: the cell runs; an idle one waits */
	/* Further processes. id is viv's number for one, from 1 on and never used twice; the first
	 * process that the spec starts is 1. */
	/* viv -> kernel: start process id, flags CTL_X_*; rows a, columns b with a terminal;
	 * descriptors: a spec (wire/execspec.h), 0, 1, 2, and with CTL_X_PROGRAM the program */
	CTL_EXEC,
	CTL_STARTED, /* kernel -> viv: process id has number a in the cell */
	/* kernel -> viv: it could not; a: exit status as a shell has it (125, 126, 127), b: -errno;
	 * text */
	CTL_EXEC_FAIL,
	CTL_PROC_EXIT, /* kernel -> viv: process id ended with wait status a */
	/* viv -> kernel: signal a for process id; b is 1: for the foreground group of its terminal,
	 * else for its group */
	CTL_PROC_SIGNAL,
	CTL_RESIZE, /* viv -> kernel: the terminal of process id has a rows and b columns */
	/* viv -> kernel: who had process id at its terminal or pipes is gone: SIGHUP and SIGCONT */
	CTL_HANG_UP,
	CTL_PAUSE, /* viv -> kernel: nothing of the cell runs any more, until ... */
	CTL_RESUME,
	CTL_END, /* viv -> kernel: end now; answered by CTL_EXIT */
	CTL_STATS, /* both: figures are asked for; stats */
	/* kernel -> viv: answers CTL_PROC_SIGNAL, CTL_RESIZE, CTL_PAUSE, CTL_RESUME, CTL_SETUP,
	 * CTL_LIMITS, CTL_INBOUND and CTL_DENIED, by the request's number: a is 0 or -errno */
	CTL_DONE,
	/* viv -> kernel: an idle cell in which nothing ran yet becomes another one: limits, and the
	 * environment, directory and user of its processes by a spec (wire/execspec.h) whose argv
	 * does not count; answered by CTL_DONE */
	CTL_SETUP,
	/* viv -> kernel: other limits; -EBUSY: more memory is in use than that, and nothing has
	 * changed */
	CTL_LIMITS,
	/* viv -> kernel: a connection from outside to port a of the cell, from peer; descriptor: a
	 * stream. Answered by CTL_DONE; -ECONNREFUSED: nobody listens there. With CTL_IN_UDP:
	 * datagrams to that port and answers to them; descriptor: a SOCK_SEQPACKET end, each packet
	 * a struct ctl_peer and the bytes of one */
	CTL_INBOUND,
	/* viv -> kernel: other rules of the scopes files and exec; descriptor: their compiled form
	 * (policy/compiled.h); none: no rules. In one step; answered by CTL_DONE */
	CTL_POLICY,
	/* viv -> kernel: the cell is granted a network, and has one from now on. No answer */
	CTL_NETWORK,
	/* kernel -> viv: a call waits for an answer to question id, which is never used twice; id
	 * 0: a call was refused, and nobody waits. a: enum scope, b: the process, flags: CTL_ASK_
	 * with FILES_ bits above them. Its texts come one after the other, each in as many messages
	 * as it takes; the last message of all has CTL_ASK_LAST */
	CTL_ASK,
	CTL_WITHDRAW, /* kernel -> viv: nobody waits for the answer to question id any more */
	CTL_ANSWER, /* viv -> kernel: the answer to question id; a is 1: allowed, 0: denied */
	/* kernel -> viv: a program opens connection id to vivd; a: its process, text: its program.
	 * viv -> kernel: connection id; descriptor: one end of a stream; none: a is -errno */
	CTL_DOOR,
	/* viv -> kernel: vivd refused a program something: text, for the cell's own list of
	 * refusals. Answered by CTL_DONE */
	CTL_DENIED,
	/* kernel -> viv: a bytes of what the work left, in text; before CTL_EXIT, at most
	 * CELL_RESULT_MAX in all messages */
	CTL_RESULT,
	/* viv -> kernel: write the running cell down; descriptor: an empty file; text: the host's
	 * boot. Answered by CTL_FROZEN */
	CTL_FREEZE,
	/* kernel -> viv: a is 0: it is written, and nothing of the cell runs any more; else -errno
	 * and text, and it goes on */
	CTL_FROZEN,
	CTL_UNFREEZE, /* viv -> kernel: what was written cannot be kept; the cell goes on */
};

/* Of CTL_ASK: which text this is a piece of. */
#define CTL_ASK_ACTION 0u /* what the call does: "open", "rename", ... */
#define CTL_ASK_PATH 1u
#define CTL_ASK_TO 2u /* of a rename or link: the new name */
#define CTL_ASK_PROGRAM 3u /* that the process runs */
#define CTL_ASK_RULE 4u
#define CTL_ASK_TEXTS 5u
#define CTL_ASK_TEXT(flags) ((flags)&7u)
#define CTL_ASK_LAST 8u
#define CTL_ASK_ACCESS 8 /* where the FILES_ bits begin */
#define CTL_ASK_MAX 64 /* questions that wait at once; more are refused */

#define CTL_X_FIRST 1u /* the cell ends with it */
#define CTL_X_TTY 2u /* a pseudo-terminal of the cell between it and descriptors 0 and 1 */
#define CTL_X_HANG_UP 4u /* the end of descriptor 0 hangs that terminal up */
#define CTL_X_PROGRAM 8u /* a sealed memory file is executed; argv[0] is no path but its name */
#define CTL_IN_UDP 1u /* of CTL_INBOUND */
#define CTL_MAX_FDS 5
#define CELL_RESULT_MAX (64UL << 10) /* bytes of /dev/result */

/* Where a connection comes from. */
struct ctl_peer {
	uint8_t addr[16]; /* IPv6, or IPv4 in its mapped form; 0: the host */
	uint16_t port;
};

struct ctl_msg {
	uint32_t type;
	int32_t a, b;
	uint32_t id, flags;
	uint32_t request; /* viv's, given back in CTL_DONE and CTL_STATS */
	union {
		char text[488];
		struct keep_stats stats;
		struct cell_limits limits;
		struct ctl_peer peer;
	};
};

#endif
