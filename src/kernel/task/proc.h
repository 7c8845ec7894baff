/* Processes of the cell.
 *
 * The host lends a process its address space and its number; everything else about it is here:
 * whose child it is, its group and session, limits, timers, and what its end leaves behind. Its
 * threads are tasks (task/task.h). */
#ifndef VIV_KERNEL_TASK_PROC_H
#define VIV_KERNEL_TASK_PROC_H

#include <sys/resource.h>
#include <sys/types.h>

#include "base/list.h"
#include "kernel/task/timer.h"
#include "kernel/task/waitq.h"

struct aio_ctx; /* sys/aio.c */
struct cpu_itimers; /* task/itimer.c */
struct exec_state; /* sys/exec.c */
struct file;
struct pidref; /* task/pidref.h */
struct maps; /* cell/mapped.c */
struct seen_files; /* cell/journal.c */
struct ptimer; /* POSIX timers, task/ptimer.c */
struct seccomp_filter;
struct sem_undo; /* ipc/sem.h */
struct shm_map; /* ipc/shm.h */
struct task;

enum proc_state { PROC_RUNNING, PROC_STOPPED, PROC_ZOMBIE };

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
	bool exec_untold; /* its program is about to begin, which no observer was told yet */
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
	int nice; /* of its last thread, which a zombie still shows */
	pid_t maker; /* the thread of its parent that made it: for __WNOTHREAD */
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
	uint16_t coredump_filter;
	struct { /* what it read and wrote: bytes, and calls */
		uint64_t read, written, reads, writes;
	} io;
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
	struct list written; /* open files that it changed (cell/journal.c) */
	struct maps
		*maps; /* counted; files that its memory can change (cell/mapped.c); NULL: none */
	struct seen_files *seen; /* files that the journal knows it has read; NULL: none */
	struct pidref *pidref; /* counted; its handle, once somebody asked for one */
};

/* Borrows, as task_find(). NULL: not there. */
struct proc *proc_find(pid_t pid);
/* Walks all processes in order of birth (zombies too): pass NULL first. */
struct proc *proc_next(struct proc *after);
uint32_t proc_count(void);
uint32_t zombie_count(void); /* processes that wait for their parents; not in task_count() */
/* The thread whose number is the process's, or any other that lives; NULL for a zombie. */
struct task *proc_leader(struct proc *p);
/* The pid that getppid() gives: 1 when the parent is the kernel itself. */
pid_t proc_ppid(const struct proc *p);
bool pgrp_exists(pid_t pgid, pid_t sid); /* sid 0: in any session */

/* A new process with one thread, child of parent (NULL: of the kernel). NULL: no memory or too
 * many. */
struct proc *proc_new(pid_t pid, struct proc *parent);

/* The host says that the process ended. Reparents its children, tells its parent, leaves a zombie
 * or nothing. */
void proc_exit(struct proc *p, int wait_status, const struct rusage *usage);
/* Who gets p's children when it ends; NULL: the kernel. */
struct proc *proc_reaper(struct proc *p);
/* A thawed process is one from the start: nobody is told. */
void proc_is_zombie(struct proc *p, int wait_status);
/* A zombie was waited for. */
void proc_reap(struct proc *p);
/* Stopped or continued, as the host says. */
void proc_stopped(struct proc *p, int sig);
void proc_continued(struct proc *p);

/* Ends a process with SIGKILL; the wait status shown to its parent is wait_status if it is not
 * 0. */
void proc_kill(struct proc *p, int wait_status);

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

#endif
