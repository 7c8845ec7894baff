/* CPU time and other figures of processes (cputime.h).
 *
 * The host's clock of a process is exact but does not say how much was user and how much system
 * time; that ratio comes from its tick counts. The sum is split by the ratio the way Linux does it,
 * and what was shown before is remembered so that neither part goes back. Peak memory and context
 * switches are read from the host's status file. */
#include <time.h>

#include "host/procmem.h"
#include "kernel/platform/cell.h"
#include "kernel/task/clock.h"
#include "kernel/task/cputime.h"
#include "kernel/task/proc.h"
#include "kernel/task/task.h"

#define NSEC_PER_TICK (NSEC_PER_SEC / HOST_TICKS)
#define POLL_MIN 2000000LL
#define POLL_MAX 100000000LL
#define MEM_FRESH 100000000LL
#define SUM_MAX 512 /* processes that are asked: more would take too long for one call */

static struct timeval ns_to_timeval(int64_t ns)
{
	return (struct timeval){ ns / NSEC_PER_SEC, ns % NSEC_PER_SEC / 1000 };
}

static int64_t timeval_to_ns(const struct timeval *tv)
{
	return tv->tv_sec * NSEC_PER_SEC + tv->tv_usec * 1000;
}

void proc_cputime(struct proc *p, int64_t *ret_utime, int64_t *ret_stime)
{
	int64_t sum, both, user, stime, utime;

	if (p->state == PROC_ZOMBIE) {
		*ret_utime = timeval_to_ns(&p->usage.ru_utime);
		*ret_stime = timeval_to_ns(&p->usage.ru_stime);
		return;
	}
	sum = host_proc_cputime(p->pid, HOST_CPU_SCHED);
	if (sum > p->prev_utime + p->prev_stime) {
		both = host_proc_cputime(p->pid, HOST_CPU_PROF);
		user = host_proc_cputime(p->pid, HOST_CPU_VIRT);
		if (user < 0 || both <= 0 || user >= both)
			stime = 0;
		else
			stime = (int64_t)((double)sum * (double)(both - user) / (double)both);
		stime = MAX(stime, p->prev_stime);
		utime = sum - stime;
		if (utime < p->prev_utime) {
			utime = p->prev_utime;
			stime = sum - utime;
		}
		p->prev_utime = utime;
		p->prev_stime = stime;
	}
	*ret_utime = p->prev_utime;
	*ret_stime = p->prev_stime;
}

static void rusage_from_stat(struct rusage *out, const struct host_stat *st)
{
	out->ru_minflt = (long)st->minflt;
	out->ru_majflt = (long)st->majflt;
}

static void rusage_from_status(struct rusage *out, pid_t pid, pid_t tid)
{
	struct host_status status;

	if (host_task_status(cell.proc_fd, pid, tid, &status) < 0)
		return;
	out->ru_maxrss = (long)(status.hwm / 1024);
	out->ru_nvcsw = (long)status.nvcsw;
	out->ru_nivcsw = (long)status.nivcsw;
}

void proc_rusage(struct proc *p, struct rusage *out)
{
	struct task *leader = proc_leader(p);
	struct host_stat st;
	int64_t utime, stime;

	if (p->state == PROC_ZOMBIE || !leader) {
		*out = p->usage;
		return;
	}
	*out = (struct rusage){ 0 };
	proc_cputime(p, &utime, &stime);
	out->ru_utime = ns_to_timeval(utime);
	out->ru_stime = ns_to_timeval(stime);
	if (host_proc_stat(cell.proc_fd, p->pid, &st) == 0)
		rusage_from_stat(out, &st);
	rusage_from_status(out, p->pid, leader->tid);
}

void task_rusage(struct task *t, struct rusage *out)
{
	struct host_stat st;

	*out = (struct rusage){ 0 };
	if (host_task_stat(cell.proc_fd, t->proc->pid, t->tid, &st) == 0) {
		rusage_from_stat(out, &st);
		out->ru_utime = ns_to_timeval((int64_t)st.utime * NSEC_PER_TICK);
		out->ru_stime = ns_to_timeval((int64_t)st.stime * NSEC_PER_TICK);
	}
	rusage_from_status(out, t->proc->pid, t->tid);
}

int64_t task_cputime(struct task *t)
{
	struct host_stat st;

	if (host_task_stat(cell.proc_fd, t->proc->pid, t->tid, &st) < 0)
		return 0;
	return (int64_t)(st.utime + st.stime) * NSEC_PER_TICK;
}

void rusage_add(struct rusage *sum, const struct rusage *more)
{
	sum->ru_utime =
		ns_to_timeval(timeval_to_ns(&sum->ru_utime) + timeval_to_ns(&more->ru_utime));
	sum->ru_stime =
		ns_to_timeval(timeval_to_ns(&sum->ru_stime) + timeval_to_ns(&more->ru_stime));
	sum->ru_maxrss = MAX(sum->ru_maxrss, more->ru_maxrss);
	sum->ru_minflt += more->ru_minflt;
	sum->ru_majflt += more->ru_majflt;
	sum->ru_inblock += more->ru_inblock;
	sum->ru_oublock += more->ru_oublock;
	sum->ru_nvcsw += more->ru_nvcsw;
	sum->ru_nivcsw += more->ru_nivcsw;
}

int64_t cputime_poll_delay(int64_t remaining, bool one_thread)
{
	int64_t cpus = one_thread || cell.spec.cpus == 0 ? 1 : cell.spec.cpus;
	int64_t delay = remaining / cpus;

	return delay < POLL_MIN ? POLL_MIN : MIN(delay, POLL_MAX);
}

void mem_figures_get(struct mem_figures *out)
{
	static struct mem_figures last;
	static int64_t last_time;
	static uint64_t limit; /* that they are for */
	struct host_memory host;
	struct host_stat st;
	unsigned asked = 0;

	if (last.total && limit == cell.spec.memory && now_mono() - last_time < MEM_FRESH) {
		*out = last;
		return;
	}
	if (host_memory(&host) < 0)
		host = (struct host_memory){ 1UL << 30, 1UL << 29 };
	last.total = cell.spec.memory ? MIN(cell.spec.memory, host.total) : host.total;
	limit = cell.spec.memory;
	last.total -= last.total % PAGE_SIZE;
	last.used = 0;
	for (struct proc *p = proc_next(NULL); p && asked < SUM_MAX; p = proc_next(p), asked++)
		if (p->state != PROC_ZOMBIE && host_proc_stat(cell.proc_fd, p->pid, &st) == 0)
			last.used += st.rss;
	last.used = MIN(last.used, last.total);
	last.available = MIN(last.total - last.used, host.free);
	last_time = now_mono();
	*out = last;
}
