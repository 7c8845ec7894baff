/* What a new thread takes over from the one that made it, as far as only the scheduling calls care
 * about it. The host gives its own threads the same CPUs and nice value by itself. */
#include <sched.h>

#include "kernel/task/task.h"

#define TIMERSLACK_NS 50000u

uint32_t task_timerslack(const struct task *t)
{
	return t->timerslack_ns	       ? t->timerslack_ns
	       : t->timerslack_default ? t->timerslack_default
				       : TIMERSLACK_NS;
}

void task_inherit_sched(struct task *child, const struct task *maker)
{
	child->affinity = maker->affinity;
	child->timerslack_ns = 0;
	child->timerslack_default = task_timerslack(maker);
	child->ioprio = maker->ioprio;
	child->nice = maker->nice;
	child->sched_policy = maker->sched_policy;
	child->sched_prio = maker->sched_prio;
	child->sched_reset = false;
	if (maker->sched_reset && child->sched_policy != SCHED_BATCH) {
		child->sched_policy = SCHED_OTHER;
		child->sched_prio = 0;
	}
}
