/* The memory limit by our own accounting: where the host gives us no cgroup, resident memory of all processes is summed fifty times a
 * second, and when it is over the limit the largest process is ended with SIGKILL, as Linux's own out-of-memory killer would. A
 * process can exceed the limit for the length of one period; a cgroup does not allow that and is used where it can be had. */
#include <signal.h>

#include "host/bootspec.h"
#include "host/procmem.h"
#include "kernel/cell/control.h"
#include "kernel/cell/memory.h"
#include "kernel/platform/cell.h"
#include "kernel/sys/strays.h"
#include "kernel/task/task.h"

#define PERIOD (20 * 1000000L)

static struct ktimer timer;

static uint64_t resident(struct proc *p)
{
	struct host_stat st;

	if (p->state == PROC_ZOMBIE || host_proc_stat(cell.proc_fd, p->pid, &st) < 0)
		return 0;
	return st.rss;
}

static void check(struct ktimer *t)
{
	uint64_t sum = 0, most = 0;
	struct proc *worst = NULL;

	for (struct proc *p = proc_next(NULL); p; p = proc_next(p)) {
		uint64_t n =
			p->exiting
				? 0
				: resident(
					  p); /* what is ending gives its memory back in a moment */

		sum += n;
		if (n > most) {
			most = n;
			worst = p;
		}
	}
	if (sum > cell.spec.memory && worst) {
		control_say(CTL_EVENT, 0,
			    "out of memory: process %d (%s) was killed; the cell may use %lu MiB",
			    worst->pid, proc_leader(worst) ? proc_leader(worst)->comm : "?",
			    (unsigned long)(cell.spec.memory >> 20));
		proc_kill(worst, 0);
	}
	strays_sweep(); /* their memory is in no sum */
	(void)ktimer_start(t, now_mono() + PERIOD);
}

void memory_watch(void)
{
	if (!cell.spec.memory || cell.spec.memory_enforced || cell.proc_fd < 0)
		return;
	ktimer_init(&timer, check);
	(void)ktimer_start(&timer, now_mono() + PERIOD);
}
