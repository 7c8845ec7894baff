/* The interval timers of a process (itimer.h).
 *
 * ITIMER_REAL is proc->alarm. The two that count CPU time watch the host's clock of the process: it
 * cannot have moved by more than the wall clock times the number of CPUs, so the next look is
 * planned for the earliest moment at which the timer can be due, never sooner than 2 ms. They may
 * be late by about that. */
#include <errno.h>
#include <signal.h>
#include <sys/time.h>

#include "base/arena.h"
#include "host/procmem.h"
#include "kernel/task/clock.h"
#include "kernel/task/cputime.h"
#include "kernel/task/itimer.h"
#include "kernel/task/proc.h"
#include "kernel/task/ptimer.h"
#include "kernel/task/signal.h"

/* A repeating timer runs no oftener than this, so that a guest cannot keep the main loop busy with
 * one. */
#define REPEAT_MIN 100000LL
#define INTERVAL_MAX \
	(INT64_MAX / 4) /* a longer one, though it is told as it was set, ends no later */

struct cpu_itimer {
	struct ktimer timer;
	struct proc *proc;
	enum host_cpuclock clock;
	int sig;
	int64_t target; /* on that clock; 0: not running */
	int64_t interval;
};

struct cpu_itimers {
	struct cpu_itimer virt, prof;
};
OBJ_TYPE(cpu_itimers_type, struct cpu_itimers, 65536);

static void alarm_fired(struct ktimer *timer)
{
	struct proc *p = container_of(timer, struct proc, alarm);
	int64_t now = now_mono(), step = MIN(p->alarm_interval, INTERVAL_MAX), next;

	if (step) {
		next = timer->expires + step;
		if (next <= now)
			next += (now - next) / step * step + step;
		/* It was in the heap a moment ago: there is room. */
		(void)ktimer_start(timer, MAX(next, now + REPEAT_MIN));
	}
	signal_send_proc(p, SIGALRM, NULL);
}

static int64_t cpu_now(const struct cpu_itimer *it)
{
	int64_t now = host_proc_cputime(it->proc->pid, it->clock);

	return now < 0 ? 0 : now;
}

static void cpu_fired(struct ktimer *timer)
{
	struct cpu_itimer *it = container_of(timer, struct cpu_itimer, timer);
	int64_t now = cpu_now(it);
	bool due = now >= it->target;

	if (due && it->interval) {
		int64_t step = MIN(it->interval, INTERVAL_MAX);

		it->target += (now - it->target) / step * step + step;
	}
	if (due && !it->interval)
		it->target = 0;
	if (it->target)
		(void)ktimer_start(timer, now_mono() + cputime_poll_delay(it->target - now, false));
	if (due)
		signal_send_proc(it->proc, it->sig, NULL);
}

static struct cpu_itimer *cpu_itimer_of(struct proc *p, int which)
{
	return which == ITIMER_VIRTUAL ? &p->cpu_itimers->virt : &p->cpu_itimers->prof;
}

static void cpu_itimer_init(struct cpu_itimer *it, struct proc *p, enum host_cpuclock clock,
			    int sig)
{
	ktimer_init(&it->timer, cpu_fired);
	it->proc = p;
	it->clock = clock;
	it->sig = sig;
}

void itimer_get(struct proc *p, int which, struct itimer_ns *out)
{
	struct cpu_itimer *it;

	*out = (struct itimer_ns){ 0, 0 };
	if (which == ITIMER_REAL) {
		out->interval = p->alarm_interval;
		if (ktimer_is_started(
			    &p->alarm)) /* one that is due but has not run shows a little */
			out->value = MAX(p->alarm.expires - now_mono(), 1000);
		return;
	}
	if (!p->cpu_itimers)
		return;
	it = cpu_itimer_of(p, which);
	out->interval = it->interval;
	if (it->target)
		out->value = MAX(it->target - cpu_now(it), 1000);
}

static int cpu_itimer_set(struct proc *p, int which, const struct itimer_ns *value)
{
	struct cpu_itimer *it;
	int err;

	if (!p->cpu_itimers) {
		if (value->value == 0 && value->interval == 0)
			return 0;
		p->cpu_itimers = obj_new(&cpu_itimers_type);
		if (!p->cpu_itimers)
			return -ENOMEM;
		cpu_itimer_init(&p->cpu_itimers->virt, p, HOST_CPU_VIRT, SIGVTALRM);
		cpu_itimer_init(&p->cpu_itimers->prof, p, HOST_CPU_PROF, SIGPROF);
	}
	it = cpu_itimer_of(p, which);
	if (value->value) {
		err = ktimer_start(&it->timer,
				   now_mono() + cputime_poll_delay(value->value, false));
		if (err < 0)
			return err;
		it->target = cpu_now(it) + value->value;
		it->interval = value->interval;
	} else {
		ktimer_stop(&it->timer);
		it->target = 0;
		it->interval = value->interval; /* kept, unlike that of ITIMER_REAL */
	}
	return 0;
}

int itimer_set(struct proc *p, int which, const struct itimer_ns *value)
{
	int err;

	if (which != ITIMER_REAL)
		return cpu_itimer_set(p, which, value);
	p->alarm.fn = CALLBACK(alarm_fired);
	if (value->value) {
		err = ktimer_start(&p->alarm, now_mono() + value->value);
		if (err < 0)
			return err;
		p->alarm_interval = value->interval;
	} else {
		ktimer_stop(&p->alarm);
		p->alarm_interval = 0;
	}
	return 0;
}

void timers_free(struct proc *p)
{
	ktimer_stop(&p->alarm);
	p->alarm_interval = 0;
	if (p->cpu_itimers) {
		ktimer_stop(&p->cpu_itimers->virt.timer);
		ktimer_stop(&p->cpu_itimers->prof.timer);
		obj_free(&cpu_itimers_type, p->cpu_itimers);
		p->cpu_itimers = NULL;
	}
	ptimers_free(p);
}
