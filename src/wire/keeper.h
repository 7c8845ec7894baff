/* What a keeper and its clients say to each other (docs/decisions/0019).
 *
 * A keeper listens on a SOCK_SEQPACKET socket, RUN/cells/ID.sock. Every packet is one struct
 * keep_msg of one size, with at most KEEP_MAX_FDS descriptors by SCM_RIGHTS. A request has an id
 * that the client chose (not 0); what answers it carries that id. Each request gets one answer, in
 * any order, KEEP_OK or KEEP_FAIL, except where it says otherwise:
 *
 *   KEEP_HELLO        n: KEEP_VERSION, flags: KEEP_WORD
 *     KEEP_HELLO      hello
 *   KEEP_EXEC         exec; descriptors: the spec (wire/execspec.h), then 0, 1, 2 unless KEEP_X_LOG
 *                     is set, then the program if KEEP_X_PROGRAM is set. One with the tag of a
 *                     process that is still known starts nothing: the answer is that process's
 *     KEEP_STARTED    proc, pid; descriptor with KEEP_X_INPUT: to write its input to
 *     KEEP_EXITED     unless KEEP_X_DETACH is set, at its end: proc, a: wait status, b is 1: its
 *                     time was up
 *   KEEP_WAIT         proc
 *     KEEP_EXITED     the same, when it has ended
 *   KEEP_SIGNAL       proc, a: signal, flags: KEEP_TO_GROUP
 *   KEEP_RESIZE       proc, a: rows, b: columns
 *   KEEP_STOP         n: grace in nanoseconds
 *     KEEP_OK         at once; the end is an event, and what waiters get
 *   KEEP_SLEEP        n: grace, flags: KEEP_SLEEP_NOW, or time: when the last connection came that
 *                     vivd knows of (keep_stats); KEEP_SLEEP_FREEZE
 *     KEEP_PORTS      descriptors: the sockets at which the host listened for the cell, in the
 *                     order of its ports; as many messages as it takes. Then
 *     KEEP_OK         as KEEP_STOP
 *     KEEP_FAIL       somebody uses the cell (ERR_BUSY)
 *   KEEP_KILL
 *     KEEP_OK         the same
 *   KEEP_PAUSE, KEEP_RESUME
 *     KEEP_OK         when it is done
 *   KEEP_SEAL         text: name of the snapshot, or ""
 *     KEEP_OK         n: the layer that was sealed
 *   KEEP_FORGET       text: name of a snapshot
 *     KEEP_OK         it is none any more
 *   KEEP_ROLLBACK     text: name of a snapshot; n: grace
 *     KEEP_OK         as KEEP_STOP, but the files are set back then, and the answer comes after
 *                     that
 *     KEEP_FAIL       all is as it was, but with a 1 the cell has ended
 *   KEEP_STATS
 *     KEEP_STATS      stats
 *   KEEP_PROCS
 *     KEEP_PROC       one for each, then KEEP_OK
 *   KEEP_LOGS         proc
 *     KEEP_LOGS       descriptors, read-only: the log, and the one before it if there is one
 *   KEEP_ATTACH       proc, whose output goes to a log
 *     KEEP_ATTACH     proc, pid, flags: KEEP_X_, n: bytes that it has written so far;
 *                     descriptor: to write its input to, while that is open
 *   KEEP_CLOSE_INPUT  proc
 *     KEEP_OK         its input ends when every holder of a descriptor has closed it
 *   KEEP_PUT          proc, started with KEEP_X_WHOLE; n: where in its input these bytes belong,
 *                     a: how many they are, in text, or descriptor: a memory file with them
 *     KEEP_OK         all of them are in its pipe; those before the end of its input were there
 *                     already and are not written again. n: the end of its input
 *     KEEP_FAIL       its input is closed, the bytes do not follow those before (ERR_CONFLICT),
 *                     or another client's are being written (ERR_BUSY)
 *   KEEP_TAKEN        proc, started with KEEP_X_WHOLE; n: so much of its output is stored elsewhere
 *                     and is not kept any more; KEEP_ALL: all, and if it has ended, it is forgotten
 *                     with its output. Not answered
 *   KEEP_SUBSCRIBE    n: first event wanted; 0: the next; flags: KEEP_SAID
 *     KEEP_OK         n: the first one that follows (later, when some are gone already); then
 *                     KEEP_EVENTs for good, with that id
 *   KEEP_TAKE         of a cell in a pool; descriptor: words
 *     KEEP_OK         it is that cell now; its command is being started
 *   KEEP_DIAL         a: a port of the cell; descriptor: one end of a stream
 *     KEEP_OK         the program that listens there has it as a connection
 *   KEEP_PORTS
 *     KEEP_PORTS      descriptor: a memory file with a list in JSON of the ports at which the
 *                     host listens for the cell: address, host_port, cell_port, protocol
 *   KEEP_POLICY       descriptor: rules (docs/policy.md), which take the place of those in force
 *     KEEP_OK         the gate decides by them
 *     KEEP_FAIL       all is as it was
 *   KEEP_ASKS
 *     KEEP_ASKS       descriptor: a memory file with a list in JSON of the questions that are open:
 *                     ask, a number that is never used again in this run, run, the time of its
 *                     start in nanoseconds, and what is asked
 *   KEEP_ANSWER       n: the number of a question, a is 1: allowed, 0: denied
 *     KEEP_FAIL       nobody waits for it any more
 *   KEEP_DOOR
 *     KEEP_OK         then a KEEP_DOOR for each connection that the cell opens to vivd, with that
 *                     id, to the client that asked last: pid, text: its process and program as the
 *                     cell has them, which are not to be believed; descriptor: a stream. Without
 *                     such a client connections wait
 *     KEEP_FAIL       the cell has no tools
 *   KEEP_TOOLS
 *     KEEP_TOOLS      descriptor: a memory file with an object in JSON of what is in force: tools,
 *                     the names that the cell was given, policy, its rules, and settings, those
 *                     that it was started with
 *   KEEP_DENIED       text: what vivd refused a program of the cell, and why
 *     KEEP_OK         it is a line of the cell's own list of refusals
 *   KEEP_JOURNAL      a: the size of one frame (wire/journal.h), in text, or descriptor: a memory
 *                     file with it; n: any number but 0 that this record alone has
 *     KEEP_OK         it is in the journal. The number of the last one is kept: a client that did
 *                     not hear of its answer says the same again, and it is recorded once
 *     KEEP_FAIL       the cell has none (ERR_NOT_FOUND), it is not a frame of a kind that vivd
 *                     writes (ERR_INVALID), or there is no room (ERR_STORAGE), which may be tried
 *                     again
 *   KEEP_LEASE
 *     KEEP_OK         the connection stays open as long as the cell runs, and no longer: whoever
 *                     ends with the cell waits for its end
 *   KEEP_LIMITS       limits
 *     KEEP_OK         when they are in force; n: so many whole processors instead of a part
 *     KEEP_FAIL       all is as it was
 *
 * A process is named by its number proc, which is never used twice: 1 is the cell's first process
 * (which an idle cell gets by KEEP_X_FIRST), the others count up. pid is what the cell itself calls
 * it.
 *
 * KEEP_FAIL: a is what a shell would give (126, 127) for an exec, else 0 but for a rollback; b and
 * text are the error (keep_fail_get).
 *
 * A keeper that was started for a pool has no socket of its own. It has one client from the
 * beginning, at the other end of KEEPER_FD_READY, and when that one goes, so does the cell: with
 * whoever has the descriptor. KEEP_TAKE makes it a cell like others, by the words of 'viv run' that
 * a keeper is started with, --id among them; KEEP_FAIL: these cannot be had any more, nothing has
 * changed, and it is for another to take. Who keeps it on the leash may send KEEP_LIMITS before its
 * command.
 *
 * When a client goes away: its execs without KEEP_X_DETACH get SIGHUP and SIGCONT, as if their
 * terminal had gone; what it waited for is forgotten. A client that does not read what it asked for
 * (KEEP_BACKLOG answers or events) is sent away. */
#ifndef VIV_WIRE_KEEPER_H
#define VIV_WIRE_KEEPER_H

#include "base/base.h"
#include "base/err.h"
#include "wire/stats.h"

#define KEEP_VERSION 1
#define KEEP_MAX_FDS 5
#define KEEP_MAX_CLIENTS 1024
#define KEEP_MAX_PROCS 1024 /* running, or ended and not forgotten */
#define KEEP_EVENTS 1024 /* that are kept */
#define KEEP_BACKLOG 2048
#define KEEP_ID_LEN 32
#define KEEP_FIRST 1 /* proc of the first process */

enum keep_type {
	/* client -> keeper */
	KEEP_HELLO = 1,
	KEEP_EXEC,
	KEEP_WAIT,
	KEEP_SIGNAL,
	KEEP_RESIZE,
	KEEP_STOP,
	KEEP_KILL,
	KEEP_PAUSE,
	KEEP_RESUME,
	KEEP_SEAL,
	KEEP_STATS,
	KEEP_PROCS,
	KEEP_LOGS,
	KEEP_SUBSCRIBE,
	KEEP_TAKE,
	KEEP_LIMITS,
	KEEP_FORGET,
	KEEP_ROLLBACK,
	KEEP_ATTACH,
	KEEP_CLOSE_INPUT,
	KEEP_DIAL,
	KEEP_PORTS,
	KEEP_POLICY,
	KEEP_ASKS,
	KEEP_ANSWER,
	KEEP_PUT,
	KEEP_TAKEN,
	KEEP_DOOR,
	KEEP_TOOLS,
	KEEP_DENIED,
	KEEP_JOURNAL,
	KEEP_SLEEP,
	KEEP_LEASE,
	/* keeper -> client */
	KEEP_OK = 64,
	KEEP_FAIL,
	KEEP_STARTED,
	KEEP_EXITED,
	KEEP_PROC,
	KEEP_EVENT,
	/* to who signals with KEEP_AS_TYPED: SIGTSTP stopped the first process; stop as well */
	KEEP_SUSPEND,
};

/* Of KEEP_EXEC. */
#define KEEP_X_DETACH 1 /* it goes on when the client goes; its end is kept for KEEP_WAIT */
/* output goes to a log of the keeper's, input is empty without KEEP_X_INPUT */
#define KEEP_X_LOG 2
/* a pseudo-terminal of the cell; what it shows goes to descriptor 1, what is typed comes from 0 */
#define KEEP_X_TTY 4
#define KEEP_X_FIRST 8 /* of an idle cell: process KEEP_FIRST; the cell ends with it */
#define KEEP_X_PROGRAM 16 /* runs a sealed memory file, whatever the cell's image has */
/* a tool of ours or a health check, no process that anybody asked for: no event tells of it, and
 * KEEP_PROCS does not */
#define KEEP_X_QUIET 32
#define KEEP_X_INPUT 64 /* with KEEP_X_LOG: its input is held open, for KEEP_ATTACH */
/* With KEEP_X_LOG, KEEP_X_INPUT and KEEP_X_DETACH, without KEEP_X_TTY: nothing of its output is
 * dropped. All of it is kept until KEEP_TAKEN; while KEEP_WHOLE_MAX bytes are not taken, or the
 * disk has no room for more, no more is read from it, and the process waits. Its input comes by
 * KEEP_PUT. */
#define KEEP_X_WHOLE 128
#define KEEP_X_ALL 255
#define KEEP_WHOLE_MAX (8UL << 20)
#define KEEP_ALL UINT64_MAX /* of KEEP_TAKEN */

/* Of KEEP_SIGNAL. */
#define KEEP_TO_GROUP 1 /* to the foreground group of its terminal, else to its process group */
#define KEEP_AS_TYPED 2 /* to the first process, as if it were run by hand; not answered */

/* Of KEEP_SLEEP. */
#define KEEP_SLEEP_NOW 1 /* whoever uses it */
#define KEEP_SLEEP_FREEZE 2 /* its processes go on when it wakes; KEEP_FAIL: it runs on */

/* Of KEEP_HELLO: who asks wants to know how it ends, and may not be there in time. ID.end is
 * left. */
#define KEEP_WORD 1

/* Of KEEP_SUBSCRIBE. */
#define KEEP_SAID 1 /* only what 'viv run' prints: limits, warnings, and the end */

enum keep_state {
	KEEP_STARTING = 1,
	KEEP_IDLE, /* no first process yet */
	KEEP_RUNNING,
	KEEP_PAUSED,
	KEEP_STOPPING,
	KEEP_STOPPED, /* the cell is gone; its keeper goes when everybody was told */
};

enum keep_event_kind {
	KEEP_EV_STATE = 1, /* a: the new enum keep_state */
	KEEP_EV_START, /* proc, pid, flags: KEEP_X_; text: the command */
	KEEP_EV_EXIT, /* proc, pid, flags, a: wait status, b is 1: its time was up */
	KEEP_EV_LIMIT, /* text: a limit is near or hit. a: enum keep_limit, b: it was hit */
	/* the cell used more memory than it may. b is 1: the host says so, and not its kernel */
	KEEP_EV_OOM,
	/* of the cell. a: exit status as viv gives it (124: time was up), b: enum keep_reason;
	 * text: an error (keep_text_get) */
	KEEP_EV_END,
	KEEP_EV_LOG, /* text: a warning of the cell's kernel */
	/* text: JSON, what the gate refused (wire/gatectl.h), or the kernel (scope, action, path,
	 * program, rule). a: so many before it are not told */
	KEEP_EV_DENIED,
	/* text: JSON, a name or address that is used in this way for the first time. a is 1: no
	 * further ones are told */
	KEEP_EV_USE,
	/* a question came (a is 1), or was withdrawn: the list (KEEP_ASKS) is another */
	KEEP_EV_ASK,
};

enum keep_reason {
	KEEP_ENDED = 1, /* the first process ended */
	KEEP_ASKED, /* KEEP_STOP or KEEP_KILL */
	KEEP_TIME_UP,
	KEEP_OUT_OF_MEMORY,
	KEEP_FAILED, /* it could not start, or its kernel broke down; text says why */
};

struct keep_hello {
	uint32_t version, state; /* enum keep_state */
	/* on the host; keeper_pid 0: its process goes on after the cell, which ends with the
	 * socket */
	int32_t keeper_pid, kernel_pid;
	int64_t started; /* nanoseconds since 1970 */
	uint64_t next_event, first_event; /* the oldest that is kept */
	char id[KEEP_ID_LEN + 1];
	char name[65]; /* "": the cell goes when it ends */
	char image[80];
	char command[160]; /* of the first process, cut off */
	uint32_t flags; /* KEEP_H_ */
};
#define KEEP_H_FOREGROUND 1 /* somebody's 'viv run' stays with it */
#define KEEP_H_ASKS 4 /* it has open questions (KEEP_ASKS) */
#define KEEP_H_DOOR 16 /* it opens connections to vivd (KEEP_DOOR) */
#define KEEP_H_CELLS 32 /* with KEEP_H_DOOR: its rules may allow cells in it */
#define KEEP_H_PORTS 2 /* the host listens for it (KEEP_PORTS) */
#define KEEP_H_WHOLE 8 /* it knows KEEP_X_WHOLE */
#define KEEP_H_TAGS 128 /* it knows tags of processes */

struct keep_exec {
	uint32_t flags; /* KEEP_X_ */
	uint16_t rows, cols; /* with KEEP_X_TTY; 0: not known */
	int64_t timeout_ns; /* then SIGTERM, and SIGKILL two seconds later; 0: none */
	/* With KEEP_X_DETACH: a name that the client gave it, so that a request which may have been
	 * sent before can be sent again (KEEP_H_TAGS); 0: none */
	uint64_t tag;
};

struct keep_proc {
	uint32_t flags; /* KEEP_X_ */
	uint32_t ended; /* then status is its wait status */
	int32_t status;
	uint32_t timed_out; /* its time was up */
	int64_t started; /* nanoseconds since 1970 */
	char command[160];
};

/* Which of them are changed. */
#define KEEP_L_CPUS 1
#define KEEP_L_MEMORY 2
#define KEEP_L_PIDS 4
#define KEEP_L_DISK 8
#define KEEP_L_INODES 16
#define KEEP_L_TIMEOUT 32
#define KEEP_L_CONNECTIONS 64
#define KEEP_L_NET_IN 128
#define KEEP_L_NET_OUT 256
#define KEEP_L_NET_RATE 512

/* 0: none, or what a cell has that was started without. */
struct keep_limits {
	uint32_t set; /* KEEP_L_ */
	uint32_t cpu_milli; /* thousandths of a processor */
	uint32_t pids;
	uint64_t memory, disk, inodes;
	uint64_t connections, net_in, net_out, net_rate;
	int64_t timeout_ns; /* from the start of the cell on */
};

#define KEEP_TEXT 464

struct keep_msg {
	uint32_t type; /* enum keep_type */
	uint32_t id;
	uint32_t proc;
	int32_t pid;
	int32_t a, b;
	uint32_t flags;
	uint32_t kind; /* of a KEEP_EVENT */
	uint64_t n; /* of a KEEP_EVENT: its number, from 1 on */
	int64_t time; /* of a KEEP_EVENT: nanoseconds since 1970 */
	union {
		char text[KEEP_TEXT];
		struct keep_hello hello;
		struct keep_exec exec;
		struct keep_proc proc_is;
		struct keep_stats stats;
		struct keep_limits limits;
	};
};
_Static_assert(sizeof(struct keep_msg) == 512, "the size of a message is fixed");

/* Of KEEP_STOP and KEEP_ROLLBACK: so long that adding it to a time does not overflow. */
static inline int64_t keep_grace(const struct keep_msg *m)
{
	return (int64_t)MIN(m->n, (uint64_t)INT64_MAX / 4);
}

/* An error in the text of a message. What was read is anybody's bytes: it is bounded, and cleaned
 * as every error is. One that does not fit is cut, first of all its causes. */
void keep_text_set(char text[KEEP_TEXT], const struct err *e);
void keep_text_get(const char text[KEEP_TEXT], enum err_kind kind, struct err *ret);
/* A KEEP_FAIL; a stays as it is. */
void keep_fail_set(struct keep_msg *m, const struct err *e);
void keep_fail_get(const struct keep_msg *m, struct err *ret);

#endif
