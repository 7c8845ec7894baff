/* eventfd, timerfd_*, and the making and changing of epoll sets (waiting for them is in poll.c). */
#include <errno.h>
#include <linux/capability.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

#include "kernel/abi/time.h"
#include "kernel/fs/epoll/epoll.h"
#include "kernel/fs/eventfd/eventfd.h"
#include "kernel/fs/timerfd/timerfd.h"
#include "kernel/platform/guestmem.h"
#include "kernel/sys/file_util.h"
#include "kernel/sys/handlers.h"
#include "kernel/task/cred.h"
#include "kernel/task/task.h"
#include "kernel/vfs/fdtable.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/inode.h"

/* ---- eventfd ---- */

static int64_t eventfd_give(struct task *t, uint32_t count, unsigned flags)
{
	struct file *f;
	int r;

	if (flags & ~(unsigned)(EFD_SEMAPHORE | EFD_CLOEXEC | EFD_NONBLOCK))
		return -EINVAL;
	r = eventfd_make(count, flags & EFD_SEMAPHORE, flags, &f);
	return r < 0 ? r : fd_give(t, f, flags & EFD_CLOEXEC);
}

int64_t sys_eventfd(struct task *t, const struct sysargs *a)
{
	return eventfd_give(t, ARG_UINT(a, 0), 0);
}

int64_t sys_eventfd2(struct task *t, const struct sysargs *a)
{
	return eventfd_give(t, ARG_UINT(a, 0), ARG_UINT(a, 1));
}

/* ---- timerfd ---- */

int64_t sys_timerfd_create(struct task *t, const struct sysargs *a)
{
	int clock = ARG_INT(a, 0);
	unsigned flags = ARG_UINT(a, 1);
	bool alarm = clock == CLOCK_REALTIME_ALARM || clock == CLOCK_BOOTTIME_ALARM;
	struct file *f;
	int r;

	if (flags & ~(unsigned)(TFD_CLOEXEC | TFD_NONBLOCK))
		return -EINVAL;
	if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC && clock != CLOCK_BOOTTIME &&
	    !alarm)
		return -EINVAL;
	if (alarm && !cred_has_cap(&t->cred, CAP_WAKE_ALARM))
		return -EPERM;
	r = timerfd_make(clock, flags, &f);
	return r < 0 ? r : fd_give(t, f, flags & TFD_CLOEXEC);
}

/* -EBADF: no such descriptor; -EINVAL: not a timerfd. */
static int timerfd_at(struct task *t, int fd, struct timerfd **ret_)
{
	struct file *f = fd_file(t, fd);

	if (!f)
		return -EBADF;
	*ret_ = timerfd_of(f);
	return *ret_ ? 0 : -EINVAL;
}

static struct linux_timespec timespec_of(int64_t ns)
{
	return (struct linux_timespec){ ns / NSEC_PER_SEC, ns % NSEC_PER_SEC };
}

static bool timespec_is_valid(const struct linux_timespec *ts)
{
	return ts->sec >= 0 && ts->nsec >= 0 && ts->nsec < NSEC_PER_SEC;
}

/* Nanoseconds of a valid time, cut where they would not fit. */
static int64_t timespec_ns(const struct linux_timespec *ts)
{
	return ts->sec >= TIME_NEVER / NSEC_PER_SEC ? TIME_NEVER
						    : ts->sec * NSEC_PER_SEC + ts->nsec;
}

static int64_t timerfd_put(struct task *t, struct timerfd *tf, uaddr_t addr)
{
	struct linux_itimerspec its;
	int64_t left, interval;

	timerfd_get(tf, &left, &interval);
	its.value = timespec_of(left);
	its.interval = timespec_of(interval);
	return guest_put(t->tid, addr, &its);
}

int64_t sys_timerfd_gettime(struct task *t, const struct sysargs *a)
{
	struct timerfd *tf;
	int r = timerfd_at(t, ARG_INT(a, 0), &tf);

	return r < 0 ? r : timerfd_put(t, tf, a->a[1]);
}

int64_t sys_timerfd_settime(struct task *t, const struct sysargs *a)
{
	unsigned flags = ARG_UINT(a, 1);
	struct linux_itimerspec its, old;
	int64_t left, interval;
	struct timerfd *tf;
	int r;

	if (guest_get(t->tid, &its, a->a[2]) < 0)
		return -EFAULT;
	if (flags & ~(unsigned)(TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET) ||
	    !timespec_is_valid(&its.value) || !timespec_is_valid(&its.interval))
		return -EINVAL;
	r = timerfd_at(t, ARG_INT(a, 0), &tf);
	if (r < 0)
		return r;
	timerfd_get(tf, &left, &interval);
	r = timerfd_set(tf, flags & TFD_TIMER_ABSTIME, timespec_ns(&its.value),
			timespec_ns(&its.interval));
	if (r < 0 || !a->a[3])
		return r;
	old.value = timespec_of(left);
	old.interval = timespec_of(interval);
	return guest_put(t->tid, a->a[3], &old);
}

/* ---- epoll ---- */

static int64_t epoll_give(struct task *t, bool cloexec)
{
	struct file *f;
	int r = epoll_make(&f);

	return r < 0 ? r : fd_give(t, f, cloexec);
}

int64_t sys_epoll_create(struct task *t, const struct sysargs *a)
{
	return ARG_INT(a, 0) <= 0 ? -EINVAL : epoll_give(t, false);
}

int64_t sys_epoll_create1(struct task *t, const struct sysargs *a)
{
	return ARG_UINT(a, 0) & ~(unsigned)EPOLL_CLOEXEC
		       ? -EINVAL
		       : epoll_give(t, ARG_UINT(a, 0) & EPOLL_CLOEXEC);
}

static bool file_can_poll(const struct file *f)
{
	return f->ops->poll && !inode_is_dir(f->inode);
}

int64_t sys_epoll_ctl(struct task *t, const struct sysargs *a)
{
	int op = ARG_INT(a, 1), fd = ARG_INT(a, 2);
	struct linux_epoll_event ev = { 0 };
	struct file *ef, *f;

	if (op != EPOLL_CTL_DEL && guest_get(t->tid, &ev, a->a[3]) < 0)
		return -EFAULT;
	ef = fd_file(t, ARG_INT(a, 0));
	f = ef ? fd_file(t, fd) : NULL;
	if (!f)
		return -EBADF;
	if (!file_can_poll(f))
		return -EPERM;
	if (ef == f || !epoll_of(ef))
		return -EINVAL;
	if (ev.events & EPOLLEXCLUSIVE && op != EPOLL_CTL_DEL) {
		if (op == EPOLL_CTL_MOD || (op == EPOLL_CTL_ADD && epoll_of(f)))
			return -EINVAL;
	}
	switch (op) {
	case EPOLL_CTL_ADD:
		return epoll_add(ef, f, fd, &ev);
	case EPOLL_CTL_MOD:
		return epoll_mod(ef, f, fd, &ev);
	case EPOLL_CTL_DEL:
		return epoll_del(ef, f, fd);
	}
	return -EINVAL;
}
