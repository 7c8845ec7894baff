/* Tables of threads and processes, and how they come and go.
 *
 * The host tells of a process's end once, by waitid; the host's zombie is collected then. Ours
 * stays until the guest's parent waits for it. Children of a process that ends go to the nearest
 * subreaper, or to the kernel itself, which is the cell's process 1 and collects them at once. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "base/arena.h"
#include "base/log.h"
#include "host/child.h"
#include "kernel/abi/signal.h"
#include "kernel/task/clock.h"
#include "kernel/task/detach.h"
#include "kernel/task/heldsig.h"
#include "kernel/task/pidref.h"
#include "kernel/task/cputime.h"
#include "kernel/task/gate.h"
#include "kernel/task/proc.h"
#include "kernel/task/signal.h"
#include "kernel/task/upcalls.h"
#include "kernel/task/observe.h"
#include "kernel/task/task.h"

OBJ_TYPE(task_type, struct task, 0);
OBJ_TYPE(proc_type, struct proc, 0);

#define BUCKETS 256

static struct list task_hash[BUCKETS], proc_hash[BUCKETS];
static struct list all_procs = LIST_INIT(all_procs);
static struct list orphans = LIST_INIT(orphans); /* children of the kernel */
static bool inited;
static uint32_t nprocs, ntasks, nzombies;

static struct list *bucket(struct list *table, pid_t id)
{
	if (!inited) {
		for (int i = 0; i < BUCKETS; i++) {
			list_init(&task_hash[i]);
			list_init(&proc_hash[i]);
		}
		inited = true;
	}
	return &table[(uint32_t)id % BUCKETS];
}

struct task *task_find(pid_t tid)
{
	struct task *t;

	list_for_each(t, bucket(task_hash, tid), hash_link)
		if (t->tid == tid)
			return t;
	return NULL;
}

struct proc *proc_find(pid_t pid)
{
	struct proc *p;

	list_for_each(p, bucket(proc_hash, pid), hash_link)
		if (p->pid == pid)
			return p;
	return NULL;
}

struct proc *proc_next(struct proc *after)
{
	struct list *next = after ? after->all_link.next : all_procs.next;

	return next == &all_procs ? NULL : list_entry(next, struct proc, all_link);
}

uint32_t proc_count(void)
{
	return nprocs;
}

uint32_t task_count(void)
{
	return ntasks;
}

uint32_t zombie_count(void)
{
	return nzombies;
}

struct task *proc_leader(struct proc *p)
{
	struct task *t;

	list_for_each(t, &p->threads, thread_link)
		if (t->tid == p->pid)
			return t;
	return list_is_empty(&p->threads) ? NULL
					  : list_first(&p->threads, struct task, thread_link);
}

pid_t proc_ppid(const struct proc *p)
{
	return p->parent ? p->parent->pid : 1;
}

bool pgrp_exists(pid_t pgid, pid_t sid)
{
	for (struct proc *p = proc_next(NULL); p; p = proc_next(p))
		if (p->pgid == pgid && (!sid || p->sid == sid))
			return true;
	return false;
}

struct proc *proc_new(pid_t pid, struct proc *parent)
{
	struct proc *p = obj_new(&proc_type);

	if (!p)
		return NULL;
	p->pid = pid;
	p->parent = parent;
	p->exit_signal = SIGCHLD;
	p->dumpable = 1;
	p->coredump_filter = 0x33;
	p->start_time = now_mono();
	list_init(&p->children);
	list_init(&p->threads);
	waitq_init(&p->wait_q);
	waitq_init(&p->exit_q);
	waitq_init(&p->cont_q);
	waitq_init(&p->sigfd_q);
	list_init(&p->held);
	list_init(&p->stranded);
	list_init(&p->late_link);
	list_init(&p->unchecked_link);
	list_init(&p->written);
	ktimer_init_with(&p->alarm, NULL); /* itimer_set gives it its function */
	list_append(bucket(proc_hash, pid), &p->hash_link);
	list_append(&all_procs, &p->all_link);
	list_append(parent ? &parent->children : &orphans, &p->sibling_link);
	nprocs++;
	return p;
}

struct task *task_new(struct proc *p, pid_t tid)
{
	struct task *t = obj_new(&task_type);

	if (!t)
		return NULL;
	t->tid = tid;
	t->proc = p;
	t->start_time = now_mono();
	t->loginuid = t->sessionid = LOGIN_UNSET;
	list_init(&t->interrupt_link);
	list_init(&t->call.waiting_link);
	list_init(&t->end_link);
	list_init(&t->travelling);
	list_append(bucket(task_hash, tid), &t->hash_link);
	list_append(&p->threads, &t->thread_link);
	p->nthreads++;
	ntasks++;
	return t;
}

void task_renumber(struct task *t, pid_t tid)
{
	list_remove(&t->hash_link);
	t->tid = tid;
	list_append(bucket(task_hash, tid), &t->hash_link);
}

void task_free(struct task *t)
{
	struct proc *p = t->proc;

	call_leave(t, CALL_LOST);
	call_returned(t);
	/* First: what it closes may send signals, and send them to it. */
	if (task_upcalls.task_gone)
		task_upcalls.task_gone(t);
	signal_task_gone(t);
	if (p->exec_task == t)
		p->exec_task = NULL;
	if (p->nthreads == 1 || t->tid == p->pid) {
		memcpy(p->last_comm, t->comm, sizeof(p->last_comm));
		p->nice = t->nice;
		p->last_uid = t->cred.uid;
		p->last_gid = t->cred.gid;
	}
	seccomp_filter_put(t->seccomp);
	seccomp_filter_put(t->seccomp_fresh);
	list_remove(&t->hash_link);
	list_remove(&t->thread_link);
	p->nthreads--;
	ntasks--;
	obj_free(&task_type, t);
}

void proc_is_zombie(struct proc *p, int wait_status)
{
	p->exiting = true;
	p->wait_status = wait_status;
	p->state = PROC_ZOMBIE;
	nzombies++;
}

void proc_reap(struct proc *p)
{
	if (p->parent) {
		rusage_add(&p->parent->child_usage, &p->usage);
		rusage_add(&p->parent->child_usage, &p->child_usage);
	}
	pidref_proc_forget(p);
	signal_forget(p); /* again, for what its own end sent to it */
	waitq_fini(&p->wait_q);
	waitq_fini(&p->exit_q);
	waitq_fini(&p->cont_q);
	waitq_fini(&p->sigfd_q);
	list_remove(&p->hash_link);
	list_remove(&p->all_link);
	list_remove(&p->sibling_link);
	list_remove(&p->unchecked_link);
	nprocs--;
	nzombies -= p->state == PROC_ZOMBIE;
	obj_free(&proc_type, p);
}

/* Tells the parent with SIGCHLD (or what clone asked for) and wakes its waiters. */
static void parent_tell(struct proc *p, int sig, int code, int status)
{
	struct task *t = proc_leader(p);
	struct linux_siginfo si = {
		.signo = sig,
		.code = code,
		.u.chld = {
			.pid = p->pid,
			.uid = t ? t->cred.uid : p->last_uid,
			.status = status,
			.utime = p->usage.ru_utime.tv_sec * 100 + p->usage.ru_utime.tv_usec / 10000,
			.stime = p->usage.ru_stime.tv_sec * 100 + p->usage.ru_stime.tv_usec / 10000,
		},
	};

	if (!p->parent)
		return;
	if (sig)
		signal_send_proc(p->parent, sig, &si);
	waitq_wake(&p->parent->wait_q, ~0u);
}

struct proc *proc_reaper(struct proc *p)
{
	for (struct proc *r = p->parent; r; r = r->parent)
		if (r->subreaper && r->state != PROC_ZOMBIE)
			return r;
	return NULL;
}

/* Each look goes through all processes; who leaves thousands of groups behind has the rest looked
 * at in later turns. */
static struct list unchecked = LIST_INIT(unchecked);

static void orphans_check(struct ktimer *timer)
{
	while (!list_is_empty(&unchecked)) {
		struct proc *p = list_first(&unchecked, struct proc, unchecked_link);

		if (turn_is_long() && ktimer_start(timer, now_mono() + 1) == 0)
			return;
		list_remove(&p->unchecked_link);
		pgrp_hangup_if_orphaned(p->pgid);
	}
}
KTIMER(orphan_timer, orphans_check);

static void orphan_check(struct proc *p)
{
	if (!turn_is_long() ||
	    (!ktimer_is_started(&orphan_timer) && ktimer_start(&orphan_timer, now_mono() + 1) < 0))
		pgrp_hangup_if_orphaned(p->pgid);
	else if (list_is_empty(&p->unchecked_link))
		list_append(&unchecked, &p->unchecked_link);
}

static void children_adopt(struct proc *p)
{
	struct proc *to = proc_reaper(p), *c, *tmp;

	list_for_each_safe(c, tmp, &p->children, sibling_link) {
		struct task *t;

		list_remove(&c->sibling_link);
		list_append(to ? &to->children : &orphans, &c->sibling_link);
		c->parent = to;
		c->exit_signal = SIGCHLD;
		list_for_each(t, &c->threads, thread_link)
			if (t->pdeathsig) {
				signal_send_proc(c, t->pdeathsig, NULL);
				break;
			}
		if (c->state != PROC_ZOMBIE) {
			if (c->pgid != p->pgid && c->sid == p->sid)
				orphan_check(c);
			continue;
		}
		if (to)
			parent_tell(c, SIGCHLD, WIFEXITED(c->wait_status) ? CLD_EXITED : CLD_KILLED,
				    WIFEXITED(c->wait_status) ? WEXITSTATUS(c->wait_status)
							      : WTERMSIG(c->wait_status));
		if (!to || to->chld_ignore)
			proc_reap(c);
	}
}

void proc_exit(struct proc *p, int wait_status, const struct rusage *usage)
{
	struct task *t, *tmp;
	int code, status;

	if (p->state == PROC_ZOMBIE)
		return;
	/* Only if it was our SIGKILL: what ended it before that counts. */
	if (p->kill_status && WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGKILL)
		wait_status = p->kill_status;
	p->exiting = true;
	p->wait_status = wait_status;
	p->usage = *usage;
	list_for_each_safe(t, tmp, &p->threads, thread_link)
		task_free(t);
	ktimer_stop(&p->alarm);
	if (task_upcalls.proc_gone)
		task_upcalls.proc_gone(p);
	observe(exited, p);
	seccomp_filter_put(p->seccomp_synced);
	p->seccomp_synced = NULL;
	p->state = PROC_ZOMBIE;
	nzombies++;
	/* Now that it gets no more: the end of its session has sent it a SIGHUP. */
	held_free(p);
	signal_forget(p);
	p->stop_sig = 0;
	p->cont_pending = false;
	children_adopt(p);
	waitq_wake(&p->exit_q, ~0u);
	pidref_proc_ended(p);
	if (p->parent && p->parent->pgid != p->pgid && p->parent->sid == p->sid)
		pgrp_hangup_if_orphaned(p->pgid);
	if (p->is_first) {
		task_upcalls.cell_ended(wait_status);
		return;
	}
	if (!p->parent) {
		proc_reap(p);
		return;
	}
	code = WIFEXITED(wait_status)	? CLD_EXITED
	       : WCOREDUMP(wait_status) ? CLD_DUMPED
					: CLD_KILLED;
	status = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : WTERMSIG(wait_status);
	parent_tell(p, p->exit_signal, code, status);
	if (p->parent->chld_ignore && p->exit_signal == SIGCHLD)
		proc_reap(p);
}

void proc_stopped(struct proc *p, int sig)
{
	if (p->state != PROC_RUNNING)
		return;
	p->state = PROC_STOPPED;
	p->was_stopped = true;
	p->stop_sig = p->stop_request ? p->stop_request : sig;
	p->stop_request = 0;
	p->cont_pending = false;
	if (p->parent)
		parent_tell(p, p->parent->chld_nostop ? 0 : SIGCHLD, CLD_STOPPED, p->stop_sig);
	if (p->is_first && p->stop_asked && task_upcalls.cell_stopped)
		task_upcalls.cell_stopped();
	p->stop_asked = false;
}

void proc_continued(struct proc *p)
{
	if (p->state != PROC_STOPPED)
		return;
	p->state = PROC_RUNNING;
	calls_continue(p);
	p->stop_sig = 0;
	p->cont_pending = true;
	waitq_wake(&p->cont_q, ~0u);
	if (p->parent)
		parent_tell(p, p->parent->chld_nostop ? 0 : SIGCHLD, CLD_CONTINUED, SIGCONT);
}
