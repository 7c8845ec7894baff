/* Which process did it: follows the records of a journal in their order and knows for each one the
 * process, its program and arguments, its parents, the session and the prompt that it ran under,
 * and the command that the operator started.
 *
 * A process number is used again, so a process is an instance (struct process), counted. It holds
 * its parent. The tracker holds those that run and the last PROCESSES_ENDED that ended, since
 * records of the gate and of vivd come by another way and may be late. Whoever wants to keep one (a
 * writer of a file) takes a reference: memory is what runs and what is asked about, not all that
 * ever ran. A process whose parents fork and end for ever would hold all of them: from
 * PROCESSES_PARENTS on they are let go, the oldest first, and their session and command stay with
 * the oldest that is left.
 *
 * Records are hostile: a fork whose parent is not known makes it; one of a process that already
 * runs ends the one before; parents are older than their children, so there are no circles. Nothing
 * here recurses. */
#ifndef VIV_JOURNAL_PROCESSES_H
#define VIV_JOURNAL_PROCESSES_H

#include "base/buf.h"
#include "journal/journal.h"

#define PROCESSES_ENDED 4096 /* ended ones that are still found by their number */
#define PROCESSES_RUNNING 262144 /* more than these: the oldest counts as ended */
#define PROCESSES_PARENTS 1024 /* of a process that are kept at least; at most twice as many */
#define SESSIONS_MAX 4096
#define PROMPTS_MAX 65536 /* of all sessions */

/* A program that a process runs or ran: from one exec to the next; children share it until they
 * have their own. Counted. */
struct program {
	unsigned refs;
	uint64_t seq; /* of the exec; 0: not known */
	int64_t wall;
	uint64_t uid;
	bool has_hash;
	uint8_t hash[JOURNAL_HASH];
	struct jtext path, args, cwd; /* in this block of memory */
	uint32_t mark; /* table.c's own */
};

/* A command of the operator's. Never freed before the tracker. */
struct command {
	uint64_t seq, number;
	int64_t wall;
	struct jtext args;
	uint32_t mark; /* table.c's own */
	struct command *next;
};

struct prompt {
	uint64_t seq, number;
	int64_t wall, ended; /* ended: 0, it is still open */
	struct session *session;
	struct jtext text;
	uint32_t mark; /* table.c's own */
	struct prompt *next; /* the one before it in the session */
};

struct session {
	uint64_t seq;
	int64_t wall;
	char *id, *agent;
	struct prompt *last; /* the newest; its older ones by next */
	uint64_t user; /* for whoever follows: his own */
	uint32_t mark; /* table.c's own */
	struct session *next;
};

struct process {
	unsigned refs;
	int32_t pid;
	uint64_t id; /* of the instance: from 1 on, in the order in which they were first seen */
	uint64_t seq; /* of its first record */
	int64_t start, end; /* wall; end 0: it runs */
	uint64_t code, signal; /* of its end */
	bool ended, forked; /* forked: its begin is in the journal */
	struct process *parent; /* NULL: started from outside, or not known */
	uint32_t depth; /* parents above it, or more: those that were let go still count */
	bool cut; /* it had a parent, which is let go */
	uint32_t mark; /* table.c's own */
	struct program *born; /* what it ran at its begin: its parent's program; NULL: not known */
	struct program *program; /* what it runs; NULL: not known */
	struct command *command; /* of the operator's that started it */
	struct session *session; /* whose root it is */
	struct session *under; /* what session_of() found ... */
	uint64_t round; /* ... in this round */
	struct prompt *prompt; /* that was open when it started; NULL: none */
	void *user; /* for whoever follows: his own, see processes_init() */
	struct process *hash_next, *list_prev, *list_next;
};

struct processes {
	struct process **buckets;
	size_t nbuckets, count;
	struct process *running_first, *running_last, *ended_first, *ended_last;
	size_t nrunning, nended;
	uint64_t next_id, round;
	struct session *sessions;
	struct command *commands, *commands_last;
	struct command *pending[64]; /* whose process is not known yet, the oldest first */
	unsigned npending;
	size_t nsessions, ncommands, nprompts;
	void (*gone)(void *arg, struct process *p);
	void *arg;
};

/* gone, if not NULL: called before a process is freed, for what its user points to. */
void processes_init(struct processes *t, void (*gone)(void *arg, struct process *p), void *arg);
void processes_fini(struct processes *t);
/* Forgets everything. */
void processes_clear(struct processes *t);

/* Takes a record in. Borrows: the process that it is of, valid until the next call; NULL: of none.
 * Call it for every record in its order; those of other kinds only find their process. */
struct process *processes_follow(struct processes *t, const struct journal_entry *e);

struct process *process_get(struct process *p);
void process_put(struct processes *t, struct process *p); /* NULL is fine */
struct program *program_get(struct program *p);
void program_put(struct program *p);

/* The session that it runs under: the nearest of itself and its parents that is the root of one. */
struct session *process_session(struct processes *t, struct process *p);
/* The prompt that is open in it now; NULL: none. */
struct prompt *process_prompt(struct processes *t, struct process *p);
/* The command that it comes from; NULL: not known. */
struct command *process_command(const struct process *p);
/* The session of an id; NULL: there is none. */
struct session *processes_session(struct processes *t, struct jtext id);

/* ---- making a tracker anew: for table.c ---- */

/* How the tracker holds a process: it runs, it has ended and is found by its number, or it is only
 * the parent of another. */
enum process_held { HELD_RUNNING, HELD_ENDED, HELD_PARENT };

/* Texts are copied, with a reference for the caller. */
struct program *must_check program_make(const struct program *like);
/* Adds a process that is like this one, and takes references to its parent and programs; from the
 * oldest on. Returns a reference. */
struct process *must_check processes_add(struct processes *t, const struct process *like,
					 enum process_held held);
/* The order in which those that ended did: all of them (t->nended). */
void processes_ended_order(struct processes *t, struct process **ended);
struct command *processes_add_command(struct processes *t, const struct command *like,
				      bool pending);
struct session *processes_add_session(struct processes *t, const struct session *like,
				      struct jtext id, struct jtext agent);
struct prompt *processes_add_prompt(struct processes *t, struct session *s,
				    const struct prompt *like); /* from the oldest on */

#endif
