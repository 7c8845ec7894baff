/* Scheduling: affinity, policies, I/O priorities.
 *
 * The cell has the CPUs 0..cpus-1. An affinity is kept for each thread, and passed on to the host
 * with the cell's CPU i standing for the i-th CPU that the kernel itself may use. Policies and
 * priorities are kept and shown, checked as Linux checks them, and not passed on: a cell is one
 * client among others to the host's scheduler. */
#include <errno.h>
#include <linux/capability.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>

#include "host/host.h"
#include "wire/limits.h"
#include "host/procmem.h"
#include "kernel/abi/sched.h"
#include "kernel/abi/time.h"
#include "kernel/platform/cell.h"
#include "kernel/platform/guestmem.h"
#include "kernel/sys/handlers.h"
#include "kernel/sys/limits.h"
#include "kernel/sys/seed.h"
#include "kernel/sys/target.h"
#include "kernel/task/cred.h"
#include "kernel/task/proc.h"
#include "kernel/task/task.h"

#define RR_INTERVAL 100000000LL
#define RESET_ON_FORK 0x40000000
_Static_assert(CPU_WORDS == LIMITS_CPU_WORDS, "processors");

/* Linux's rule for changing another thread's scheduling. */
static bool may_schedule(const struct task *t, const struct task *target)
{
	return cred_is_same_user(&t->cred, &target->cred) || cred_has_cap(&t->cred, CAP_SYS_NICE);
}

/* The thread that a question is about. NULL: the cell's init, or a zombie, which have what every
 * process starts with. */
static int64_t asked_task(struct task *t, pid_t pid, struct task **ret_)
{
	*ret_ = NULL;
	return pid == INIT_PID || zombie_find(pid) ? 0 : target_task(t, pid, ret_);
}

#define NOBODY_LEFT 1 /* a zombie: there is nothing to change, which is no error */

/* The thread that is to be changed: never init. */
static int64_t changed_task(struct task *t, pid_t pid, struct task **ret_)
{
	const struct proc *z = zombie_find(pid);

	if (z)
		return z->last_uid == t->cred.euid || cred_has_cap(&t->cred, CAP_SYS_NICE)
			       ? NOBODY_LEFT
			       : -EPERM;
	return pid == INIT_PID ? -EPERM : target_task(t, pid, ret_);
}

/* ---- affinity ---- */

static uint32_t cell_cpus(void)
{
	uint32_t n = cell.spec.cpus ? cell.spec.cpus : 1;

	return MIN(n, CPU_WORDS * 64u);
}

static bool mask_has(const uint64_t *mask, uint32_t cpu)
{
	return mask[cpu / 64] >> (cpu % 64) & 1;
}

static void mask_add(uint64_t *mask, uint32_t cpu)
{
	mask[cpu / 64] |= 1UL << (cpu % 64);
}

static void mask_all(uint64_t *mask)
{
	for (uint32_t cpu = 0; cpu < cell_cpus(); cpu++)
		mask_add(mask, cpu);
}

static void affinity_get(const struct task *t, uint64_t mask[CPU_WORDS])
{
	uint64_t all[CPU_WORDS] = { 0 };
	bool any = false;

	mask_all(all);
	/* The cell may have lost some: whoever has none left has all that there are, as Linux does
	 * it. */
	for (uint32_t i = 0; i < CPU_WORDS; i++) {
		mask[i] = t->affinity.w[i] & all[i];
		any |= mask[i] != 0;
	}
	if (!any)
		memcpy(mask, all, sizeof(all));
}

/* The host gets the same CPUs, as far as the kernel has that many itself. */
static void affinity_to_host(const struct task *t, const uint64_t mask[CPU_WORDS])
{
	uint64_t host[CPU_WORDS] = { 0 }, out[CPU_WORDS] = { 0 }, all[CPU_WORDS] = { 0 };
	uint32_t nth = 0;

	if (host_cpus_get(host, sizeof(host)) < 0)
		return;
	mask_all(all);
	for (uint32_t cpu = 0; cpu < CPU_WORDS * 64; cpu++) {
		if (!mask_has(host, cpu))
			continue;
		if (nth < cell_cpus() && mask_has(mask, nth))
			mask_add(out, cpu);
		nth++;
	}
	if (nth < cell_cpus())
		return;
	if (memcmp(mask, all, sizeof(all)) == 0)
		memcpy(out, host, sizeof(out));
	(void)host_sched_setaffinity(t->tid, out, sizeof(out));
}

void sched_born(struct task *t)
{
	uint64_t mask[CPU_WORDS];

	if (!cell.placed)
		return;
	affinity_get(t, mask);
	affinity_to_host(t, mask);
}

void sched_cpus_set(uint32_t cpus, const uint64_t *host)
{
	struct task *t;

	cell.spec.cpus = cpus;
	if (!host)
		return;
	cell.placed = true;
	(void)host_cpus_set(host, CPU_WORDS * sizeof(*host));
	if (seed_pid() > 0)
		(void)host_sched_setaffinity(seed_pid(), host, CPU_WORDS * sizeof(*host));
	for (struct proc *p = proc_next(NULL); p; p = proc_next(p))
		list_for_each(t, &p->threads, thread_link)
			sched_born(t);
}

int64_t sys_sched_getaffinity(struct task *t, const struct sysargs *a)
{
	uint32_t len = (uint32_t)a->a[1], size = ALIGN_UP(cell_cpus(), 64u) / 8;
	uint64_t mask[CPU_WORDS] = { 0 };
	struct task *target;
	int64_t err;

	if ((uint64_t)len * 8 < cell_cpus() || len % 8)
		return -EINVAL;
	err = asked_task(t, (pid_t)a->a[0], &target);
	if (err)
		return err;
	if (target)
		affinity_get(target, mask);
	else
		mask_all(mask);
	size = MIN(size, len);
	if (guest_write(t->tid, a->a[2], mask, size) < 0)
		return -EFAULT;
	return size;
}

int64_t sys_sched_setaffinity(struct task *t, const struct sysargs *a)
{
	uint32_t len = (uint32_t)a->a[1];
	uint64_t mask[CPU_WORDS] = { 0 }, all[CPU_WORDS] = { 0 };
	struct task *target;
	bool any = false;
	int64_t err;

	if (guest_read(t->tid, mask, a->a[2], MIN(len, sizeof(mask))) < 0)
		return -EFAULT;
	err = changed_task(t, (pid_t)a->a[0], &target);
	if (err)
		return MIN(err, 0);
	if (!may_schedule(t, target))
		return -EPERM;
	mask_all(all);
	for (uint32_t i = 0; i < CPU_WORDS; i++) {
		mask[i] &= all[i];
		any |= mask[i] != 0;
	}
	if (!any)
		return -EINVAL;
	memcpy(target->affinity.w, mask, sizeof(mask));
	affinity_to_host(target, mask);
	return 0;
}

/* ---- policies ---- */

static bool policy_is_rt(int policy)
{
	return policy == SCHED_FIFO || policy == SCHED_RR;
}

static bool policy_is_plain(int policy)
{
	return policy == SCHED_OTHER || policy == SCHED_BATCH || policy == SCHED_IDLE;
}

/* Checks and sets; nice NULL: it stays. */
static int64_t policy_set(struct task *t, struct task *target, int policy, uint32_t prio,
			  bool reset, const int32_t *nice)
{
	bool cap = cred_has_cap(&t->cred, CAP_SYS_NICE);
	const struct klimit *limits = target->proc->limits;

	if (!policy_is_rt(policy) && !policy_is_plain(policy))
		return -EINVAL;
	if (prio > 99 || policy_is_rt(policy) != (prio != 0))
		return -EINVAL;
	if (!cap) {
		if (policy_is_rt(policy)) {
			if (policy != target->sched_policy && !limits[RLIMIT_RTPRIO].cur)
				return -EPERM;
			if (prio > target->sched_prio && prio > limits[RLIMIT_RTPRIO].cur)
				return -EPERM;
		}
		if (nice && policy_is_plain(policy) && *nice < target->nice &&
		    (uint64_t)(20 - *nice) > limits[RLIMIT_NICE].cur)
			return -EPERM;
		if (!cred_is_same_user(&t->cred, &target->cred))
			return -EPERM;
		if (target->sched_reset && !reset)
			return -EPERM;
	}
	target->sched_policy = (uint8_t)policy;
	target->sched_prio = (uint8_t)prio;
	target->sched_reset = reset;
	if (nice && policy_is_plain(policy)) {
		target->nice = (int8_t)*nice;
		(void)host_setpriority(target->tid, *nice);
	}
	return 0;
}

int64_t sys_sched_setscheduler(struct task *t, const struct sysargs *a)
{
	int policy = (int)a->a[1], prio;
	struct task *target;
	int64_t err;

	if (policy < 0 || !a->a[2] || (pid_t)a->a[0] < 0)
		return -EINVAL;
	if (guest_get(t->tid, &prio, a->a[2]) < 0)
		return -EFAULT;
	err = changed_task(t, (pid_t)a->a[0], &target);
	if (err)
		return MIN(err, 0);
	return policy_set(t, target, policy & ~RESET_ON_FORK, (uint32_t)prio,
			  policy & RESET_ON_FORK, NULL);
}

int64_t sys_sched_setparam(struct task *t, const struct sysargs *a)
{
	struct task *target;
	int64_t err;
	int prio;

	if (!a->a[1] || (pid_t)a->a[0] < 0)
		return -EINVAL;
	if (guest_get(t->tid, &prio, a->a[1]) < 0)
		return -EFAULT;
	err = changed_task(t, (pid_t)a->a[0], &target);
	if (err)
		return MIN(err, 0);
	return policy_set(t, target, target->sched_policy, (uint32_t)prio, target->sched_reset,
			  NULL);
}

int64_t sys_sched_getscheduler(struct task *t, const struct sysargs *a)
{
	struct task *target;
	int64_t err;

	if ((pid_t)a->a[0] < 0)
		return -EINVAL;
	err = asked_task(t, (pid_t)a->a[0], &target);
	if (err)
		return err;
	if (!target)
		return SCHED_OTHER;
	return target->sched_policy | (target->sched_reset ? RESET_ON_FORK : 0);
}

int64_t sys_sched_getparam(struct task *t, const struct sysargs *a)
{
	struct task *target;
	int64_t err;
	int prio;

	if (!a->a[1] || (pid_t)a->a[0] < 0)
		return -EINVAL;
	err = asked_task(t, (pid_t)a->a[0], &target);
	if (err)
		return err;
	prio = target ? target->sched_prio : 0;
	return guest_put(t->tid, a->a[1], &prio);
}

int64_t sys_sched_getattr(struct task *t, const struct sysargs *a)
{
	uint32_t size = (uint32_t)a->a[2];
	struct linux_sched_attr attr = { .size = sizeof(attr) };
	struct task *target;
	int64_t err;

	if (!a->a[1] || (pid_t)a->a[0] < 0 || size > PAGE_SIZE ||
	    size < LINUX_SCHED_ATTR_SIZE_VER0 || (uint32_t)a->a[3])
		return -EINVAL;
	err = asked_task(t, (pid_t)a->a[0], &target);
	if (err)
		return err;
	if (target) {
		attr.policy = target->sched_policy;
		attr.flags = target->sched_reset ? LINUX_SCHED_FLAG_RESET_ON_FORK : 0;
		if (policy_is_rt(target->sched_policy))
			attr.priority = target->sched_prio;
		else
			attr.nice = target->nice;
	}
	attr.util_max = 1024;
	attr.size = MIN(size, (uint32_t)sizeof(attr));
	return guest_write(t->tid, a->a[1], &attr, attr.size);
}

int64_t sys_sched_setattr(struct task *t, const struct sysargs *a)
{
	struct linux_sched_attr attr = { 0 };
	char rest[PAGE_SIZE];
	uint32_t size, mine = sizeof(attr);
	struct task *target;
	int32_t nice;
	int64_t err;

	if (!a->a[1] || (pid_t)a->a[0] < 0 || (uint32_t)a->a[2])
		return -EINVAL;
	if (guest_get(t->tid, &size, a->a[1]) < 0)
		return -EFAULT;
	if (!size)
		size = LINUX_SCHED_ATTR_SIZE_VER0;
	if (size < LINUX_SCHED_ATTR_SIZE_VER0 || size > PAGE_SIZE)
		goto too_big;
	if (guest_read(t->tid, rest, a->a[1], size) < 0)
		return -EFAULT;
	for (uint32_t i = mine; i < size; i++)
		if (rest[i])
			goto too_big;
	memcpy(&attr, rest, MIN(size, mine));
	if ((int32_t)attr.policy < 0 || (attr.flags & ~(uint64_t)LINUX_SCHED_FLAG_ALL))
		return -EINVAL;
	err = changed_task(t, (pid_t)a->a[0], &target);
	if (err)
		return MIN(err, 0);
	nice = attr.nice < -20 ? -20 : MIN(attr.nice, 19);
	if (attr.flags & LINUX_SCHED_FLAG_KEEP_POLICY)
		attr.policy = target->sched_policy;
	if (attr.flags & LINUX_SCHED_FLAG_KEEP_PARAMS) {
		attr.priority = target->sched_prio;
		nice = target->nice;
	}
	return policy_set(t, target, (int)attr.policy, attr.priority,
			  attr.flags & LINUX_SCHED_FLAG_RESET_ON_FORK, &nice);
too_big:
	return guest_put(t->tid, a->a[1], &mine) < 0 ? -EFAULT : -E2BIG;
}

static int64_t priority_bound(int policy, int rt)
{
	if (policy_is_rt(policy))
		return rt;
	return policy_is_plain(policy) || policy == LINUX_SCHED_DEADLINE ? 0 : -EINVAL;
}

int64_t sys_sched_get_priority_max(struct task *t, const struct sysargs *a)
{
	(void)t;
	return priority_bound((int)a->a[0], 99);
}

int64_t sys_sched_get_priority_min(struct task *t, const struct sysargs *a)
{
	(void)t;
	return priority_bound((int)a->a[0], 1);
}

int64_t sys_sched_rr_get_interval(struct task *t, const struct sysargs *a)
{
	struct linux_timespec ts = { 0, 0 };
	struct task *target;
	int64_t err;

	if ((pid_t)a->a[0] < 0)
		return -EINVAL;
	err = asked_task(t, (pid_t)a->a[0], &target);
	if (err)
		return err;
	/* Others have a slice of less than a tick, which reads as 0. */
	if (target && target->sched_policy == SCHED_RR)
		ts.nsec = RR_INTERVAL;
	return guest_put(t->tid, a->a[1], &ts);
}

/* ---- I/O priorities ---- */

/* Is p one of those that which and who name? */
static bool ioprio_matches(struct task *t, struct proc *p, int which, uint32_t who)
{
	struct task *leader = proc_leader(p);

	if (!leader)
		return false;
	if (which == LINUX_IOPRIO_WHO_PGRP)
		return p->pgid == (who ? (pid_t)who : t->proc->pgid);
	return leader->cred.uid == (who ? who : t->cred.uid);
}

static int64_t ioprio_set_one(struct task *t, struct task *target, uint16_t ioprio)
{
	if (target->cred.uid != t->cred.euid && target->cred.uid != t->cred.uid &&
	    !cred_has_cap(&t->cred, CAP_SYS_NICE))
		return -EPERM;
	target->ioprio = ioprio;
	return 0;
}

int64_t sys_ioprio_set(struct task *t, const struct sysargs *a)
{
	int which = (int)a->a[0], ioprio = (int)a->a[2];
	int class = ioprio >> LINUX_IOPRIO_CLASS_SHIFT, level = ioprio & 7;
	struct task *target;
	struct proc *p;
	int64_t result = -ESRCH, err;

	switch (class) {
	case LINUX_IOPRIO_CLASS_RT:
		if (!cred_has_cap(&t->cred, CAP_SYS_ADMIN) && !cred_has_cap(&t->cred, CAP_SYS_NICE))
			return -EPERM;
		break;
	case LINUX_IOPRIO_CLASS_BE:
	case LINUX_IOPRIO_CLASS_IDLE:
		break;
	case LINUX_IOPRIO_CLASS_NONE:
		if (level)
			return -EINVAL;
		break;
	default:
		return -EINVAL;
	}
	if (which == LINUX_IOPRIO_WHO_PROCESS) {
		err = changed_task(t, (pid_t)a->a[1], &target);
		return err ? MIN(err, 0) : ioprio_set_one(t, target, (uint16_t)ioprio);
	}
	if (which != LINUX_IOPRIO_WHO_PGRP && which != LINUX_IOPRIO_WHO_USER)
		return -EINVAL;
	for (p = proc_next(NULL); p; p = proc_next(p)) {
		if (!ioprio_matches(t, p, which, (uint32_t)a->a[1]))
			continue;
		list_for_each(target, &p->threads, thread_link) {
			result = ioprio_set_one(t, target, (uint16_t)ioprio);
			if (result < 0)
				return result;
		}
	}
	return result;
}

int64_t sys_ioprio_get(struct task *t, const struct sysargs *a)
{
	int which = (int)a->a[0];
	struct task *target;
	struct proc *p;
	int64_t best = -ESRCH, err;

	if (which == LINUX_IOPRIO_WHO_PROCESS) {
		err = asked_task(t, (pid_t)a->a[1], &target);
		return err || !target ? err : target->ioprio;
	}
	if (which != LINUX_IOPRIO_WHO_PGRP && which != LINUX_IOPRIO_WHO_USER)
		return -EINVAL;
	for (p = proc_next(NULL); p; p = proc_next(p)) {
		if (!ioprio_matches(t, p, which, (uint32_t)a->a[1]))
			continue;
		target = proc_leader(p);
		/* The best is the smallest number that is not "none". */
		if (best <= 0 || (target->ioprio && target->ioprio < best))
			best = target->ioprio;
	}
	return best;
}
