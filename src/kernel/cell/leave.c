/* See leave.h. A process can have tens of thousands of files open, and closing one can mean work:
 * locks go, others are woken, contents are freed. As on Linux that is done before its parent hears
 * of the end, and as there the others go on meanwhile: a process that is not done in one turn stays
 * in a list, without calls, and is gone on with after each event. */
#include "kernel/cell/leave.h"

#include "base/arena.h"
#include "kernel/task/call.h"
#include "kernel/task/clock.h"
#include "kernel/task/gate.h"
#include "kernel/task/proc.h"
#include "kernel/task/task.h"
#include "kernel/vfs/fdtable.h"

struct leaving {
	struct list link;
	pid_t pid;
	int wait_status;
	struct rusage usage;
};
OBJ_TYPE(leaving_type, struct leaving, 0);

static struct list leaving = LIST_INIT(leaving);

static uint32_t sharers(const struct proc *p, const struct fdtable *ft)
{
	struct task *t;
	uint32_t n = 0;

	list_for_each(t, &p->threads, thread_link)
		n += t->files == ft;
	return n;
}

/* Whether only p has it. */
static bool is_own(const struct proc *p, const struct fdtable *ft)
{
	return ft->refs == 1 || (ft->refs <= p->nthreads && ft->refs == sharers(p, ft));
}

/* False: there is more. A table that others have too stays as it is; threads go but for the last,
 * whose name and owner its zombie shows. */
static bool parts_end(struct proc *p)
{
	const struct fdtable *others = NULL;
	struct task *t, *tmp;

	list_for_each(t, &p->threads, thread_link) {
		if (!t->files || !t->files->open || t->files == others)
			continue;
		if (!is_own(p, t->files))
			others = t->files;
		else if (!fdtable_close(t->files, t))
			return false;
		if (turn_is_long())
			return false;
	}
	list_for_each_safe(t, tmp, &p->threads, thread_link) {
		if (p->nthreads == 1)
			break;
		if (t->tid == p->pid)
			continue;
		task_free(t);
		if (turn_is_long())
			return false;
	}
	return true;
}

static void go_on(struct ktimer *timer)
{
	struct leaving *l, *tmp;

	list_for_each_safe(l, tmp, &leaving, link) {
		struct proc *p = proc_find(l->pid);

		if (turn_is_long() || (p && !parts_end(p)))
			break;
		list_remove(&l->link);
		if (p)
			proc_exit(p, l->wait_status, &l->usage);
		obj_free(&leaving_type, l);
	}
	if (!list_is_empty(&leaving)) /* there is room for it: it has just run */
		(void)ktimer_start(timer, now_mono() + 1);
}
KTIMER(timer, go_on);

void proc_leave(struct proc *p, int wait_status, const struct rusage *usage)
{
	struct leaving *l;
	struct task *t;

	if (p->state == PROC_ZOMBIE || p->leaving)
		return;
	/* It waits for nothing any more, and must take nothing that is for others. */
	list_for_each(t, &p->threads, thread_link)
		call_leave(t, CALL_LOST);
	p->exiting = true;
	if (parts_end(p) ||
	    (!ktimer_is_started(&timer) && ktimer_start(&timer, now_mono() + 1) < 0) ||
	    !(l = obj_new(&leaving_type))) {
		proc_exit(p, wait_status, usage);
		return;
	}
	p->leaving = true;
	*l = (struct leaving){ .pid = p->pid, .wait_status = wait_status, .usage = *usage };
	list_append(&leaving, &l->link);
}
