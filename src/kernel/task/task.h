/* Tasks: the threads of the cell.
 *
 * The host lends a thread its number and its registers; everything else about it is here:
 * credentials, descriptors, the call it is in. What all threads of a process share is in
 * task/proc.h. */
#ifndef VIV_KERNEL_TASK_TASK_H
#define VIV_KERNEL_TASK_TASK_H

#include <sys/types.h>

#include "base/list.h"
#include "kernel/task/call.h"
#include "kernel/task/cred.h"
#include "kernel/task/seccomp.h"

struct fastmm;
struct fdtable;
struct fsctx;
struct proc;

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
	uaddr_t rest_sp; /* at rest, in stub_rest() (sys/rest.h); 0: it is not */
	int pdeathsig;
	uint32_t loginuid, sessionid; /* LOGIN_UNSET: nobody logged in for it */
	uint32_t timerslack_ns, timerslack_default; /* 0: as the default, which is 0 for 50 us */
	uint64_t syscalls; /* how many it made */
	void *locks_waiting; /* the lock request it waits for, for deadlock detection */
	struct cpu_mask affinity; /* CPUs of the cell it may use; all zero: every one */
	uint8_t sched_policy, sched_prio; /* as sched_setscheduler set them; the host is not told */
	bool sched_reset; /* SCHED_RESET_ON_FORK */
	uint16_t ioprio;
	int8_t nice;
	struct seccomp_filter *seccomp; /* counted; the youngest of its filters, NULL none */
	struct seccomp_pass seccomp_pass;
	uint8_t seccomp_mode; /* SECCOMP_MODE_* */
	/* where its program waits for the host, from 1 on (sys/seccomp.c); 0 none */
	uint8_t seccomp_slot;
	struct seccomp_filter *seccomp_fresh; /* counted; the host has not answered for it yet */
};

/* Lookups borrow: the kernel is single-threaded, and inside a call only exit, execve, wait4 and
 * what they call end threads and processes (docs/decisions/0028-lifetimes.md). NULL: not there. */
struct task *task_find(pid_t tid);
uint32_t task_count(void);

/* A new thread of p; credentials, files and fs are the caller's to set. */
struct task *task_new(struct proc *p, pid_t tid);
/* execve gave the thread its process's number. */
void task_renumber(struct task *t, pid_t tid);
/* The thread is gone; drops its call and what it held. */
void task_free(struct task *t);

/* What a new thread takes over from its maker besides cred, files, fs and name: CPUs, scheduling,
 * timer slack. */
void task_inherit_sched(struct task *child, const struct task *maker);

uint32_t task_timerslack(const struct task *t); /* in nanoseconds */

#endif
