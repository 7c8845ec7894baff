/* Alarms, interval timers, POSIX timers and times. The clocks themselves run natively; the timers
 * are in task/itimer.c and task/ptimer.c. Reading one's clock never fails; starting one can, when
 * there are too many. */
#include <errno.h>
#include <limits.h>
#include <sys/time.h>
#include <time.h>

#include "host/procmem.h"
#include "kernel/abi/time.h"
#include "kernel/platform/guestmem.h"
#include "kernel/sys/handlers.h"
#include "kernel/sys/target.h"
#include "kernel/task/call.h"
#include "kernel/task/clock.h"
#include "kernel/task/cputime.h"
#include "kernel/task/itimer.h"
#include "kernel/task/proc.h"
#include "kernel/task/ptimer.h"
#include "kernel/task/task.h"

#define NSEC_PER_TICK (NSEC_PER_SEC / HOST_TICKS)

/* Seconds that fit in ns with room for additions; Linux cuts at the same order of magnitude. */
#define SEC_MAX (INT64_MAX / NSEC_PER_SEC / 4)

static int64_t to_ns(int64_t sec, int64_t nsec)
{
	return sec > SEC_MAX ? SEC_MAX * NSEC_PER_SEC : sec * NSEC_PER_SEC + nsec;
}

/* ---- alarm and interval timers ---- */

static bool timeval_is_valid(const struct linux_timeval *tv)
{
	return tv->sec >= 0 && tv->usec >= 0 && tv->usec < 1000000;
}

static struct linux_timeval to_timeval(int64_t ns)
{
	return (struct linux_timeval){ ns / NSEC_PER_SEC, ns % NSEC_PER_SEC / 1000 };
}

static struct linux_itimerval to_itimerval(const struct itimer_ns *it)
{
	return (struct linux_itimerval){ to_timeval(it->interval), to_timeval(it->value) };
}

int64_t sys_alarm(struct task *t, const struct sysargs *a)
{
	struct itimer_ns old, set = { 0, 0 };
	int64_t seconds;
	int err;

	itimer_get(t->proc, ITIMER_REAL, &old);
	set.value = (int64_t)(uint32_t)a->a[0] * NSEC_PER_SEC;
	err = itimer_set(t->proc, ITIMER_REAL, &set);
	if (err < 0)
		return err;
	seconds = old.value / NSEC_PER_SEC;
	/* Rounded, but an alarm that is set never reads as none. */
	if (old.value % NSEC_PER_SEC >= NSEC_PER_SEC / 2 || (old.value && !seconds))
		seconds++;
	return seconds;
}

int64_t sys_getitimer(struct task *t, const struct sysargs *a)
{
	int which = (int)a->a[0];
	struct itimer_ns it;
	struct linux_itimerval out;

	if (which < ITIMER_REAL || which > ITIMER_PROF)
		return -EINVAL;
	itimer_get(t->proc, which, &it);
	out = to_itimerval(&it);
	return guest_put(t->tid, a->a[1], &out);
}

int64_t sys_setitimer(struct task *t, const struct sysargs *a)
{
	int which = (int)a->a[0], err;
	struct linux_itimerval in = { 0 }, out;
	struct itimer_ns set, old;

	if (a->a[1] && guest_get(t->tid, &in, a->a[1]) < 0)
		return -EFAULT;
	if (!timeval_is_valid(&in.value) || !timeval_is_valid(&in.interval))
		return -EINVAL;
	if (which < ITIMER_REAL || which > ITIMER_PROF)
		return -EINVAL;
	set.value = to_ns(in.value.sec, in.value.usec * 1000);
	set.interval = in.interval.sec > INT64_MAX / NSEC_PER_SEC - 1
			       ? INT64_MAX
			       : in.interval.sec * NSEC_PER_SEC + in.interval.usec * 1000;
	itimer_get(t->proc, which, &old);
	err = itimer_set(t->proc, which, &set);
	if (err < 0)
		return err;
	if (!a->a[2])
		return 0;
	out = to_itimerval(&old);
	return guest_put(t->tid, a->a[2], &out);
}

/* ---- POSIX timers ---- */

static bool timespec_is_valid(const struct linux_timespec *ts)
{
	return ts->sec >= 0 && ts->nsec >= 0 && ts->nsec < NSEC_PER_SEC;
}

static struct linux_timespec to_timespec(int64_t ns)
{
	return (struct linux_timespec){ ns / NSEC_PER_SEC, ns % NSEC_PER_SEC };
}

static struct linux_itimerspec to_itimerspec(const struct itimer_ns *it)
{
	return (struct linux_itimerspec){ to_timespec(it->interval), to_timespec(it->value) };
}

int64_t sys_timer_create(struct task *t, const struct sysargs *a)
{
	struct linux_sigevent ev;
	int id;

	if (a->a[1] && guest_get(t->tid, &ev, a->a[1]) < 0)
		return -EFAULT;
	/* libc names a helper thread that it has just made: it may be on its way. */
	if (a->a[1] && ev.notify == LINUX_SIGEV_THREAD_ID && ev.tid > 0) {
		struct task *target;

		if (target_task(t, ev.tid, &target) == WAITING)
			return WAITING;
	}
	id = ptimer_new(t, (int)a->a[0], a->a[1] ? &ev : NULL);
	if (id < 0)
		return id;
	if (guest_put(t->tid, a->a[2], &id) < 0) {
		ptimer_free(ptimer_find(t->proc, id));
		return -EFAULT;
	}
	return 0;
}

int64_t sys_timer_settime(struct task *t, const struct sysargs *a)
{
	struct linux_itimerspec in, out;
	struct itimer_ns set, old;
	struct ptimer *pt;
	int err;

	if (!a->a[2])
		return -EINVAL;
	if (guest_get(t->tid, &in, a->a[2]) < 0)
		return -EFAULT;
	if (!timespec_is_valid(&in.value) || !timespec_is_valid(&in.interval))
		return -EINVAL;
	pt = ptimer_find(t->proc, (int)a->a[0]);
	if (!pt)
		return -EINVAL;
	set.value = to_ns(in.value.sec, in.value.nsec);
	set.interval = to_ns(in.interval.sec, in.interval.nsec);
	ptimer_get(pt, &old);
	err = ptimer_set(pt, a->a[1] & TIMER_ABSTIME, &set);
	if (err < 0)
		return err;
	if (!a->a[3])
		return 0;
	out = to_itimerspec(&old);
	return guest_put(t->tid, a->a[3], &out);
}

int64_t sys_timer_gettime(struct task *t, const struct sysargs *a)
{
	struct ptimer *pt = ptimer_find(t->proc, (int)a->a[0]);
	struct linux_itimerspec out;
	struct itimer_ns it;

	if (!pt)
		return -EINVAL;
	ptimer_get(pt, &it);
	out = to_itimerspec(&it);
	return guest_put(t->tid, a->a[1], &out);
}

int64_t sys_timer_getoverrun(struct task *t, const struct sysargs *a)
{
	struct ptimer *pt = ptimer_find(t->proc, (int)a->a[0]);

	return pt ? ptimer_overrun(pt) : -EINVAL;
}

int64_t sys_timer_delete(struct task *t, const struct sysargs *a)
{
	struct ptimer *pt = ptimer_find(t->proc, (int)a->a[0]);

	if (!pt)
		return -EINVAL;
	ptimer_free(pt);
	return 0;
}

/* ---- times ---- */

static int64_t timeval_ticks(const struct timeval *tv)
{
	return tv->tv_sec * HOST_TICKS + tv->tv_usec / (1000000 / HOST_TICKS);
}

int64_t sys_times(struct task *t, const struct sysargs *a)
{
	struct proc *p = t->proc;
	struct linux_tms out;
	int64_t utime, stime;

	if (a->a[0]) {
		proc_cputime(p, &utime, &stime);
		out.utime = utime / NSEC_PER_TICK;
		out.stime = stime / NSEC_PER_TICK;
		out.cutime = timeval_ticks(&p->child_usage.ru_utime);
		out.cstime = timeval_ticks(&p->child_usage.ru_stime);
		if (guest_put(t->tid, a->a[0], &out) < 0)
			return -EFAULT;
	}
	return now_mono() / NSEC_PER_TICK;
}
