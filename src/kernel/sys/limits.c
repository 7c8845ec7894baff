/* Resource limits and nice values.
 *
 * Most limits are the kernel's own and are looked at where the resource is given out. Those that
 * the host must enforce, because memory and CPU time are its own, are passed on to the runner: as
 * soft limits only, so that root of the cell can raise them again; the hard limits of the host stay
 * as the cell was started with. RLIMIT_CPU passes both, as the hard one kills. Fork and exec keep
 * them on the host as here. Each thread has a nice value. */
#include <errno.h>
#include <linux/capability.h>
#include <sys/resource.h>

#include "wire/limits.h"
#include "host/procmem.h"
#include "kernel/platform/cell.h"
#include "kernel/platform/guestmem.h"
#include "kernel/sys/fast.h"
#include "kernel/sys/handlers.h"
#include "kernel/sys/limits.h"
#include "kernel/sys/seed.h"
#include "kernel/sys/target.h"
#include "kernel/task/cred.h"
#include "kernel/task/proc.h"
#include "kernel/task/task.h"

#define NR_OPEN 1048576u
_Static_assert(RLIMITS == RLIM_NLIMITS, "limits");

void limits_init(struct proc *p)
{
	uint64_t inf = RLIM_INFINITY;
	uint64_t tasks = cell.spec.max_tasks ? cell.spec.max_tasks : 4096;
	uint64_t files = cell.spec.max_files ? MIN(cell.spec.max_files, NR_OPEN) : NR_OPEN;

	for (int i = 0; i < RLIMITS; i++)
		p->limits[i] = (struct klimit){ inf, inf };
	p->limits[RLIMIT_STACK].cur = 8UL << 20;
	p->limits[RLIMIT_CORE].cur = 0;
	p->limits[RLIMIT_NPROC] = (struct klimit){ tasks, tasks };
	p->limits[RLIMIT_NOFILE] = (struct klimit){ MIN(files, 1024u), files };
	p->limits[RLIMIT_MEMLOCK] = (struct klimit){ 8UL << 20, 8UL << 20 };
	p->limits[RLIMIT_SIGPENDING] = (struct klimit){ 16384, 16384 };
	p->limits[RLIMIT_MSGQUEUE] = (struct klimit){ 819200, 819200 };
	p->limits[RLIMIT_NICE] = (struct klimit){ 0, 0 };
	p->limits[RLIMIT_RTPRIO] = (struct klimit){ 0, 0 };
}

/* ---- of the whole cell, while it runs ---- */

/* The host counts, too, for processes that are made behind our back. */
static void tasks_to_host(pid_t pid)
{
	(void)host_prlimit(pid, RLIMIT_NPROC, (uint64_t)cell.spec.max_tasks + TASKS_SLACK,
			   RLIM_INFINITY);
}

static void tasks_follow(struct proc *p)
{
	struct klimit *l = &p->limits[RLIMIT_NPROC];

	if (l->cur == cell.tasks_before)
		l->cur = cell.spec.max_tasks;
	if (l->max == cell.tasks_before)
		l->max = cell.spec.max_tasks;
	l->cur = MIN(l->cur, l->max);
	if (p->state != PROC_ZOMBIE)
		tasks_to_host(p->pid);
}

void limits_tasks_set(uint32_t max)
{
	if (max == cell.spec.max_tasks)
		return;
	cell.tasks_before = cell.spec.max_tasks;
	cell.spec.max_tasks = max;
	for (struct proc *p = proc_next(NULL); p; p = proc_next(p))
		tasks_follow(p);
	if (seed_pid() > 0)
		tasks_to_host(seed_pid());
}

void limits_born(struct task *t)
{
	if (cell.tasks_before && t->tid == t->proc->pid)
		tasks_follow(t->proc);
	sched_born(t);
}

/* ---- of a process ---- */

/* The host follows. What it refuses (a limit above its own) stays as it is there. */
static void limit_to_host(struct proc *p, int resource)
{
	const struct klimit *l = &p->limits[resource];

	if (p->state == PROC_ZOMBIE)
		return;
	switch (resource) {
	case RLIMIT_AS:
	case RLIMIT_DATA:
	case RLIMIT_STACK:
	case RLIMIT_MEMLOCK:
	case RLIMIT_SIGPENDING:
		(void)host_prlimit(p->pid, resource, l->cur, RLIM_INFINITY);
		break;
	case RLIMIT_CPU:
		(void)host_prlimit(p->pid, resource, l->cur, l->max);
		break;
	default:
		break;
	}
}

void limits_given(struct proc *p)
{
	for (uint32_t i = 0; i < cell.spec.nulimits; i++) {
		const struct ulimit *l = &cell.spec.ulimits[i];

		if (l->resource >= RLIMITS)
			continue;
		p->limits[l->resource] = (struct klimit){ l->soft, l->hard };
		limit_to_host(p, (int)l->resource);
	}
}

void limits_thawed(struct proc *p)
{
	for (int i = 0; i < RLIMITS; i++)
		limit_to_host(p, i);
}

static int limit_set(struct task *t, struct proc *p, uint32_t resource, const struct klimit *l)
{
	if (resource >= RLIMITS || l->cur > l->max)
		return -EINVAL;
	if (resource == RLIMIT_NOFILE && l->max > NR_OPEN)
		return -EPERM;
	if (l->max > p->limits[resource].max && !cred_has_cap(&t->cred, CAP_SYS_RESOURCE))
		return -EPERM;
	p->limits[resource] = *l;
	limit_to_host(p, (int)resource);
	if (resource == RLIMIT_NOFILE)
		fast_limit_changed(p);
	return 0;
}

int64_t sys_getrlimit(struct task *t, const struct sysargs *a)
{
	uint32_t resource = (uint32_t)a->a[0];

	if (resource >= RLIMITS)
		return -EINVAL;
	return guest_put(t->tid, a->a[1], &t->proc->limits[resource]);
}

int64_t sys_setrlimit(struct task *t, const struct sysargs *a)
{
	struct klimit l;

	if (guest_get(t->tid, &l, a->a[1]) < 0)
		return -EFAULT;
	return limit_set(t, t->proc, (uint32_t)a->a[0], &l);
}

/* May t look at or change the limits of a process with these credentials? */
static bool may_limit(const struct task *t, const struct cred *other)
{
	const struct cred *c = &t->cred;

	if (c->uid == other->euid && c->uid == other->suid && c->uid == other->uid &&
	    c->gid == other->egid && c->gid == other->sgid && c->gid == other->gid)
		return true;
	return cred_has_cap(c, CAP_SYS_RESOURCE);
}

/* Of process 1, the kernel: root may look. */
static int64_t init_prlimit(struct task *t, uint32_t resource, uaddr_t set, uaddr_t old)
{
	static const struct cred root;
	static const struct klimit none = { RLIM_INFINITY, RLIM_INFINITY };

	if (set || !may_limit(t, &root))
		return -EPERM;
	if (resource >= RLIMITS)
		return -EINVAL;
	return old ? guest_put(t->tid, old, &none) : 0;
}

int64_t sys_prlimit64(struct task *t, const struct sysargs *a)
{
	uint32_t resource = (uint32_t)a->a[1];
	struct klimit set, old;
	struct task *target;
	struct proc *p;
	int64_t err;

	if (a->a[2] && guest_get(t->tid, &set, a->a[2]) < 0)
		return -EFAULT;
	if ((pid_t)a->a[0] == INIT_PID)
		return init_prlimit(t, resource, a->a[2], a->a[3]);
	p = zombie_find((pid_t)a->a[0]);
	if (p) {
		if (p->last_uid != t->cred.uid && !cred_has_cap(&t->cred, CAP_SYS_RESOURCE))
			return -EPERM;
	} else {
		err = target_task(t, (pid_t)a->a[0], &target);
		if (err)
			return err;
		p = target->proc;
		if (p != t->proc && !may_limit(t, &target->cred))
			return -EPERM;
	}
	if (resource >= RLIMITS)
		return -EINVAL;
	old = p->limits[resource];
	if (a->a[2]) {
		err = limit_set(t, p, resource, &set);
		if (err < 0)
			return err;
	}
	if (a->a[3] && guest_put(t->tid, a->a[3], &old) < 0)
		return -EFAULT;
	return 0;
}

/* ---- nice values ---- */

/* Is p one of those that which and who name? */
static bool priority_matches(struct task *t, struct proc *p, int which, uint32_t who)
{
	struct task *leader;

	switch (which) {
	case PRIO_PGRP:
		return p->pgid == (who ? (pid_t)who : t->proc->pgid);
	case PRIO_USER:
		leader = proc_leader(p);
		return leader && leader->cred.uid == (who ? who : t->cred.uid);
	default:
		return false;
	}
}

int64_t sys_getpriority(struct task *t, const struct sysargs *a)
{
	int which = (int)a->a[0];
	int64_t best = -ESRCH, err;
	struct task *thread;
	struct proc *p;

	if (which < PRIO_PROCESS || which > PRIO_USER)
		return -EINVAL;
	if (which == PRIO_PROCESS && (pid_t)a->a[1] == INIT_PID)
		return 20;
	if (which == PRIO_PROCESS) {
		p = zombie_find((pid_t)a->a[1]);
		if (p)
			return 20 - p->nice;
		err = target_task(t, (pid_t)a->a[1], &thread);
		return err ? err : 20 - thread->nice;
	}
	for (p = proc_next(NULL); p; p = proc_next(p)) {
		if (!priority_matches(t, p, which, (uint32_t)a->a[1]))
			continue;
		if (!proc_leader(p))
			best = MAX(best, 20 - p->nice);
		list_for_each(thread, &p->threads, thread_link)
			best = MAX(best, 20 - thread->nice);
	}
	return best;
}

static int64_t priority_set_one(struct task *t, struct task *target, int nice)
{
	bool cap = cred_has_cap(&t->cred, CAP_SYS_NICE);

	if (target->proc != t->proc && !cap && !cred_is_same_user(&t->cred, &target->cred))
		return -EPERM;
	if (nice < target->nice && !cap &&
	    (uint64_t)(20 - nice) > target->proc->limits[RLIMIT_NICE].cur)
		return -EACCES;
	target->nice = (int8_t)nice;
	/* The host lets it go up only; then the scheduler knows less than we do. */
	(void)host_setpriority(target->tid, nice);
	return 0;
}

/* All threads of a process; one without any has nothing to change. */
static int64_t priority_set_all(struct task *t, struct proc *p, int nice)
{
	struct task *thread;
	int64_t err;

	list_for_each(thread, &p->threads, thread_link) {
		err = priority_set_one(t, thread, nice);
		if (err)
			return err;
	}
	return 0;
}

int64_t sys_setpriority(struct task *t, const struct sysargs *a)
{
	int which = (int)a->a[0], nice = (int)a->a[2];
	int64_t result = -ESRCH, err;
	struct task *thread;
	struct proc *p;

	if (which < PRIO_PROCESS || which > PRIO_USER)
		return -EINVAL;
	nice = nice < -20 ? -20 : MIN(nice, 19);
	if (which == PRIO_PROCESS && (pid_t)a->a[1] == INIT_PID)
		return -EPERM; /* the kernel's own is the operator's */
	if (which == PRIO_PROCESS) {
		if (zombie_find((pid_t)a->a[1]))
			return 0;
		err = target_task(t, (pid_t)a->a[1], &thread);
		return err ? err : priority_set_one(t, thread, nice);
	}
	for (p = proc_next(NULL); p; p = proc_next(p)) {
		if (!priority_matches(t, p, which, (uint32_t)a->a[1]))
			continue;
		err = priority_set_all(t, p, nice);
		/* As Linux: one failure stays, success replaces only "nobody". A group is asked
		 * from its youngest on, so that of several failures the oldest's stays. */
		if (result == -ESRCH || (err < 0 && (which == PRIO_USER || result == 0)))
			result = err;
	}
	return result;
}
