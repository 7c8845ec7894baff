/* System calls: the one that a thread is in, and how it waits.
 *
 * Life of a system call: the platform fills t->call and calls dispatch_call(). The handler returns
 *   >= 0 or a negative errno   the answer;
 *   WAITING                    the call waits, for what one of the call_wait functions was told.
 * When a queue wakes it or its deadline passes, the handler is called AGAIN from the start with
 * call.resumed set. So a handler that can block is written to be run many times: it keeps what it
 * must remember (bytes already moved, a deadline) in t->call, and has no effect before it parks
 * that the second run would repeat. */
#ifndef VIV_KERNEL_TASK_CALL_H
#define VIV_KERNEL_TASK_CALL_H

#include "base/list.h"
#include "kernel/task/timer.h"
#include "kernel/task/waitq.h"

struct file;
struct fifo_wait;
struct msg_queue;
struct poll_kept;
struct proc;
struct question;
struct sem_wait;
struct sync_request;
struct task;

/* The result of a handler whose call waits. Not an errno that Linux has. */
#define WAITING (-4097)
/* The host is to carry the call out as it is. Only for calls of which nothing but the registers
 * counts. */
#define CALL_NATIVE (-4098LL)
/* The same, and the thread, which is not the last of its process, ends with that. */
#define CALL_EXIT (-4099LL)
/* For call_leave(): nobody waits for a result any more. No handler returns it. */
#define CALL_LOST (-4100LL)

struct sysargs {
	uint64_t a[6];
};

/* What a caught signal does to a parked call. */
enum park_kind {
	/* goes on after a handler with SA_RESTART, else EINTR: read, write, wait4, flock */
	PARK_RESTART,
	PARK_EINTR, /* always EINTR after a handler: poll, select, sleep, pause, sigtimedwait */
	PARK_NOINTR, /* no signal but a fatal one ends it */
};

/* What a call keeps for its next run. A handler takes what it has put there, or leaves it:
 * call_leave() releases it. */
enum kept_kind {
	KEPT_NOTHING,
	KEPT_FILE, /* what it works at, whatever becomes of the descriptor (sys/file_util.c) */
	KEPT_SYNC, /* a layer writes to the disk (fs/layer/sync_work.c) */
	KEPT_FIFO, /* a FIFO is being opened (fs/pipe/fifo.c) */
	KEPT_POLL, /* arguments that were read (sys/poll.c) */
	KEPT_QUEUE, /* of System V messages (sys/msg.c) */
	KEPT_SEM, /* operations on System V semaphores (sys/sem.c) */
	KEPT_MOVED, /* a number of bytes (sys/aio.c) */
};

struct call_kept {
	enum kept_kind kind;
	union {
		struct file *file; /* counted */
		struct {
			struct sync_request *request;
			struct file *file; /* what the call kept before; NULL: nothing */
		} sync;
		struct fifo_wait *fifo;
		struct poll_kept *poll;
		struct msg_queue *queue; /* counted */
		struct sem_wait *sem;
		int64_t moved;
	};
};

#define ASKED_MAX 8

/* What hooks have agreed to in this call, in the order of the questions (task/hooks.h). */
struct call_asked {
	uint8_t count;
	uint8_t at; /* how many of them this run has come by */
	bool stays; /* the call was posted and is made again: so is what was agreed to */
	struct question *question; /* that it waits for; counted (cell/question.c) */
	uint64_t prints[ASKED_MAX];
};

#define CALL_WAITERS 2

/* How the answer to a call reaches its thread. */
enum call_way {
	WAY_NOTIFY, /* the host's notification is open */
	/* it came by a box (sys/post.h): it ends at once, or is made again and has had no effect */
	WAY_POST,
	WAY_ARMED, /* it has a signal mask and waits in the stub, which is woken to ask again */
	/* task/detach.c: */
	WAY_SIGNAL, /* detached: the thread waits in the stub, for a reserved signal */
	WAY_ASKED, /* detached, and the stub has asked for it (HC_WAIT_END) */
};

struct call {
	uint64_t id; /* the notification's id; 0: there is none */
	int nr;
	int raw_nr; /* nr as the thread has it: differs for a call that is being rewritten */
	struct sysargs args;
	uint64_t ip;
	enum call_way way;
	bool listed; /* it was put on the list of calls that may be detached */
	uint64_t began; /* how many notifications there had been */
	struct list waiting_link; /* in that list */
	uint64_t sigmask; /* detached: what the thread blocks */
	uaddr_t ask_addr; /* WAY_ASKED: where the stub wants to be told */
	bool active; /* from call_enter() to call_leave() */
	/* the host saw another number: the stub's for it (HC_FORWARD), or one of a place being
	 * rewritten */
	bool renumbered;
	bool parked; /* it waits: on wait queues, for its deadline, or for its next turn */
	bool resumed; /* this is not the handler's first run for this call */
	bool ready; /* woken, on the ready list */
	bool has_deadline;
	/* what runs now may wait for another thread: the next run takes up where this one left
	 * off */
	bool may_wait;
	bool missed; /* it looked for the number of a process in a file system, and there is none */
	int64_t wait_since; /* when call_wait_outside() was first called for this call; 0: never */
	enum park_kind kind;
	/* CLOCK_MONOTONIC; valid when has_deadline. Handlers set it on their first run */
	int64_t deadline;
	/* recvmmsg: the end of its own time, which ends no wait; TIME_NEVER: none given */
	int64_t until;
	int64_t done; /* progress: bytes moved so far, or whatever the handler counts */
	struct call_kept kept;
	struct call_asked asked;
	struct waiter waiters[CALL_WAITERS];
	struct waiter *more; /* blob of more_count waiters for poll and select */
	uint32_t more_count, more_used;
	struct ktimer timer;
	struct list ready_link;
};

/* ---- waiting ----
 *
 * A handler, or an operation that it calls (of a file, an inode, a file system), returns a result
 * (>= 0), an error (a negative errno), or WAITING, which it has from one of these. WAITING travels
 * up as an error does. Whoever on its way makes an error of it, or of what it could not find out,
 * does no harm: a run that has begun to wait and ends with an error waits. If it ends with a
 * result, that stands. */

/* Until q is woken with one of events, or the deadline passes (NULL: only for that). May be called
 * up to CALL_WAITERS times in one run. */
int call_wait(struct task *t, struct waitq *q, uint32_t events, enum park_kind kind);
/* For an event outside of the cell or in the other thread: of the first such that a run meets. No
 * signal cuts it short. */
int call_wait_outside(struct task *t, struct waitq *q);
/* For the next event of others: work that is done in pieces goes on then. No signal cuts it
 * short. */
int call_wait_turn(struct task *t);
/* Room for n waiters in one call (poll). -ENOMEM; then call_wait_more() for each. */
int must_check call_reserve(struct task *t, uint32_t n);
void call_wait_more(struct task *t, struct waitq *q, uint32_t events);
/* On the handler's first run sets the deadline: now + rel_ns (TIME_NEVER: none). Honors a restarted
 * call. */
void call_set_timeout(struct task *t, int64_t rel_ns);
void call_set_deadline(struct task *t, int64_t abs_ns);
bool call_is_expired(const struct task *t);

static inline bool call_is_detached(const struct call *c)
{
	return c->active && (c->way == WAY_SIGNAL || c->way == WAY_ASKED);
}
/* A caught signal ends it, or a stop holds it. The stub sees to signals for an armed call. */
static inline bool call_is_parked(const struct call *c)
{
	return c->active && c->parked && c->way != WAY_ARMED;
}
/* Takes it off all queues: it ends, or (call_resume) its handler is run again. */
void call_unpark(struct task *t);
void call_resume(struct task *t);
/* Whose call is being handled; NULL between calls. For file operations whose answer depends on who
 * asks (signalfd). */
extern struct task *task_current;
/* For the main loop: runs every call that was woken; cuts short what signals interrupted. */
void calls_run_ready(void);
bool calls_are_ready(void);
/* p was stopped: its calls that became ready meanwhile are run now. */
void calls_continue(struct proc *p);
/* A caught signal is on its way to t: its parked call ends with EINTR or a restart, unless it is
 * answered before. */
void call_interrupt(struct task *t);
void calls_run_interrupts(void);
/* Ends a parked call as a signal does: with what it has done, or so that it is made again and keeps
 * its deadline. */
void call_cut(struct task *t);

#endif
