/* Random sequences of system calls from inside a cell, from a seed.
 *
 * A *round* is a list of steps that is computed from its seed alone: which row of which table,
 * which worker makes the call, and a seed for its arguments. The workers are threads and processes
 * of a few kinds; a director hands them one step after the other and does not wait for one that
 * blocks, so the order in which the kernel sees the calls is nearly always the same, and calls meet
 * others that wait. Every object that a call makes gets a fixed place (a descriptor number, a slot
 * for an id), and arguments name places, so a list with steps left out still means the same: that
 * is what makes it possible to minimise one.
 *
 *   places.c    descriptors: where they are, and how one of each kind is made
 *   args.c      how arguments are made and printed
 *   rows_*.c    the tables: a call is a row; what needs more than one call is a row with a function
 *   round.c     workers, the director, what is tidied up after a round
 *   main.c      options
 *
 * The kernel of a cell has one thread, so nearly everything that two threads can do to it at once
 * is some order of calls. */
#ifndef FUZZ_GUEST_H
#define FUZZ_GUEST_H

#include <stdbool.h>

#include "../../hostile/hostile.h"

/* ---- places ---- */

/* Kinds of descriptors, each with numbers of its own. */
enum fd_kind {
	K_FILE, K_DIR, K_OPATH, K_PIPE, K_UNIX, K_INET, K_NETLINK, K_EPOLL, K_EVENTFD, K_TIMERFD, K_SIGNALFD, K_INOTIFY, K_MEMFD,
	K_PIDFD, K_MQ, K_PTY, K_PROC, KINDS, K_ANY = KINDS
};
#define FD_FIRST 20
#define FD_PER_KIND 6
#define FD_END (FD_FIRST + KINDS * FD_PER_KIND)
#define FD_FLOOD 200 /* from here on: what floods leave */

enum id_kind { ID_SHM, ID_SEM, ID_MSG, ID_KINDS };
#define SLOTS 5
#define MAP_AT(slot) (0x100000000000UL + (unsigned long)(slot) * 0x100000)

#define WORKERS 8
#define STEPS_MAX 4000

/* What workers and director share. */
struct world {
	int32_t ids[ID_KINDS][SLOTS];
	int32_t pids[SLOTS];
	uint64_t tokens[SLOTS]; /* of births */
	struct worker {
		uint32_t state; /* enum worker_state: a futex */
		uint32_t step;
		int32_t pid, tid;
		double since; /* when it was given its step */
	} worker[WORKERS];
};
/* What a process has for itself. */
extern struct own {
	uint64_t contexts[3]; /* of aio */
	int32_t timers[3];
} own;

enum worker_state { W_NONE, W_IDLE, W_BUSY };
extern struct world *world;

/* ---- arguments ---- */

enum arg_kind {
	A_NONE, A_VALUE, A_BELOW, A_OF, A_BITS, A_FD, A_DIRFD, A_PATH, A_DIRPATH, A_LEN, A_OFF, A_MEM, A_IOV, A_MSG, A_ADDR, A_ADDRLEN,
	A_ID, A_PID, A_TID, A_SIG, A_TIME, A_ITIMER, A_FDSET, A_POLLS, A_EPEVENT, A_SIGSET, A_FLOCK, A_CTX, A_IOCBS, A_SEMOPS,
	A_MSGBUF, A_MAP, A_TOKEN, A_FPROG, A_RLIMIT, A_SIGINFO, A_SIGEVENT, A_TEXT, A_HOW, A_IDS, A_TIMER,
};
struct arg {
	uint8_t kind;
	uint8_t n;
	const long *of;
};
#define COUNT(...) (sizeof((const long[]){ __VA_ARGS__ }) / sizeof(long))
#define V(...) { A_VALUE, 1, (const long[]){ __VA_ARGS__ } } /* this */
#define BELOW(n) { A_BELOW, 1, (const long[]){ n } }
#define OF(...) { A_OF, COUNT(__VA_ARGS__), (const long[]){ __VA_ARGS__ } } /* one of these */
#define BITS(...) { A_BITS, COUNT(__VA_ARGS__), (const long[]){ __VA_ARGS__ } } /* some of these */
#define TEXT(...) { A_TEXT, sizeof((const char *[]){ __VA_ARGS__ }) / sizeof(char *), (const long *)(const char *[]){ __VA_ARGS__ } }
#define FD(k) { A_FD, k, NULL } /* mostly of this kind */
#define ANYFD { A_FD, K_ANY, NULL }
#define ID(k) { A_ID, k, NULL }
#define DIRFD { A_DIRFD, 0, NULL }
#define PATH { A_PATH, 0, NULL }
#define DIRPATH { A_DIRPATH, 0, NULL }
#define LEN { A_LEN, 0, NULL }
#define OFFSET { A_OFF, 0, NULL }
#define MEM { A_MEM, 0, NULL }
#define IOV { A_IOV, 0, NULL }
#define MSG(k) { A_MSG, k, NULL } /* a message; 1: with descriptors */
#define ADDR(k) { A_ADDR, k, NULL } /* of this family of sockets: K_UNIX, K_INET, K_NETLINK */
#define ADDRLEN { A_ADDRLEN, 0, NULL }
#define PID { A_PID, 0, NULL }
#define TID { A_TID, 0, NULL }
#define SIG { A_SIG, 0, NULL }
#define TIME { A_TIME, 0, NULL }
#define ITIMER { A_ITIMER, 0, NULL }
#define FDSET { A_FDSET, 0, NULL }
#define POLLS { A_POLLS, 0, NULL }
#define EPEVENT { A_EPEVENT, 0, NULL }
#define SIGSET { A_SIGSET, 0, NULL }
#define FLOCK { A_FLOCK, 0, NULL }
#define CTX { A_CTX, 0, NULL }
#define IOCBS { A_IOCBS, 0, NULL }
#define SEMOPS { A_SEMOPS, 0, NULL }
#define MSGBUF { A_MSGBUF, 0, NULL }
#define MAPAT { A_MAP, 0, NULL }
#define TOKEN { A_TOKEN, 0, NULL }
#define FPROG { A_FPROG, 0, NULL }
#define RLIM { A_RLIMIT, 0, NULL }
#define SIGINFO { A_SIGINFO, 0, NULL }
#define SIGEVENT { A_SIGEVENT, 0, NULL }
#define TIMER { A_TIMER, 0, NULL }
#define HOW { A_HOW, 0, NULL } /* struct open_how */
#define MODE OF(0600, 0700, 0755, 0, 0444, 04711, 01777)
#define MARK V((long)STUB_MAGIC)

/* ---- rows ---- */

/* What a call's result is. */
enum gives { G_NOTHING, G_FD, G_PAIR, G_ID, G_PID, G_TOKEN, G_CTX, G_TIMER, G_HOSTFD };

struct run;
struct row {
	const char *name;
	long nr;
	struct arg a[6];
	uint8_t gives, kind; /* kind: of the descriptor or id */
	uint8_t weight; /* more often than others by so much */
	uint8_t deadly; /* it may end who makes it: only now and then */
	void (*fn)(struct run *r); /* instead of a call */
};
#define CALL(sys, ...) .name = #sys, .nr = SYS_##sys, .a = { __VA_ARGS__ }
#define STUBCALL(hc, ...) .name = #hc, .nr = hc, .a = { __VA_ARGS__ }
#define NUMBER(text, number, ...) .name = text, .nr = number, .a = { __VA_ARGS__ } /* a call that libc may not know, or in another form */
#define DO(text, function) .name = text, .fn = function
#define GIVES(k) .gives = G_FD, .kind = k

struct table {
	const char *name;
	const struct row *rows;
	unsigned n;
};
#define TABLE(var, text) const struct table var = { text, rows, sizeof(rows) / sizeof(rows[0]) }
extern const struct table table_file, table_mount, table_io, table_unix, table_inet, table_event, table_ipc, table_proc, table_signal,
	table_memory, table_stub, table_lock, table_tty, table_flood, table_post;
extern const struct table *const tables[];
extern const unsigned ntables;

/* ---- one step ---- */

#define ROOM 65536

struct run {
	int worker;
	int depth; /* of processes that steps have made */
	uint64_t state; /* of r() */
	char *room, *data; /* for what arguments point to, and for what is read and written; nothing lies behind either */
	size_t used;
	uint8_t drawn[8], ndrawn; /* descriptors that the arguments name */
	uint8_t peer; /* the worker whose process an argument names; WORKERS: none */
	uint64_t token; /* of its own last birth */
	char text[1024]; /* the step as it is printed */
	size_t text_len;
};
extern int verbose;
extern const char *base_dir;

uint64_t r(struct run *run, uint64_t n);
void say(struct run *run, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
long arg_make(struct run *run, const struct arg *a);
int fd_any(struct run *run, unsigned kind);
/* Whether this place holds something from now on. */
void fd_is_there(int fd, bool there);
/* A place for a descriptor of this kind: moves it there. */
void fd_keep(struct run *run, unsigned kind, int fd);
const char *path_any(struct run *run);
void *room_take(struct run *run, size_t n);
/* Any row that is a call, with arguments; returns it. */
const struct row *call_any(struct run *run, long a[6]);
/* Makes the step; with a text first when it is verbose. */
void step_run(struct run *run, const struct row *row, unsigned index);
/* Some steps in a process that is a child of a worker. */
void steps_in_child(struct run *run, int n);

/* ---- rounds ---- */

struct plan {
	uint64_t seed;
	unsigned steps;
	const char *tables; /* names, NULL: as the seed says */
	const uint8_t *only; /* for each step: whether to make it; NULL: all */
};
/* Runs it and tidies up. */
void round_run(const struct plan *p);

#endif
