/* POSIX timers (ptimer.h).
 *
 * A timer on a clock of time is a ktimer; one on a clock of CPU time looks at the host's clock from
 * time to time, as the interval timers do. At most one signal of a timer is on its way: when a
 * repeating timer is due while its last signal has not been taken (it travels, or is blocked and
 * pending on the host), the expiry is counted, and the next signal carries the count as si_overrun.
 * Repeating timers run at most every 100 us; what lies between is overrun too.
 *
 * Who takes a signal with sigtimedwait or from a signalfd asks for its count then, by the signal's
 * number (seq): the stub takes it from the host first and asks after that, so the timer may have
 * sent the next one in between.
 *
 * Left out: a step of the host's wall clock does not move absolute timers on CLOCK_REALTIME that
 * run already, and the CPU clocks of other processes cannot be used. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <time.h>

#include "base/arena.h"
#include "host/host.h"
#include "host/procmem.h"
#include "kernel/abi/signal.h"
#include "kernel/platform/cell.h"
#include "kernel/task/clock.h"
#include "kernel/task/cputime.h"
#include "kernel/task/proc.h"
#include "kernel/task/ptimer.h"
#include "kernel/task/signal.h"
#include "kernel/task/task.h"

#define REPEAT_MIN 100000LL
#define RT_FIRST 32 /* the first signal number of which more than one can be queued */

enum ptimer_kind { TIMER_TIME, TIMER_CPU_PROC, TIMER_CPU_TASK };

struct ptimer {
	struct ptimer *next; /* of the same process */
	struct ktimer timer;
	struct proc *proc;
	int id;
	enum ptimer_kind kind;
	int clock; /* of a TIMER_TIME: CLOCK_REALTIME ... */
	enum host_cpuclock cpu_clock;
	pid_t cpu_tid; /* of a TIMER_CPU_TASK */
	int notify, signo;
	pid_t tid; /* of SIGEV_THREAD_ID */
	uint64_t value;
	int64_t due; /* on CLOCK_MONOTONIC, or on the CPU clock; 0: not running */
	int64_t interval;
	uint32_t seq; /* of the last signal */
	int64_t late; /* expiries that the last signal had missed when it was sent */
	int64_t overrun; /* expiries since the last signal that got none */
	int64_t before; /* what the signal before the last one missed in all */
	int64_t last_overrun; /* carried by the last signal */
	/* ptimer_taken() says when a signal is taken: the overrun is counted up to then */
	bool told;
	bool sent; /* a signal was sent since it was set */
	bool taken; /* ptimer_taken() said so of the last one */
};
OBJ_TYPE(ptimer_type, struct ptimer, 16384);

/* What to add to the timer's clock for CLOCK_MONOTONIC. */
static int64_t clock_offset(int clock)
{
	if (clock == CLOCK_MONOTONIC)
		return 0;
	if (clock == CLOCK_REALTIME)
		return now_mono() - now_real();
	return host_clock(CLOCK_MONOTONIC) - host_clock(clock);
}

/* Now, on the clock that due is measured with. */
static int64_t ptimer_now(const struct ptimer *pt)
{
	struct task *t;
	int64_t now = 0;

	switch (pt->kind) {
	case TIMER_TIME:
		return now_mono();
	case TIMER_CPU_PROC:
		now = host_proc_cputime(pt->proc->pid, pt->cpu_clock);
		break;
	case TIMER_CPU_TASK:
		t = task_find(pt->cpu_tid);
		if (t && t->proc == pt->proc)
			now = task_cputime(t);
		break;
	}
	return now < 0 ? 0 : now;
}

/* Plans the next look at a timer that runs. */
static int ptimer_plan(struct ptimer *pt, int64_t now)
{
	int64_t delay;

	if (pt->notify == LINUX_SIGEV_NONE)
		return 0; /* nobody hears of it: ptimer_get computes where it is */
	if (pt->kind == TIMER_TIME)
		return ktimer_start(&pt->timer, pt->due);
	delay = cputime_poll_delay(pt->due - now, pt->kind == TIMER_CPU_TASK);
	return ktimer_start(&pt->timer, now_mono() + delay);
}

/* Has the last signal not been taken yet? */
static bool ptimer_signal_pending(const struct ptimer *pt)
{
	struct host_status status;
	struct task *t, *any = NULL;
	uint64_t bit = SIGBIT(pt->signo);

	list_for_each(t, &pt->proc->threads, thread_link) {
		if (pt->notify == LINUX_SIGEV_THREAD_ID && t->tid != pt->tid)
			continue;
		any = t;
		if ((t->sig_sent & bit) || (pt->signo >= RT_FIRST && t->sig_inflight))
			return true;
	}
	if (pt->proc->held_set & bit) /* it waits for a signalfd to be read */
		return true;
	/* A blocked signal waits on the host. It is worth asking only for those that would queue
	 * up. */
	if (!any || pt->signo < RT_FIRST)
		return false;
	if (host_task_status(cell.proc_fd, pt->proc->pid, any->tid, &status) < 0)
		return false;
	return (status.sig_pnd | status.shd_pnd) & bit;
}

/* A repeating timer whose time has come: to the next moment after now. Returns how many were
 * skipped. */
static int64_t ptimer_forward(struct ptimer *pt, int64_t now)
{
	int64_t missed = (now - pt->due) / pt->interval;

	pt->due += (missed + 1) * pt->interval;
	return missed;
}

/* Plans the next look at a repeating timer, not too soon. */
static void ptimer_repeat(struct ptimer *pt, int64_t now)
{
	(void)ptimer_plan(pt, now);
	if (pt->timer.expires < now_mono() + REPEAT_MIN)
		(void)ktimer_start(&pt->timer, now_mono() + REPEAT_MIN);
}

/* Expiries that we have not looked at yet. */
static int64_t ptimer_catch_up(struct ptimer *pt)
{
	int64_t now = ptimer_now(pt), count;

	if (!pt->interval || !pt->due || pt->due > now)
		return 0;
	count = ptimer_forward(pt, now) + 1;
	ptimer_repeat(pt, now);
	return count;
}

/* late: how many expiries there have been since the one that the signal is for. */
static void ptimer_signal(struct ptimer *pt, int64_t late)
{
	struct linux_siginfo info = { .signo = pt->signo, .code = SI_TIMER };
	int64_t last = pt->last_overrun;
	struct task *t;
	bool unsaid = pt->sent && !pt->taken;
	int err = 0;

	if (pt->interval && pt->sent && ptimer_signal_pending(pt)) {
		pt->overrun += late + 1;
		return;
	}
	if (unsaid) { /* while we looked, time went on */
		now_update();
		late += ptimer_catch_up(pt);
	}
	if (!pt->told)
		last = MIN(pt->overrun + late, (int64_t)INT_MAX);
	info.u.timer.tid = pt->id;
	info.u.timer.overrun = (int32_t)last;
	info.u.timer.value = pt->value;
	info.u.timer.seq = pt->seq + 1;
	if (pt->notify == LINUX_SIGEV_THREAD_ID) {
		t = task_find(pt->tid);
		if (t && t->proc == pt->proc)
			err = signal_send_task(t, pt->signo, &info);
	} else {
		err = signal_send_proc(pt->proc, pt->signo, &info);
	}
	if (err < 0) { /* too many are queued: this one is lost and counted */
		pt->overrun += late + 1;
		return;
	}
	pt->seq++;
	/* If somebody has just taken the signal before and not said so yet, what came since the
	 * last look was most likely its. */
	pt->before = pt->late + pt->overrun + (unsaid ? late : 0);
	pt->late = unsaid ? 0 : late;
	pt->overrun = 0;
	pt->last_overrun = last;
	pt->sent = true;
	pt->taken = false;
}

static void ptimer_fired(struct ktimer *timer)
{
	struct ptimer *pt = container_of(timer, struct ptimer, timer);
	int64_t now = ptimer_now(pt), late = 0;

	if (now < pt->due) { /* a CPU clock that is not there yet */
		(void)ptimer_plan(pt, now);
		return;
	}
	if (pt->interval) {
		late = ptimer_forward(pt, now);
		ptimer_repeat(pt, now);
	} else {
		pt->due = 0;
	}
	ptimer_signal(pt, late);
}

/* Which clock: fills kind, clock, cpu_clock, cpu_tid. */
static int ptimer_set_clock(struct ptimer *pt, struct task *t, int clock)
{
	pid_t pid;
	struct task *of;

	switch (clock) {
	case CLOCK_REALTIME:
	case CLOCK_MONOTONIC:
	case CLOCK_BOOTTIME:
	case CLOCK_TAI:
		pt->kind = TIMER_TIME;
		pt->clock = clock;
		return 0;
	case CLOCK_PROCESS_CPUTIME_ID:
		pt->kind = TIMER_CPU_PROC;
		pt->cpu_clock = HOST_CPU_SCHED;
		return 0;
	case CLOCK_THREAD_CPUTIME_ID:
		pt->kind = TIMER_CPU_TASK;
		pt->cpu_tid = t->tid;
		return 0;
	case CLOCK_MONOTONIC_RAW:
	case CLOCK_REALTIME_COARSE:
	case CLOCK_MONOTONIC_COARSE:
		return -EOPNOTSUPP;
	case CLOCK_REALTIME_ALARM:
	case CLOCK_BOOTTIME_ALARM:
		return -EOPNOTSUPP; /* as on a machine without a clock that could wake it */
	default:
		break;
	}
	/* The CPU clock of a process or thread by number: ~number << 3, 4 for a thread, and which
	 * of the three. */
	if (clock >= 0 || (clock & 3) == 3)
		return -EINVAL;
	pid = ~(clock >> 3);
	if (clock & 4) {
		of = pid ? task_find(pid) : t;
		if (!of || of->proc != t->proc)
			return -EINVAL;
		pt->kind = TIMER_CPU_TASK;
		pt->cpu_tid = of->tid;
		return 0;
	}
	if (pid && pid != t->proc->pid)
		return -EINVAL;
	pt->kind = TIMER_CPU_PROC;
	pt->cpu_clock = (enum host_cpuclock)(clock & 3);
	return 0;
}

static int ptimer_set_event(struct ptimer *pt, const struct linux_sigevent *ev)
{
	struct task *t;

	if (!ev) {
		pt->notify = LINUX_SIGEV_SIGNAL;
		pt->signo = SIGALRM;
		pt->value = (uint64_t)(uint32_t)pt->id;
		return 0;
	}
	switch (ev->notify) {
	case LINUX_SIGEV_THREAD_ID:
		t = task_find(ev->tid);
		if (!t || t->proc != pt->proc)
			return -EINVAL;
		pt->tid = ev->tid;
		__attribute__((fallthrough));
	case LINUX_SIGEV_SIGNAL:
	case LINUX_SIGEV_THREAD:
		if (ev->signo <= 0 || ev->signo > LINUX_NSIG)
			return -EINVAL;
		break;
	case LINUX_SIGEV_NONE:
		break;
	default:
		return -EINVAL;
	}
	pt->notify = ev->notify;
	pt->signo = ev->signo;
	pt->value = ev->value;
	return 0;
}

int ptimer_new(struct task *t, int clock, const struct linux_sigevent *ev)
{
	struct proc *p = t->proc;
	struct ptimer probe = { 0 }, *pt;
	int err;

	probe.proc = p;
	err = ptimer_set_clock(&probe, t, clock);
	/* Clocks that could wake a machine are refused last. */
	if (err < 0 && (clock == CLOCK_REALTIME_ALARM || clock == CLOCK_BOOTTIME_ALARM)) {
		int bad = ptimer_set_event(&probe, ev);

		return bad < 0 ? bad : err;
	}
	if (err < 0)
		return err;
	pt = obj_new(&ptimer_type);
	if (!pt)
		return -EAGAIN;
	*pt = probe;
	pt->proc = p;
	ktimer_init(&pt->timer, ptimer_fired);
	do { /* ends: there are fewer timers than numbers */
		pt->id = p->next_timer_id;
		p->next_timer_id = (p->next_timer_id + 1) & INT_MAX;
	} while (ptimer_find(p, pt->id));
	err = ptimer_set_event(pt, ev);
	if (err < 0) {
		obj_free(&ptimer_type, pt);
		return err;
	}
	pt->next = p->ptimers;
	p->ptimers = pt;
	return pt->id;
}

struct ptimer *ptimer_find(struct proc *p, int id)
{
	for (struct ptimer *pt = p->ptimers; pt; pt = pt->next)
		if (pt->id == id)
			return pt;
	return NULL;
}

void ptimer_get(struct ptimer *pt, struct itimer_ns *out)
{
	int64_t now;

	*out = (struct itimer_ns){ 0, pt->interval };
	if (!pt->due)
		return;
	now = ptimer_now(pt);
	if (pt->due > now) {
		out->value = pt->due - now;
		return;
	}
	/* Due, but its signal is not sent yet; one that sends none is moved on here. */
	out->value = pt->notify == LINUX_SIGEV_NONE ? 0 : 1;
	if (pt->interval && pt->notify == LINUX_SIGEV_NONE) {
		(void)ptimer_forward(pt, now);
		out->value = pt->due - now;
	}
}

int ptimer_set(struct ptimer *pt, bool absolute, const struct itimer_ns *value)
{
	int64_t now, due = value->value, base = 0;
	int err;

	ktimer_stop(&pt->timer);
	pt->due = 0;
	pt->interval = value->interval;
	pt->late = pt->overrun = pt->before = pt->last_overrun = 0;
	pt->sent = pt->told = pt->taken = false;
	if (value->value == 0)
		return 0;
	now = ptimer_now(pt);
	if (!absolute)
		base = now;
	else if (pt->kind == TIMER_TIME)
		base = clock_offset(pt->clock);
	if (__builtin_add_overflow(due, base, &due))
		due = INT64_MAX - 1;
	pt->due = MAX(due, 1);
	err = ptimer_plan(pt, now);
	if (err < 0)
		pt->due = 0;
	return err;
}

/* The last signal is taken: what it missed before it was sent and since is its own. */
static void overrun_settle(struct ptimer *pt)
{
	pt->overrun += ptimer_catch_up(pt);
	pt->last_overrun = MIN(pt->late + pt->overrun, (int64_t)INT_MAX);
	pt->late = pt->overrun = 0;
}

int ptimer_overrun(struct ptimer *pt)
{
	if (!pt->told && pt->sent && pt->overrun && !ptimer_signal_pending(pt))
		overrun_settle(pt);
	return (int)pt->last_overrun;
}

int ptimer_taken(struct proc *p, int id, uint32_t seq)
{
	struct ptimer *pt = ptimer_find(p, id);

	if (!pt)
		return -1;
	if (!pt->sent)
		return (int)pt->last_overrun;
	pt->told = true;
	/* A standard signal that is pending stays the first one that was sent, however often it is
	 * sent again. */
	if (pt->signo >= RT_FIRST && seq + 1 == pt->seq) {
		pt->last_overrun = MIN(pt->before, (int64_t)INT_MAX);
	} else {
		overrun_settle(pt);
		pt->taken = true;
	}
	return (int)pt->last_overrun;
}

static void ptimer_release(struct ptimer *pt)
{
	ktimer_stop(&pt->timer);
	obj_free(&ptimer_type, pt);
}

void ptimer_free(struct ptimer *pt)
{
	struct ptimer **link = &pt->proc->ptimers;

	while (*link && *link != pt)
		link = &(*link)->next;
	if (*link)
		*link = pt->next;
	ptimer_release(pt);
}

void ptimers_free(struct proc *p)
{
	struct ptimer *pt;

	while ((pt = p->ptimers)) {
		p->ptimers = pt->next;
		ptimer_release(pt);
	}
	p->next_timer_id = 0;
}
