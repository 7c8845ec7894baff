/* semget, semop, semtimedop, semctl. */
#include <errno.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/sem.h>

#include "base/arena.h"
#include "base/ref.h"
#include "kernel/abi/time.h"
#include "kernel/ipc/sem.h"
#include "kernel/platform/guestmem.h"
#include "kernel/sys/handlers.h"
#include "kernel/sys/kept.h"
#include "kernel/task/call.h"
#include "kernel/task/proc.h"
#include "kernel/task/task.h"

static struct sem_set *set_of(struct ipc_obj *o)
{
	return (struct sem_set *)o;
}

static bool sem_too_small(const struct ipc_obj *o, uint64_t nsems)
{
	return nsems > ((const struct sem_set *)o)->nsems;
}

int64_t sys_semget(struct task *t, const struct sysargs *a)
{
	int nsems = (int)a->a[1], flags = (int)a->a[2], r;
	struct sem_set *s;
	struct ipc_obj *o;

	if (nsems < 0 || nsems > SEM_MAX_IN_SET)
		return -EINVAL;
	r = ipc_get(&sem_table, &t->cred, (int32_t)a->a[0], flags, sem_too_small, (uint64_t)nsems,
		    &o);
	if (r == 0)
		return o->id;
	if (r < 0)
		return r;
	if (!nsems)
		return -EINVAL;
	r = sem_new(t, (int32_t)a->a[0], (uint32_t)nsems, flags, &s);
	return r < 0 ? r : s->obj.id;
}

/* ---- operations ---- */

static size_t wait_size(uint32_t nsops)
{
	return sizeof(struct sem_wait) + nsops * sizeof(struct linux_sembuf);
}

void sem_wait_free(struct sem_wait *w)
{
	list_remove(&w->link);
	sem_set_put(w->set);
	blob_free(w, wait_size(w->nsops));
}

static int wait_make(struct task *t, int id, uint32_t nsops, const struct linux_sembuf *sops)
{
	struct ipc_obj *o = ipc_find(&sem_table, id);
	bool alters = false;
	struct sem_wait *w;
	uint16_t highest = 0;
	int r;

	for (uint32_t i = 0; i < nsops; i++) {
		highest = MAX(highest, sops[i].num);
		alters |= sops[i].op != 0;
	}
	if (!o)
		return -EINVAL;
	if (highest >= set_of(o)->nsems)
		return -EFBIG;
	r = ipc_permission(o, &t->cred, alters ? 0222 : 0444);
	if (r < 0)
		return r;
	w = blob_new(wait_size(nsops));
	if (!w)
		return -ENOMEM;
	*w = (struct sem_wait){ .set = set_of(o), .nsops = nsops };
	memcpy(w->sops, sops, nsops * sizeof(*sops));
	ref_get(&w->set->refs);
	list_append(&w->set->waiting, &w->link);
	t->call.kept = (struct call_kept){ .kind = KEPT_SEM, .sem = w };
	return 0;
}

/* The operations are copied once, with the first run. */
static int64_t sem_begin(struct task *t, const struct sysargs *a,
			 const struct linux_timespec *timeout)
{
	struct linux_sembuf sops[SEM_MAX_OPS];
	uint32_t nsops = (uint32_t)a->a[2];

	if (nsops < 1 || (int)a->a[0] < 0)
		return -EINVAL;
	if (nsops > SEM_MAX_OPS)
		return -E2BIG;
	if (guest_read(t->tid, sops, a->a[1], nsops * sizeof(sops[0])) < 0)
		return -EFAULT;
	if (timeout && (timeout->sec < 0 || timeout->nsec < 0 || timeout->nsec >= NSEC_PER_SEC))
		return -EINVAL;
	return wait_make(t, (int)a->a[0], nsops, sops);
}

static int64_t sem_do(struct task *t, const struct sysargs *a, const struct linux_timespec *timeout)
{
	struct sem_wait *w;
	int64_t r;

	if (!t->call.resumed) {
		r = sem_begin(t, a, timeout);
		if (r < 0)
			return r;
		if (timeout)
			call_set_timeout(t, timeout->sec >= TIME_NEVER / NSEC_PER_SEC
						    ? TIME_NEVER
						    : timeout->sec * NSEC_PER_SEC + timeout->nsec);
	}
	if (t->call.kept.kind != KEPT_SEM)
		return -EINVAL;
	w = t->call.kept.sem;
	if (w->set->gone)
		return -EIDRM;
	r = sem_try(w, t->proc);
	if (r <= 0)
		return r;
	return call_is_expired(t) ? -EAGAIN : call_wait(t, &w->set->q, ~0u, PARK_EINTR);
}

int64_t sys_semop(struct task *t, const struct sysargs *a)
{
	return sem_do(t, a, NULL);
}

int64_t sys_semtimedop(struct task *t, const struct sysargs *a)
{
	struct linux_timespec ts = { 0 };

	if (a->a[3] && !t->call.resumed && guest_get(t->tid, &ts, a->a[3]) < 0)
		return -EFAULT;
	return sem_do(t, a, a->a[3] ? &ts : NULL);
}

/* ---- control ---- */

static int64_t sem_put_stat(struct task *t, const struct sem_set *s, uaddr_t addr)
{
	struct linux_semid_ds ds = { .otime = s->otime, .ctime = s->obj.ctime, .nsems = s->nsems };

	ipc_perm_fill(&s->obj, &ds.perm);
	return guest_put(t->tid, addr, &ds);
}

static int64_t sem_info(struct task *t, int cmd, uaddr_t addr)
{
	struct linux_seminfo info = {
		.semmap = 1024000000,
		.semmni = SEM_MAX_SETS,
		.semmns = 1024000000,
		.semmnu = 1024000000,
		.semmsl = SEM_MAX_IN_SET,
		.semopm = SEM_MAX_OPS,
		.semume = SEM_MAX_OPS,
		.semusz = 20,
		.semvmx = SEM_MAX_VALUE,
		.semaem = SEM_MAX_VALUE,
	};

	if (cmd == LINUX_SEM_INFO) {
		info.semusz = (int32_t)sem_table.used;
		info.semaem = (int32_t)sem_total();
	}
	return guest_put(t->tid, addr, &info) < 0 ? -EFAULT : ipc_highest(&sem_table);
}

/* GETALL and SETALL. */
static int64_t sem_all(struct task *t, struct sem_set *s, bool set, uaddr_t addr)
{
	size_t size = s->nsems * sizeof(uint16_t);
	uint16_t *values = blob_new(size);
	int64_t r = 0;

	if (!values)
		return -ENOMEM;
	if (set) {
		r = guest_read(t->tid, values, addr, size);
		for (uint32_t i = 0; i < s->nsems && r == 0; i++)
			if (values[i] > SEM_MAX_VALUE)
				r = -ERANGE;
		for (uint32_t i = 0; i < s->nsems && r == 0; i++) {
			s->sems[i].value = values[i];
			s->sems[i].pid = t->proc->pid;
		}
		if (r == 0)
			sem_changed(s, -1);
	} else {
		for (uint32_t i = 0; i < s->nsems; i++)
			values[i] = (uint16_t)s->sems[i].value;
		r = guest_write(t->tid, addr, values, size);
	}
	blob_free(values, size);
	return r;
}

static int64_t sem_setval(struct task *t, struct sem_set *s, int num, int val)
{
	if (val < 0 || val > SEM_MAX_VALUE)
		return -ERANGE;
	if (num < 0 || (uint32_t)num >= s->nsems)
		return -EINVAL;
	if (ipc_permission(&s->obj, &t->cred, 0222) < 0)
		return -EACCES;
	s->sems[num].value = val;
	s->sems[num].pid = t->proc->pid;
	sem_changed(s, num);
	return 0;
}

static int64_t sem_one(struct task *t, struct sem_set *s, int cmd, int num)
{
	if (ipc_permission(&s->obj, &t->cred, 0444) < 0)
		return -EACCES;
	if (num < 0 || (uint32_t)num >= s->nsems)
		return -EINVAL;
	switch (cmd) {
	case GETVAL:
		return s->sems[num].value;
	case GETPID:
		return s->sems[num].pid;
	default:
		return sem_waiters(s, (uint32_t)num, cmd == GETZCNT);
	}
}

int64_t sys_semctl(struct task *t, const struct sysargs *a)
{
	int id = (int)a->a[0], num = (int)a->a[1], cmd = (int)a->a[2], r;
	bool by_place = cmd == LINUX_SEM_STAT || cmd == LINUX_SEM_STAT_ANY;
	struct linux_semid_ds ds;
	struct ipc_obj *o;

	if (id < 0)
		return -EINVAL;
	if (cmd == IPC_INFO || cmd == LINUX_SEM_INFO)
		return sem_info(t, cmd, a->a[3]);
	o = by_place ? ipc_at(&sem_table, id) : ipc_find(&sem_table, id);
	if (cmd == IPC_SET && guest_get(t->tid, &ds, a->a[3]) < 0)
		return -EFAULT;
	if (cmd == SETVAL && ((int)a->a[3] < 0 || (int)a->a[3] > SEM_MAX_VALUE))
		return -ERANGE;
	if (!o)
		return -EINVAL;
	switch (cmd) {
	case IPC_STAT:
	case LINUX_SEM_STAT:
	case LINUX_SEM_STAT_ANY:
		r = cmd == LINUX_SEM_STAT_ANY ? 0 : ipc_permission(o, &t->cred, 0444);
		if (r == 0)
			r = (int)sem_put_stat(t, set_of(o), a->a[3]);
		return r < 0 ? r : by_place ? o->id : 0;
	case GETALL:
	case SETALL:
		r = ipc_permission(o, &t->cred, cmd == SETALL ? 0222 : 0444);
		return r < 0 ? r : sem_all(t, set_of(o), cmd == SETALL, a->a[3]);
	case SETVAL:
		return sem_setval(t, set_of(o), num, (int)a->a[3]);
	case GETVAL:
	case GETPID:
	case GETNCNT:
	case GETZCNT:
		return sem_one(t, set_of(o), cmd, num);
	case IPC_RMID:
	case IPC_SET:
		if (ipc_owner(o, &t->cred) < 0)
			return -EPERM;
		if (cmd == IPC_SET)
			ipc_perm_set(o, &ds.perm);
		else
			sem_remove(set_of(o));
		return 0;
	default:
		return -EINVAL;
	}
}
