/* Tasks (threads) and processes of the cell.
 *
 * The host lends a process and its threads their address space and numbers; everything else about
 * them is here: who is whose child, groups, sessions, credentials, descriptors, the call a thread
 * is in.
 *
 * Life of a system call: the platform fills t->call and calls dispatch_call(). The handler returns
 *   >= 0 or a negative errno   the answer;
 *   WAITING                    the call waits, for what one of the call_wait functions was told.
 * When a queue wakes it or its deadline passes, the handler is called AGAIN from the start with
 * call.resumed set. So a handler that can block is written to be run many times: it keeps what it
 * must remember (bytes already moved, a deadline) in t->call, and has no effect before it parks
 * that the second run would repeat. */
#ifndef VIV_KERNEL_TASK_TASK_H
#define VIV_KERNEL_TASK_TASK_H

#include <sys/resource.h>
#include <sys/types.h>

#include "base/list.h"
#include "kernel/task/seccomp.h"
#include "kernel/task/timer.h"
#include "kernel/task/waitq.h"

struct fdtable;
struct fsctx;
struct fastmm;
struct fifo_wait;
struct file;
struct inode;
struct msg_queue;
struct poll_kept;
struct proc;
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
	int64_t wait_since; /* when call_wait_outside() was first called for this call; 0: never */
	enum park_kind kind;
	/* CLOCK_MONOTONIC; valid when has_deadline. Handlers set it on their first run */
	int64_t deadline;
	/* recvmmsg: the end of its own time, which ends no wait; TIME_NEVER: none given */
	int64_t until;
	int64_t done; /* progress: bytes moved so far, or whatever the handler counts */
	struct call_kept kept;
	struct waiter waiters[CALL_WAITERS];
	struct waiter *more; /* blob of more_count waiters for poll and select */
	uint32_t more_count, more_used;
	struct ktimer timer;
	struct list ready_link;
};

#define NGROUPS_IN_CELL 64

struct cred {
	uint32_t uid, euid, suid, fsuid;
	uint32_t gid, egid, sgid, fsgid;
	uint32_t ngroups;
	uint32_t groups[NGROUPS_IN_CELL];
	uint64_t cap_effective, cap_permitted, cap_inheritable,
		cap_bounding; /* of the cell, not of the host */
	uint64_t cap_ambient;
	uint32_t securebits; /* SECBIT_* */
};

#define CPU_WORDS 16 /* of 64 CPUs each */
struct cpu_mask {
	uint64_t w[CPU_WORDS];
};

#define LOGIN_UNSET UINT32_MAX

/* A thread. Counted by nothing: it lives from its announcement until the host says it is gone. */
struct task {
	struct list hash_link; /* by tid */
	struct list thread_link; /* in proc->threads */
	pid_t tid; /* the host's number inside the cell's PID namespace */
	struct proc *proc;
	struct cred cred;
	struct fdtable *files; /* counted */
	struct fsctx *fs; /* counted */
	struct fastmm *mm; /* its address space, as far as sys/fast.c cares; NULL: none */
	struct list mm_link;
	bool fast_off; /* every call of it has to be seen */
	struct call call;
	char comm[16];
	int64_t start_time; /* CLOCK_MONOTONIC ns */
	/* signals that travel to this thread and were not yet taken (bit signo-1) */
	uint64_t sig_sent;
	/* a call cut short by a signal keeps its deadline when it is made again */
	struct call_restart {
		bool valid;
		int nr;
		struct sysargs args;
		int64_t deadline;
	} restart;
	uint32_t sig_inflight; /* how many reserved signals travel to it */
	int raising; /* the signal that it raises on itself, until its next call; 0 none */
	struct list travelling; /* ... and what is in them (task/signal.c) */
	struct list
		interrupt_link; /* its parked call is to be cut short at the end of this event */
	struct call_end { /* what became of a detached call, until its thread has made another */
		bool valid;
		int raw_nr;
		uint64_t ip, r9;
		int64_t ret;
	} end;
	struct list end_link; /* ... which it could not be told yet */
	/* its stub was asked to do something, which it does before the guest's next call */
	bool errand;
	int pdeathsig;
	uint32_t loginuid, sessionid; /* LOGIN_UNSET: nobody logged in for it */
	uint32_t timerslack_ns;
	uint64_t syscalls; /* how many it made */
	void *locks_waiting; /* the lock request it waits for, for deadlock detection */
	struct cpu_mask affinity; /* CPUs of the cell it may use; all zero: every one */
	uint8_t sched_policy, sched_prio; /* as sched_setscheduler set them; the host is not told */
	bool sched_reset; /* SCHED_RESET_ON_FORK */
	uint16_t ioprio;
	struct seccomp_filter *seccomp; /* counted; the youngest of its filters, NULL none */
	struct seccomp_pass seccomp_pass;
	uint8_t seccomp_mode; /* SECCOMP_MODE_* */
	/* where its program waits for the host, from 1 on (sys/seccomp.c); 0 none */
	uint8_t seccomp_slot;
	struct seccomp_filter *seccomp_fresh; /* counted; the host has not answered for it yet */
};

enum proc_state { PROC_RUNNING, PROC_STOPPED, PROC_ZOMBIE };

struct ptimer; /* POSIX timers, task/ptimer.c */
struct pidref; /* task/pidref.h */
struct shm_map; /* ipc/shm.h */
struct sem_undo; /* ipc/sem.h */

#define RLIMITS 16
struct klimit {
	uint64_t cur, max;
};

/* The cell's init is the kernel itself and has no struct proc: who answers for it looks for it
 * first. */
#define INIT_PID 1

/* A process (thread group). */
struct proc {
	struct list hash_link; /* by pid */
	struct list all_link; /* every process, in order of birth */
	pid_t pid;
	struct proc *parent; /* NULL: the cell's init (the kernel itself) */
	struct list children, sibling_link;
	struct list threads;
	uint32_t nthreads;
	pid_t pgid, sid;
	enum proc_state state;
	int exit_signal; /* what the parent is sent at the end: SIGCHLD, 0, or what clone said */
	int wait_status; /* as wait4 gives it, once a zombie */
	int stop_sig; /* last stop: the signal, for WUNTRACED; 0 when reported or none */
	bool cont_pending; /* continued and not yet reported to WCONTINUED */
	bool chld_ignore; /* SIGCHLD is ignored or SA_NOCLDWAIT: children leave no zombie */
	bool chld_nowait; /* ... for SA_NOCLDWAIT alone, which execve resets */
	bool chld_nostop; /* SA_NOCLDSTOP */
	bool was_stopped; /* once: see parked_nudge() */
	int stop_request; /* the stop signal that we turned into the host's SIGSTOP; 0 none */
	/* viv asked it to stop: somebody is there to continue it, orphaned or not */
	bool stop_asked;
	uint64_t stop_held; /* signals that end it, sent while it is stopped */
	bool did_exec; /* setpgid by the parent is refused after exec */
	bool is_first; /* the cell ends with it */
	uint32_t launch; /* viv's number for a process that it started; 0: somebody's child */
	bool subreaper, no_new_privs;
	int dumpable;
	bool exiting; /* the host says it is dying or dead, or we asked it to die */
	bool leaving; /* ended on the host; what it has open is being closed (cell/leave.c) */
	/* wait status to report instead of the host's, when we killed it for a reason; 0 none */
	int kill_status;
	uint64_t sig_caught; /* superset of the signals that have a handler (the stub reports it) */
	/* of which the handler is the stub's own: for the guest they have none */
	uint64_t sig_guarded;
	struct waitq wait_q; /* children changed: wait4 and friends */
	struct waitq exit_q; /* this process ended: pidfd, tests */
	struct rusage usage, child_usage; /* at its end; of its reaped children */
	struct klimit limits[RLIMITS];
	struct file *exe; /* counted; the program it runs */
	uint64_t slots[2]; /* which image files it holds open in cached slots (platform) */
	struct task *exec_task; /* which thread asked */
	struct exec_state
		*exec; /* between the answer to execve and the stub's first question; else NULL */
	uaddr_t arg_start, arg_end, env_start, env_end;
	uaddr_t auxv_addr;
	uint32_t auxv_size;
	uaddr_t start_brk, start_stack, start_code, end_code;
	struct ktimer alarm; /* ITIMER_REAL */
	int64_t alarm_interval;
	struct ptimer *ptimers;
	int nice;
	int oom_score_adj;
	int64_t start_time;
	uint32_t pending_births; /* clones prepared whose child has not announced itself */
	/* it gave its session's controlling terminal up for itself (TIOCNOTTY) */
	bool tty_detached;
	/* session leader: the foreground group of its terminal when that was hung up */
	pid_t tty_old_pgrp;
	struct waitq cont_q; /* continued: calls that job control stopped */
	uint64_t personality;
	/* name and owner of its last thread, copied when that goes: what a zombie shows */
	char last_comm[16];
	uint32_t last_uid, last_gid;
	int next_timer_id; /* of timer_create */
	struct cpu_itimers
		*cpu_itimers; /* ITIMER_VIRTUAL and ITIMER_PROF once used (task/itimer.c) */
	int64_t prev_utime, prev_stime; /* what was last shown: CPU times never go back */
	bool thp_disable;
	struct { /* what the host said of it last: /proc shows sums of all */
		uint64_t rss, utime, stime;
		bool running;
	} shown;
	uint64_t sigfd_mask; /* signals that its signalfds ask for */
	uint64_t held_set; /* which of them are kept back for that (task/heldsig.c) */
	struct list held; /* ... and these are they */
	/* signals for it that travelled to threads which ended, or that it gets in another turn */
	struct list stranded;
	struct list unchecked_link; /* its group may have lost its last tie (task.c) */
	struct list late_link; /* in the list of those, see signal_send_one_of() */
	struct waitq sigfd_q; /* something was kept */
	struct shm_map *shm_maps; /* SysV shared memory that it has attached */
	struct sem_undo *sem_undo; /* what its end does to SysV semaphores */
	struct aio_ctx *aio; /* contexts of native asynchronous I/O (sys/aio.c) */
	struct seccomp_filter *seccomp_synced; /* counted; what TSYNC gave to all threads last */
	struct pidref *pidref; /* counted; its handle, once somebody asked for one */
};

/* Lookups borrow: the kernel is single-threaded, and inside a call only exit, execve, wait4 and
 * what they call end threads and processes (docs/decisions/0028-lifetimes.md). NULL: not there. */
struct task *task_find(pid_t tid);
struct proc *proc_find(pid_t pid);
/* Walks all processes in order of birth (zombies too): pass NULL first. */
struct proc *proc_next(struct proc *after);
uint32_t proc_count(void);
uint32_t task_count(void);
uint32_t zombie_count(void); /* processes that wait for their parents; not in task_count() */
/* The thread whose number is the process's, or any other that lives; NULL for a zombie. */
struct task *proc_leader(struct proc *p);
/* The pid that getppid() gives: 1 when the parent is the kernel itself. */
pid_t proc_ppid(const struct proc *p);
bool pgrp_exists(pid_t pgid, pid_t sid); /* sid 0: in any session */

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
/* Releases what a call kept; of every kind but KEPT_NOTHING. */
extern void (*call_release)(const struct call_kept *kept);
/* For the main loop: what dispatch does with a call; runs every call that was woken; cuts short
 * what signals interrupted. */
extern void (*call_run)(struct task *t);
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

/* ---- calls that wait for long (task/detach.c) ---- */
/* Its call has parked and its notification stays open. */
void call_listed(struct task *t);
void call_unlisted(struct task *t);
/* At the end of an event: detaches the calls that have waited longest, if there are many. */
void calls_detach(void);
/* The answer to a detached call, which has been dropped; way is what it was. */
void call_return(struct task *t, enum call_way way, int64_t ret);
/* The stub asks (HC_WAIT_END, notification id): the answer. */
void call_ask(struct task *t, uint64_t id, uaddr_t addr);
/* The thread makes another call. */
void call_returned(struct task *t);
/* Notifications so far. */
extern uint64_t calls_notified;

/* ---- life (task/task.c) ---- */
/* A new process with one thread, child of parent (NULL: of the kernel). NULL: no memory or too
 * many. */
struct proc *proc_new(pid_t pid, struct proc *parent);
/* A new thread of p; credentials, files and fs are the caller's to set. */
struct task *task_new(struct proc *p, pid_t tid);
/* execve gave the thread its process's number. */
void task_renumber(struct task *t, pid_t tid);
/* The thread is gone; drops its call and what it held. */
void task_free(struct task *t);
/* The host says that the process ended. Reparents its children, tells its parent, leaves a zombie
 * or nothing. */
void proc_exit(struct proc *p, int wait_status, const struct rusage *usage);
/* Who gets p's children when it ends; NULL: the kernel. */
struct proc *proc_reaper(struct proc *p);
/* A zombie was waited for. */
void proc_reap(struct proc *p);
/* Stopped or continued, as the host says. */
void proc_stopped(struct proc *p, int sig);
void proc_continued(struct proc *p);
/* Hooks for layers below (files, timers, maps, locks): called when a process or thread goes. */
extern void (*task_gone)(struct task *t);
extern void (*proc_gone)(struct proc *p); /* at exit, before it is a zombie */
/* The first process ended: the cell ends with this wait status. */
extern void (*cell_ended)(int wait_status);
/* The first process has stopped because viv asked for it. */
extern void (*cell_stopped)(void);

/* The clock, read once for each event. */
int64_t now_mono(void);
int64_t now_real(void);
void now_update(void);
/* So much time has passed since the event came that others should have their turn: what can be done
 * in pieces ends its piece. */
#define TURN_LONG (4 * 1000000LL)
bool turn_is_long(void);

/* ---- credentials ---- */
bool cred_has_cap(const struct cred *c, int cap);
bool cred_in_group(const struct cred *c, uint32_t gid);

/* What a new thread takes over from its maker besides cred, files, fs and name: CPUs, scheduling,
 * timer slack. */
void task_inherit_sched(struct task *child, const struct task *maker);

/* ---- signals (task/signal.c decides, src/stub/signal.c delivers) ---- */
struct linux_siginfo; /* kernel/abi/signal.h */
/* Sends to a process or to one thread; info NULL: from the kernel (SI_KERNEL). Never fails for the
 * caller's sake: a process that is gone swallows it. Returns 0 or -EAGAIN when too many are
 * queued. */
int signal_send_proc(struct proc *p, int sig, const struct linux_siginfo *info);
int signal_send_task(struct task *t, int sig, const struct linux_siginfo *info);
int signal_send_pgrp(pid_t pgid, int sig, const struct linux_siginfo *info);
/* The same as signal_send_proc() for one of many: in another turn, if this one is long already. */
void signal_send_one_of(struct proc *p, int sig, const struct linux_siginfo *info);
/* What it would get in another turn, it gets now. */
void signal_hurry(struct proc *p);
/* The stub says: the travelling signal arrived; or: it is blocked here (true: somebody else got
 * it). */
void signal_taken(struct task *t, int sig);
/* The same, and its stub is about to make it pending on the host. */
void signal_raised(struct task *t, int sig);
bool signal_reroute(struct task *t, int sig, const struct linux_siginfo *info);
/* It has just announced itself: if its process is stopped, or about to be, so is it. */
void signal_born(struct task *t);
/* The host says that p was stopped by sig. False: p's group is orphaned and Linux would not have
 * stopped it; it goes on. */
bool signal_stop_counts(struct proc *p, int sig);
/* The thread ends: what travelled to it and was meant for the process is kept; sends that to those
 * who are left. */
void signal_task_gone(struct task *t);
void signal_resend(struct proc *from, struct proc *to);
void signal_forget(struct proc *p);
/* Keeps one for signal_resend(): p has not announced itself yet, or has others to get first. False:
 * there is no room. */
bool signal_strand(struct proc *p, int sig, const struct linux_siginfo *info);
/* Hook: keeps one for those of a group (0: for all) that have not announced themselves yet; from
 * NULL: the kernel sends it. True: there are such that may be sent it. */
extern bool (*signal_unborn)(pid_t pgid, const struct task *from, int sig,
			     const struct linux_siginfo *info);
/* A signalfd for mask was made or widened: what was pending for t before is kept for it when t's
 * call returns. */
void signal_collect(struct task *t, uint64_t mask);
/* An armed call has something to say. */
void signal_wake_armed(struct task *t);
/* The stub is to rewrite the call before ip; single: nobody else runs in that memory; post: what it
 * asks for first, as in struct stub_patch. For a thread whose call is being answered. */
void signal_patch(struct task *t, uint64_t ip, bool single, uint32_t post);
/* For detached calls. They go to a thread that is known to take it; -EAGAIN: queues are full. The
 * last, which arrives without what it is about, never fails for that. */
struct stub_wait; /* stub/stub.h */
int signal_detach(struct task *t, const struct stub_wait *w);
int signal_return(struct task *t, const struct stub_wait *w);
void signal_nudge(struct task *t);
/* Nobody outside of the group, but in its session, is parent of a member: nobody could continue
 * it. */
bool pgrp_is_orphaned(pid_t pgid);
/* Linux's rule for a group that just lost its last tie to its session: if a member is stopped,
 * SIGHUP and SIGCONT to all. */
void pgrp_hangup_if_orphaned(pid_t pgid);
/* Stops every process where it is, unseen by others, or lets those go on. What was stopped by
 * itself stays so. Between the two no event may be handled and no child be waited for. */
void procs_pause(void);
void procs_resume(void);
/* Ends a process with SIGKILL; the wait status shown to its parent is wait_status if it is not
 * 0. */
void proc_kill(struct proc *p, int wait_status);

#endif
