/* New processes and threads.
 *
 * The stub asks before the host's clone (limits, a copy of the tables); the answer is a token. The
 * child shows it when it announces itself, which proves whose child it is. While a birth is
 * pending, questions about unknown numbers wait for it instead of failing: the parent may know the
 * child's number before we do, and what is sent to its group is kept for it. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>

#include "base/arena.h"
#include "host/child.h"
#include "host/host.h"
#include "kernel/fs/pidfd/pidfd.h"
#include "kernel/ipc/shm.h"
#include "kernel/platform/cell.h"
#include "kernel/platform/guestmem.h"
#include "kernel/sys/birth.h"
#include "kernel/sys/dispatch.h"
#include "kernel/sys/exec.h"
#include "kernel/sys/fast.h"
#include "kernel/sys/limits.h"
#include "kernel/sys/rest.h"
#include "kernel/sys/signal.h"
#include "kernel/sys/strays.h"
#include "kernel/task/call.h"
#include "kernel/task/clock.h"
#include "kernel/task/proc.h"
#include "kernel/task/signal.h"
#include "kernel/task/observe.h"
#include "kernel/task/task.h"
#include "kernel/vfs/fdtable.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/fsctx.h"

#define BAD_FLAGS                                                                      \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | \
	 CLONE_NEWPID | CLONE_NEWNET | CLONE_PTRACE)
#define BIRTHS_MAX 4096
#define BIRTH_NEED (10 * NSEC_PER_SEC) /* when the room is needed */
#define SETTLE_LONG 2000000 /* ns */
#define BIRTH_ORPHAN NSEC_PER_SEC /* when its maker is gone */

struct birth {
	struct list link;
	int64_t token;
	pid_t parent_tid, parent_pid;
	uint64_t flags;
	int exit_signal;
	int64_t since;
	int64_t orphaned; /* when its maker's process ended; 0 it lives */
	struct fdtable *files; /* counted: the table the child gets */
	struct fsctx *fs; /* counted */
	struct shm_map *shm_maps; /* attached shared memory, for a copy of the memory */
	struct fastmm *mm; /* counted */
	uint32_t mm_mark;
	struct pidref *pidref; /* counted; CLONE_PIDFD: of the child to be */
	int pidfd; /* its number */
	/* What the child takes over, as it was when clone was called: the parent may be gone or
	 * changed when it announces itself. */
	struct proc
		seed; /* exe and maps are counted; stranded is what its group was sent meanwhile */
	struct task maker;
};
OBJ_TYPE(birth_type, struct birth, BIRTHS_MAX);

static struct list births = LIST_INIT(births);
static struct waitq births_q = WAITQ_INIT(births_q);

static void birth_free(struct birth *b)
{
	struct proc *p = proc_find(b->parent_pid);

	if (p && p->pending_births)
		p->pending_births--;
	if (b->files)
		fdtable_put(b->files, NULL);
	if (b->fs)
		fsctx_put(b->fs);
	if (b->seed.exe)
		file_put(b->seed.exe);
	if (b->seed.maps)
		observe(unmapped, b->seed.maps, b->parent_pid);
	seccomp_filter_put(b->maker.seccomp);
	signal_forget(&b->seed);
	shm_maps_free(b->shm_maps, b->parent_pid);
	fast_mm_put(b->mm);
	if (b->pidref) {
		pidref_cancel(b->pidref);
		pidref_put(b->pidref);
	}
	list_remove(&b->link);
	obj_free(&birth_type, b);
	waitq_wake(&births_q, ~0u);
}

/* What has not come for so long was never cloned: the parent died before, or only asked. */
static void births_expire(void)
{
	struct birth *b, *tmp;

	list_for_each_safe(b, tmp, &births, link)
		if (now_mono() - b->since > (task_find(b->parent_tid) ? BIRTH_NEED : BIRTH_ORPHAN))
			birth_free(b);
}

/* The same when nobody needs the room: a birth that never comes hides a process that was never
 * announced. */
static void births_age(struct ktimer *timer)
{
	struct birth *b, *tmp;
	bool any = false;

	list_for_each_safe(b, tmp, &births, link) { /* the oldest are the first */
		if (now_mono() - b->since < BIRTH_AGE) {
			(void)ktimer_start(timer, b->since + BIRTH_AGE);
			break;
		}
		birth_free(b);
		any = true;
	}
	if (any)
		strays_sweep();
}
KTIMER(age_timer, births_age);

void births_resumed(int64_t since)
{
	struct birth *b;

	list_for_each(b, &births, link) {
		b->since += now_mono() - since;
		if (b->orphaned)
			b->orphaned += now_mono() - since;
	}
}

/* Those whose maker was ended: it may have been before the host's clone, and the copy of its files
 * must not stay open for ever. */
static void orphans_expire(struct ktimer *timer)
{
	int64_t next = TIME_NEVER;
	struct birth *b, *tmp;

	list_for_each_safe(b, tmp, &births, link) {
		if (b->orphaned && now_mono() - b->orphaned >= BIRTH_ORPHAN)
			birth_free(b);
		else if (b->orphaned)
			next = MIN(next, b->orphaned + BIRTH_ORPHAN);
	}
	if (next != TIME_NEVER)
		(void)ktimer_start(timer, next);
}
KTIMER(orphan_timer, orphans_expire);

/* Whose maker ended before the host's clone never comes: when everybody who is there has announced
 * itself, nobody need wait for the others. */
static void orphans_settle(void)
{
	static int64_t
		next; /* a look at thousands of processes takes long: then the timer has to do */
	int64_t start = host_clock(CLOCK_MONOTONIC), took;
	struct birth *b, *tmp;
	bool possible;

	if (start < next)
		return;
	possible = strays_are_possible();
	took = host_clock(CLOCK_MONOTONIC) - start;
	next = took > SETTLE_LONG ? start + 20 * took : 0;
	if (possible)
		return;
	list_for_each_safe(b, tmp, &births, link)
		if (b->orphaned)
			birth_free(b);
}

bool births_has_thread(const struct proc *p)
{
	struct birth *b;

	if (p->pending_births)
		list_for_each(b, &births, link)
			if (b->parent_pid == p->pid && (b->flags & CLONE_THREAD))
				return true;
	return false;
}

struct waitq *births_pending(void)
{
	return list_is_empty(&births) ? NULL : &births_q;
}

int64_t births_wait(struct task *t)
{
	/* The youngest is the last. */
	if (list_is_empty(&births) ||
	    now_mono() - list_last(&births, struct birth, link)->since > BIRTH_WAIT)
		return -ESRCH;
	call_set_timeout(t, BIRTH_WAIT);
	return call_is_expired(t) ? -ESRCH : call_wait(t, &births_q, ~0u, PARK_NOINTR);
}

uint32_t births_count(void)
{
	return birth_type.count;
}

size_t births_sharers(pid_t *out, size_t max)
{
	struct birth *b;
	size_t n = 0;

	list_for_each(b, &births, link)
		if ((b->flags & (CLONE_VM | CLONE_THREAD)) == CLONE_VM)
			out[n++ % max] = b->parent_tid;
	return MIN(n, max);
}

/* Those that are being born included. */
static uint32_t tasks_of_user(uint32_t uid)
{
	struct birth *b;
	uint32_t n = 0;

	for (struct proc *p = proc_next(NULL); p; p = proc_next(p)) {
		struct task *t = proc_leader(p);

		if (t && t->cred.uid == uid)
			n += p->nthreads;
	}
	list_for_each(b, &births, link)
		n += b->maker.cred.uid == uid;
	return n;
}

static int flags_check(uint64_t flags)
{
	if ((flags & (CLONE_NEWNS | CLONE_FS)) == (CLONE_NEWNS | CLONE_FS) ||
	    (flags & (CLONE_NEWUSER | CLONE_FS)) == (CLONE_NEWUSER | CLONE_FS))
		return -EINVAL;
	if (flags & BAD_FLAGS)
		return -EPERM;
	if ((flags & CLONE_PIDFD) &&
	    (flags & (CLONE_PARENT_SETTID | CLONE_DETACHED | CLONE_THREAD)))
		return -EINVAL;
	if ((flags & CLONE_SIGHAND) && !(flags & CLONE_VM))
		return -EINVAL;
	if ((flags & CLONE_THREAD) && !(flags & CLONE_SIGHAND))
		return -EINVAL;
	return 0;
}

/* CLONE_PIDFD: the parent has the descriptor before the child is there. */
static int pidfd_give(struct task *t, struct birth *b, uaddr_t addr)
{
	struct file *f;
	int ret;

	b->pidref = pidref_new_unborn();
	if (!b->pidref)
		return -ENFILE;
	ret = pidfd_make(pidref_get(b->pidref), 0, &f);
	if (ret < 0)
		return ret;
	ret = fd_install(t, f, 0, true);
	if (ret < 0) {
		file_put(f);
		return ret;
	}
	b->pidfd = ret;
	if (guest_put(t->tid, addr, &b->pidfd) < 0) {
		(void)fd_close(t, b->pidfd);
		return -EFAULT;
	}
	return 0;
}

int64_t hc_clone_prep(struct task *t, const struct sysargs *a)
{
	uint64_t flags = a->a[0];
	uint64_t nproc = t->proc->limits[RLIMIT_NPROC].cur;
	struct birth *b;
	int ret = flags_check(flags);

	if (ret < 0)
		return ret;
	signal_hurry(t->proc); /* what was sent before is not for the child */
	if (task_count() + zombie_count() + births_count() >= cell.spec.max_tasks)
		births_expire();
	if (task_count() + zombie_count() + births_count() >= cell.spec.max_tasks) {
		cell.tasks_refused++;
		return -EAGAIN;
	}
	if (nproc < cell.spec.max_tasks && t->cred.uid != 0 &&
	    tasks_of_user(t->cred.uid) >= nproc) {
		births_expire();
		if (tasks_of_user(t->cred.uid) >= nproc)
			return -EAGAIN;
	}
	b = obj_new(&birth_type);
	if (!b) {
		births_expire();
		return -EAGAIN;
	}
	list_init(&b->link);
	b->parent_tid = t->tid;
	b->parent_pid = t->proc->pid;
	b->flags = flags;
	b->exit_signal = (int)(a->a[1] & 0x7f);
	b->since = now_mono();
	b->seed = *t->proc;
	b->seed.stop_asked = false;
	list_init(&b->seed.stranded);
	list_init(&b->seed.late_link);
	list_init(&b->seed.unchecked_link);
	list_init(&b->seed.written);
	b->seed.maps = NULL;
	if (b->seed.exe)
		file_get(b->seed.exe);
	b->maker = *t;
	seccomp_filter_get(b->maker.seccomp);
	b->files = flags & CLONE_FILES ? fdtable_get(t->files) : fdtable_copy(t->files);
	b->fs = flags & CLONE_FS ? fsctx_get(t->fs) : fsctx_copy(t->fs);
	b->mm = fast_mm_get(t, &b->mm_mark);
	host_random(&b->token, sizeof(b->token));
	b->token = (b->token & INT64_MAX) | (1L << 40); /* never mistaken for an errno or zero */
	t->proc->pending_births++;
	list_append(&births, &b->link);
	if (!ktimer_is_started(&age_timer))
		(void)ktimer_start(&age_timer, b->since + BIRTH_AGE);
	if (!b->files || !b->fs || (!(flags & CLONE_VM) && !shm_maps_copy(t->proc, &b->shm_maps))) {
		birth_free(b);
		return -ENOMEM;
	}
	ret = observer && !(flags & CLONE_THREAD)
		      ? CHECKED(observer)->copied(t, flags & CLONE_VM, &b->seed.maps)
		      : 0;
	if (ret < 0) {
		birth_free(b);
		return ret;
	}
	if (flags & CLONE_PIDFD) {
		ret = pidfd_give(t, b, a->a[2]);
		if (ret < 0) {
			birth_free(b);
			return ret;
		}
	}
	return b->token;
}

bool births_signal(pid_t pgid, const struct task *from, int sig, const struct linux_siginfo *info)
{
	struct birth *b;
	bool any = false;

	list_for_each(b, &births, link) {
		const struct cred *c = &b->maker.cred;

		if ((b->flags & CLONE_THREAD) || (pgid && b->seed.pgid != pgid) ||
		    (from && !may_signal_user(from, c->uid, c->suid, b->seed.sid, sig)))
			continue;
		any = true;
		if (sig)
			(void)signal_strand(&b->seed, sig, info);
	}
	return any;
}

void births_stop(pid_t pgid)
{
	struct birth *b;

	list_for_each(b, &births, link)
		if (!(b->flags & CLONE_THREAD) && b->seed.pgid == pgid) {
			b->seed.stop_asked = true;
			(void)signal_strand(&b->seed, SIGTSTP, NULL);
		}
}

void births_reparent(struct proc *p)
{
	struct proc *reaper = proc_reaper(p), *to;
	struct birth *b, *tmp;
	bool any = false;

	list_for_each_safe(b, tmp, &births, link) {
		if (b->parent_pid != p->pid)
			continue;
		if (b->flags & CLONE_THREAD) {
			/* it died with the others, and must not keep their files open */
			birth_free(b);
			continue;
		}
		to = b->flags & CLONE_PARENT ? p->parent : reaper;
		b->flags &= ~(uint64_t)CLONE_PARENT;
		b->parent_pid = to ? to->pid : 1;
		if (to)
			to->pending_births++;
		b->orphaned = now_mono();
		any = true;
		if (!ktimer_is_started(&orphan_timer))
			(void)ktimer_start(&orphan_timer, now_mono() + BIRTH_ORPHAN);
	}
	if (any)
		orphans_settle();
}

void births_exec(struct proc *p)
{
	struct birth *b, *tmp;

	list_for_each_safe(b, tmp, &births, link)
		if (b->parent_pid == p->pid && (b->flags & CLONE_THREAD))
			birth_free(b);
}

static struct birth *birth_find(uint64_t token)
{
	struct birth *b;

	list_for_each(b, &births, link)
		if ((uint64_t)b->token == token)
			return b;
	return NULL;
}

int64_t hc_clone_cancel(struct task *t, const struct sysargs *a)
{
	struct birth *b = birth_find(a->a[0]);

	if (!b || b->parent_tid != t->tid)
		return -EINVAL;
	if (b->pidref) {
		struct file *f = fd_file(t, b->pidfd);

		if (f && pidfd_of(f) == b->pidref)
			(void)fd_close(t, b->pidfd);
	}
	birth_free(b);
	if (!a->a[1])
		strays_sweep(); /* the host has no room: for whom? */
	return 0;
}

static struct proc *proc_fork(const struct birth *b, pid_t pid)
{
	struct proc *pp = proc_find(b->parent_pid), *old = proc_find(pid), *p;
	const struct proc *from = &b->seed;
	struct proc *parent = pp && pp->state != PROC_ZOMBIE ? pp : NULL;

	/* The host gave out a number that a zombie of ours still has: its parent never asked for it
	 * in a whole round of numbers. One that lives has it still: a thread of it executed a file
	 * behind our back. The host tells of one end only, so there is to be one process of that
	 * number. */
	if (old && old->state != PROC_ZOMBIE)
		return NULL;
	if (old)
		proc_reap(old);
	if ((b->flags & CLONE_PARENT) && parent)
		parent = parent->parent;
	p = proc_new(pid, parent);
	if (!p)
		return NULL;
	p->exit_signal = b->exit_signal;
	p->pgid = from->pgid;
	p->sid = from->sid;
	p->tty_detached = from->tty_detached;
	p->stop_asked = from->stop_asked;
	p->sig_caught = from->sig_caught;
	p->sig_guarded = from->sig_guarded;
	p->sigfd_mask = from->sigfd_mask;
	p->chld_ignore = from->chld_ignore;
	p->chld_nowait = from->chld_nowait;
	p->chld_nostop = from->chld_nostop;
	p->no_new_privs = from->no_new_privs;
	p->dumpable = from->dumpable;
	p->coredump_filter = from->coredump_filter;
	p->thp_disable = from->thp_disable;
	p->maker = b->flags & CLONE_PARENT ? from->maker : b->maker.tid;
	p->oom_score_adj = from->oom_score_adj;
	p->personality = from->personality;
	p->exe = from->exe ? file_get(from->exe) : NULL;
	memcpy(p->limits, from->limits, sizeof(p->limits));
	memcpy(p->slots, from->slots, sizeof(p->slots));
	p->arg_start = from->arg_start;
	p->arg_end = from->arg_end;
	p->env_start = from->env_start;
	p->env_end = from->env_end;
	p->auxv_addr = from->auxv_addr;
	p->auxv_size = from->auxv_size;
	p->start_brk = from->start_brk;
	p->start_stack = from->start_stack;
	p->start_code = from->start_code;
	p->end_code = from->end_code;
	return p;
}

/* As its maker had them; or what was given to all threads meanwhile, on the host to this one
 * too. */
static void seccomp_inherit(struct task *t, const struct birth *b)
{
	struct seccomp_filter *f = b->maker.seccomp, *all = t->proc->seccomp_synced;

	if ((b->flags & CLONE_THREAD) && all && seccomp_is_older(f, all))
		f = all;
	t->seccomp = seccomp_filter_get(f);
	t->seccomp_mode = f && !b->maker.seccomp_mode ? SECCOMP_MODE_FILTER : b->maker.seccomp_mode;
}

int64_t hc_child(const struct host_call *in)
{
	struct birth *b = birth_find(in->args[0]);
	struct task *t;
	struct proc *p;

	if (!b)
		goto kill;
	/* It must be what was asked for: the host tells of the end of processes only, and a number
	 * that is a thread of somebody else would stay in the tables for ever. */
	if (!host_is_thread(b->flags & CLONE_THREAD ? b->parent_pid : in->tid, in->tid)) {
		birth_free(b);
		goto kill;
	}
	p = b->flags & CLONE_THREAD ? proc_find(b->parent_pid) : proc_fork(b, in->tid);
	if (!p || p->state == PROC_ZOMBIE) {
		birth_free(b);
		goto kill;
	}
	t = task_new(p, in->tid);
	if (!t) {
		if (!(b->flags & CLONE_THREAD)) {
			exec_release(p);
			proc_reap(p);
		}
		birth_free(b);
		goto kill;
	}
	t->files = b->files;
	t->fs = b->fs;
	b->files = NULL;
	b->fs = NULL;
	if (b->shm_maps) {
		p->shm_maps = b->shm_maps;
		b->shm_maps = NULL;
	}
	if (!(b->flags & CLONE_THREAD)) {
		p->maps = b->seed.maps;
		b->seed.maps = NULL;
	}
	t->cred = b->maker.cred;
	memcpy(t->comm, b->maker.comm, sizeof(t->comm));
	t->loginuid = b->maker.loginuid;
	t->sessionid = b->maker.sessionid;
	task_inherit_sched(t, &b->maker);
	limits_born(t);
	seccomp_inherit(t, b);
	t->fast_off = b->maker.fast_off || t->seccomp;
	fast_born(t, b->mm, b->mm_mark, b->flags & CLONE_VM);
	if (b->pidref)
		pidref_attach(b->pidref, p);
	signal_born(t);
	signal_resend(&b->seed, p);
	if (!(b->flags & CLONE_THREAD))
		observe(forked, p, b->parent_pid);
	rest_born(t);
	birth_free(b);
	if (ktimer_is_started(&orphan_timer))
		orphans_settle();
	return 0;
kill: /* made behind our back, or too late: it ends */
	(void)host_kill(in->tid, SIGKILL);
	return -EPERM;
}
