/* Handles on processes; see pidref.h. A process holds one reference to its handle from the first
 * time that somebody asks for it until it has been waited for. */
#include <poll.h>

#include "base/arena.h"
#include "base/ref.h"
#include "kernel/task/pidref.h"
#include "kernel/task/proc.h"

OBJ_TYPE(pidref_type, struct pidref, 65536);

static struct pidref init_ref = { .refs = 1, .pid = 1, .q = WAITQ_INIT(init_ref.q) };

struct pidref *pidref_get(struct pidref *r)
{
	ref_get(&r->refs);
	return r;
}

void pidref_put(struct pidref *r)
{
	if (!r || !ref_put(&r->refs))
		return;
	waitq_fini(&r->q);
	obj_free(&pidref_type, r);
}

struct pidref *pidref_new_unborn(void)
{
	struct pidref *r = obj_new(&pidref_type);

	if (!r)
		return NULL;
	r->refs = 1;
	r->unborn = true;
	waitq_init(&r->q);
	return r;
}

void pidref_attach(struct pidref *r, struct proc *p)
{
	if (!r->unborn || p->pidref)
		return;
	r->unborn = false;
	r->pid = p->pid;
	r->proc = p;
	p->pidref = pidref_get(r);
}

void pidref_cancel(struct pidref *r)
{
	if (!r->unborn)
		return;
	r->unborn = false;
	waitq_wake(&r->q, ~0u);
}

struct pidref *pidref_of(struct proc *p)
{
	struct pidref *r;

	if (p->pidref)
		return pidref_get(p->pidref);
	r = pidref_new_unborn();
	if (r)
		pidref_attach(r, p);
	return r;
}

struct pidref *pidref_of_init(void)
{
	return pidref_get(&init_ref);
}

bool pidref_is_gone(const struct pidref *r)
{
	return !r->unborn && !r->proc && r->pid != 1;
}

bool pidref_has_ended(const struct pidref *r)
{
	return pidref_is_gone(r) || (r->proc && r->proc->state == PROC_ZOMBIE);
}

void pidref_proc_ended(struct proc *p)
{
	if (p->pidref)
		waitq_wake(&p->pidref->q, POLLIN | POLLRDNORM);
}

void pidref_proc_forget(struct proc *p)
{
	struct pidref *r = p->pidref;

	if (!r)
		return;
	p->pidref = NULL;
	r->proc = NULL;
	waitq_wake(&r->q, POLLIN | POLLRDNORM | POLLHUP);
	pidref_put(r);
}
