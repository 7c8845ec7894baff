/* The memory limit by our own accounting: where the host gives us no cgroup, memory is summed fifty times a second, and when it is over
 * the limit the largest process is ended with SIGKILL, as Linux's own out-of-memory killer would. A process can exceed the limit
 * for the length of one period; a cgroup does not allow that and is used where it can be had.
 *
 * Summed are the resident memory of all processes, and of what files hold (the cell's layer, its tmpfs, shared memory, memfds) as
 * much as is not mapped and so is in no process's sum. */
#include <signal.h>
#include <sys/statfs.h>

#include "host/bootspec.h"
#include "host/host.h"
#include "host/procmem.h"
#include "kernel/cell/control.h"
#include "kernel/cell/gauges.h"
#include "kernel/cell/memory.h"
#include "kernel/fs/memfd/memfd.h"
#include "kernel/platform/cell.h"
#include "kernel/sys/strays.h"
#include "kernel/task/task.h"

#define PERIOD (20 * 1000000L)
/* Where a cgroup enforces the limit, it is only looked how near it is. */
#define IDLE_PERIOD (2 * NSEC_PER_SEC)

static struct ktimer timer;

/* Of any thread that lives: a first thread that has ended shows nothing. */
static uint64_t resident(struct proc *p, uint64_t *shmem)
{
	struct task *t = proc_leader(p);
	struct host_status st;

	/* What is ending gives its memory back in a moment. */
	if (p->state == PROC_ZOMBIE || p->exiting || !t ||
	    host_task_status(cell.proc_fd, p->pid, t->tid, &st) < 0)
		return 0;
	*shmem += st.shmem;
	return st.rss;
}

static uint64_t file_bytes(void)
{
	uint64_t n = memfds_size();
	struct statfs st;

	if (cell.scratch_fd >= 0 && host_fstatfs(cell.scratch_fd, &st) == 0)
		n += (uint64_t)(st.f_blocks - st.f_bfree) * (uint64_t)st.f_bsize;
	return n;
}

/* What the cell uses; *ret_worst: the process that uses most. */
static uint64_t used(struct proc **ret_worst)
{
	uint64_t sum = 0, most = 0, shmem = 0, files = file_bytes();

	*ret_worst = NULL;
	for (struct proc *p = proc_next(NULL); p; p = proc_next(p)) {
		uint64_t n = resident(p, &shmem);

		sum += n;
		if (n > most) {
			most = n;
			*ret_worst = p;
		}
	}
	return files > shmem ? sum + files - shmem : sum;
}

uint64_t memory_used(void)
{
	struct proc *worst;

	return cell.proc_fd < 0 ? 0 : used(&worst);
}

static void check(struct ktimer *t)
{
	struct proc *worst;
	uint64_t sum = used(&worst);

	gauge_set(LIMIT_MEMORY, sum, cell.spec.memory);
	if (cell.spec.memory_enforced) {
		(void)ktimer_start(t, now_mono() + (sum > cell.spec.memory / 2 ? NSEC_PER_SEC
									       : IDLE_PERIOD));
		return;
	}
	if (sum > cell.spec.memory && worst) {
		control_say(CTL_EVENT, 1,
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
	static bool ready;

	if (!ready)
		ktimer_init(&timer, check);
	ready = true;
	if (!cell.spec.memory || cell.proc_fd < 0)
		ktimer_stop(&timer);
	else
		(void)ktimer_start(&timer, now_mono() + PERIOD);
}
