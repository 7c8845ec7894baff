/* What a new thread takes over from the one that made it, as far as only the scheduling calls care
 * about it. The host gives its own threads the same CPUs and nice value by itself. */
#include <sched.h>

#include "kernel/task/task.h"

void task_inherit_sched(struct task *child, const struct task *maker)
{
	child->affinity = maker->affinity;
	child->timerslack_ns = maker->timerslack_ns;
	child->ioprio = maker->ioprio;
	child->sched_policy = maker->sched_policy;
	child->sched_prio = maker->sched_prio;
	child->sched_reset = false;
	if (maker->sched_reset && child->sched_policy != SCHED_BATCH) {
		child->sched_policy = SCHED_OTHER;
		child->sched_prio = 0;
	}
}
