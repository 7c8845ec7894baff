/* Semaphore sets.
 *
 * A call's operations are tried one after the other and taken back when one has to wait. Whoever
 * waits is woken at each change of the set and tries again, in the order in which the calls came.
 * SEM_UNDO: each process has, for each set that it used so, the values to add at its end; threads
 * share them. */
#include "kernel/ipc/sem.h"

#include <errno.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/sem.h>

#include "base/arena.h"
#include "base/ref.h"
#include "kernel/task/proc.h"
#include "kernel/task/task.h"

struct sem_undo {
	struct sem_undo *next; /* of the same process */
	struct list link; /* of the same set */
	struct proc *proc;
	struct sem_set *set;
	int16_t *adj; /* blob, one for each semaphore */
};
OBJ_TYPE(sem_set_type, struct sem_set, SEM_MAX_SETS);
OBJ_TYPE(sem_undo_type, struct sem_undo, 32000);

IPC_TABLE(sem_table, SEM_MAX_SETS);
static uint32_t total;

uint32_t sem_total(void)
{
	return total;
}

int sem_new(struct task *t, int32_t key, uint32_t nsems, int flags, struct sem_set **ret_)
{
	struct sem_set *s;
	int r;

	if (sem_table.used >= sem_table.max || nsems > SEM_MAX_ALL - total)
		return -ENOSPC;
	s = obj_new(&sem_set_type);
	if (!s)
		return -ENOSPC;
	s->sems = blob_new(nsems * sizeof(*s->sems));
	r = s->sems ? ipc_add(&sem_table, &s->obj, &t->cred, key, flags) : -ENOMEM;
	if (r < 0) {
		if (s->sems)
			blob_free(s->sems, nsems * sizeof(*s->sems));
		obj_free(&sem_set_type, s);
		return r;
	}
	memset(s->sems, 0, nsems * sizeof(*s->sems));
	s->nsems = nsems;
	s->refs = 1;
	list_init(&s->undos);
	list_init(&s->waiting);
	waitq_init(&s->q);
	total += nsems;
	*ret_ = s;
	return 0;
}

void sem_set_put(struct sem_set *s)
{
	if (!ref_put(&s->refs))
		return;
	waitq_fini(&s->q);
	blob_free(s->sems, s->nsems * sizeof(*s->sems));
	obj_free(&sem_set_type, s);
}

static void undo_free(struct sem_undo *u)
{
	struct sem_undo **at = &u->proc->sem_undo;

	while (*at != u)
		at = &(*at)->next;
	*at = u->next;
	list_remove(&u->link);
	blob_free(u->adj, u->set->nsems * sizeof(*u->adj));
	obj_free(&sem_undo_type, u);
}

void sem_remove(struct sem_set *s)
{
	while (!list_is_empty(&s->undos))
		undo_free(list_first(&s->undos, struct sem_undo, link));
	ipc_remove(&sem_table, &s->obj);
	total -= s->nsems;
	s->gone = true;
	waitq_wake(&s->q, ~0u);
	sem_set_put(s);
}

void sem_changed(struct sem_set *s, int num)
{
	struct sem_undo *u;

	list_for_each(u, &s->undos, link) {
		if (num < 0)
			memset(u->adj, 0, s->nsems * sizeof(*u->adj));
		else
			u->adj[num] = 0;
	}
	s->obj.ctime = ipc_now();
	waitq_wake(&s->q, ~0u);
}

static struct sem_undo *undo_get(struct sem_set *s, struct proc *p)
{
	struct sem_undo *u;

	for (u = p->sem_undo; u; u = u->next)
		if (u->set == s)
			return u;
	u = obj_new(&sem_undo_type);
	if (!u)
		return NULL;
	u->adj = blob_new(s->nsems * sizeof(*u->adj));
	if (!u->adj) {
		obj_free(&sem_undo_type, u);
		return NULL;
	}
	memset(u->adj, 0, s->nsems * sizeof(*u->adj));
	u->set = s;
	u->proc = p;
	u->next = p->sem_undo;
	p->sem_undo = u;
	list_append(&s->undos, &u->link);
	return u;
}

/* Takes the first n operations back. */
static void ops_revert(struct sem_wait *w, struct sem_undo *u, uint32_t n)
{
	while (n--) {
		const struct linux_sembuf *op = &w->sops[n];

		w->set->sems[op->num].value -= op->op;
		if (op->flg & SEM_UNDO)
			u->adj[op->num] = (int16_t)(u->adj[op->num] + op->op);
	}
}

int sem_try(struct sem_wait *w, struct proc *p)
{
	struct sem_set *s = w->set;
	struct sem_undo *u = NULL;
	bool altered = false;
	uint32_t i;

	for (i = 0; i < w->nsops; i++)
		if ((w->sops[i].flg & SEM_UNDO) && !u) {
			u = undo_get(s, p);
			if (!u)
				return -ENOMEM;
		}
	for (i = 0; i < w->nsops; i++) {
		const struct linux_sembuf *op = &w->sops[i];
		struct sem *sem = &s->sems[op->num];
		int32_t value = sem->value + op->op, adj;

		if ((!op->op && sem->value) || value < 0) {
			ops_revert(w, u, i);
			w->on = op->num;
			w->on_zero = !op->op;
			return op->flg & IPC_NOWAIT ? -EAGAIN : 1;
		}
		adj = op->flg & SEM_UNDO ? u->adj[op->num] - op->op : 0;
		if (value > SEM_MAX_VALUE || adj < -SEM_MAX_VALUE - 1 || adj > SEM_MAX_VALUE) {
			ops_revert(w, u, i);
			return -ERANGE;
		}
		sem->value = value;
		if (op->flg & SEM_UNDO)
			u->adj[op->num] = (int16_t)adj;
		altered |= op->op != 0;
	}
	for (i = 0; i < w->nsops; i++)
		s->sems[w->sops[i].num].pid = p->pid;
	s->otime = ipc_now();
	if (altered)
		waitq_wake(&s->q, ~0u);
	return 0;
}

uint32_t sem_waiters(const struct sem_set *s, uint32_t num, bool zero)
{
	struct sem_wait *w;
	uint32_t n = 0;

	list_for_each(w, &s->waiting, link)
		n += w->on == num && w->on_zero == zero;
	return n;
}

void sem_undo_all(struct proc *p)
{
	while (p->sem_undo) {
		struct sem_undo *u = p->sem_undo;
		struct sem_set *s = u->set;

		for (uint32_t i = 0; i < s->nsems; i++) {
			int32_t value = s->sems[i].value + u->adj[i];

			if (!u->adj[i])
				continue;
			s->sems[i].value = MIN(MAX(value, 0), SEM_MAX_VALUE);
			s->sems[i].pid = p->pid;
		}
		s->otime = ipc_now();
		undo_free(u);
		waitq_wake(&s->q, ~0u);
	}
}
