/* timerfd on the kernel's own timers.
 *
 * All clocks are turned into CLOCK_MONOTONIC when a timer is set. A timer with an interval fires
 * once and then waits until it is looked at (read, gettime): only then the periods that passed are
 * counted and it is started again. So a period of one nanosecond costs nothing. Left out: a step of
 * the host's wall clock does not move absolute timers of CLOCK_REALTIME that are already set, and
 * TFD_TIMER_CANCEL_ON_SET never cancels (nobody in the cell can set it). */
#include "kernel/fs/timerfd/timerfd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>

#include "base/arena.h"
#include "host/host.h"
#include "kernel/platform/uio.h"
#include "kernel/task/clock.h"
#include "kernel/task/timer.h"
#include "kernel/task/waitq.h"
#include "kernel/vfs/file.h"

struct timerfd {
	struct ktimer timer;
	int clock;
	int64_t expires; /* CLOCK_MONOTONIC, the latest expiry that was set */
	int64_t interval;
	uint64_t ticks;
	bool fired; /* waits to be looked at */
	struct waitq q;
};
OBJ_TYPE(timerfd_type, struct timerfd, 16384);

static const struct file_ops timerfd_fops;

static void timerfd_fire(struct ktimer *timer)
{
	struct timerfd *tf = container_of(timer, struct timerfd, timer);

	tf->fired = true;
	tf->ticks++;
	waitq_wake(&tf->q, POLLIN);
}

/* Counts the periods that passed since it fired and starts it for the next one. */
static void timerfd_forward(struct timerfd *tf)
{
	int64_t now = now_mono();

	if (!tf->fired || !tf->interval)
		return;
	tf->fired = false;
	int64_t periods = now >= tf->expires ? (now - tf->expires) / tf->interval + 1 : 0;
	tf->ticks += (uint64_t)(periods > 0 ? periods - 1 : 0);
	if (__builtin_mul_overflow(periods, tf->interval, &periods) ||
	    __builtin_add_overflow(tf->expires, periods, &tf->expires))
		tf->expires = TIME_NEVER - 1;
	/* A timer that was started has its place in the heap; a refusal leaves it to be tried at
	 * the next look. */
	if (ktimer_start(&tf->timer, tf->expires) < 0)
		tf->fired = true;
}

static int64_t timerfd_read(struct file *f, struct uio *u, int64_t pos)
{
	struct timerfd *tf = f->priv;

	(void)pos;
	if (u->left < sizeof(uint64_t))
		return -EINVAL;
	if (!tf->ticks)
		return -EAGAIN;
	timerfd_forward(tf);
	uint64_t ticks = tf->ticks;
	tf->ticks = 0;
	return uio_put(u, &ticks, sizeof(ticks)) == sizeof(ticks) ? (int64_t)sizeof(ticks)
								  : -EFAULT;
}

static uint32_t timerfd_poll(struct file *f)
{
	return ((struct timerfd *)f->priv)->ticks ? POLLIN : 0;
}

static struct waitq *timerfd_poll_q(struct file *f)
{
	return &((struct timerfd *)f->priv)->q;
}

static int64_t timerfd_seek(struct file *f, int64_t off, int whence)
{
	(void)off, (void)whence;
	return f->pos;
}

static void timerfd_release(struct file *f)
{
	struct timerfd *tf = f->priv;

	ktimer_stop(&tf->timer);
	waitq_fini(&tf->q);
	obj_free(&timerfd_type, tf);
}

static void timerfd_fdinfo(struct file *f, struct uio *u)
{
	struct timerfd *tf = f->priv;
	int64_t left, interval;
	char text[256];

	timerfd_get(tf, &left, &interval);
	int n = snprintf(text, sizeof(text),
			 "clockid: %d\nticks: %llu\nsettime flags: 00\nit_value: (%lld, %lld)\n"
			 "it_interval: (%lld, %lld)\n",
			 tf->clock, (unsigned long long)tf->ticks, (long long)(left / NSEC_PER_SEC),
			 (long long)(left % NSEC_PER_SEC), (long long)(interval / NSEC_PER_SEC),
			 (long long)(interval % NSEC_PER_SEC));
	(void)!uio_put(u, text, (size_t)n);
}

static const struct file_ops timerfd_fops = {
	.read = timerfd_read,
	.seek = timerfd_seek,
	.poll = timerfd_poll,
	.poll_q = timerfd_poll_q,
	.release = timerfd_release,
	.fdinfo = timerfd_fdinfo,
};

struct timerfd *timerfd_of(const struct file *f)
{
	return f->ops == &timerfd_fops ? f->priv : NULL;
}

void timerfd_get(struct timerfd *tf, int64_t *ret_left, int64_t *ret_interval)
{
	timerfd_forward(tf);
	*ret_interval = tf->interval;
	*ret_left = 0;
	/* One that is due but was not yet run by the main loop still has "a moment" left, as on
	 * Linux. */
	if (ktimer_is_started(&tf->timer))
		*ret_left = MAX(tf->expires - now_mono(), (int64_t)1);
}

/* How far clock is ahead of CLOCK_MONOTONIC. */
static int64_t clock_offset(int clock)
{
	if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_ALARM)
		return now_real() - now_mono();
	if (clock == CLOCK_BOOTTIME || clock == CLOCK_BOOTTIME_ALARM)
		return host_clock(CLOCK_BOOTTIME) - host_clock(CLOCK_MONOTONIC);
	return 0;
}

int timerfd_set(struct timerfd *tf, bool absolute, int64_t value, int64_t interval)
{
	int64_t base = absolute ? -clock_offset(tf->clock) : now_mono();
	int r = 0;

	ktimer_stop(&tf->timer);
	tf->ticks = 0;
	tf->fired = false;
	tf->interval = interval;
	if (!value)
		return 0;
	if (__builtin_add_overflow(base, value, &tf->expires) || tf->expires >= TIME_NEVER)
		tf->expires = TIME_NEVER - 1;
	/* An absolute time that has passed fires at once: poll right after the call must see it. */
	if (tf->expires <= now_mono())
		timerfd_fire(&tf->timer);
	else
		r = ktimer_start(&tf->timer, tf->expires);
	return r;
}

int timerfd_make(int clock, uint32_t flags, struct file **ret_)
{
	struct timerfd *tf = obj_new(&timerfd_type);
	int r;

	if (!tf)
		return -ENFILE;
	tf->clock = clock;
	ktimer_init(&tf->timer, timerfd_fire);
	waitq_init(&tf->q);
	r = file_new_anon("anon_inode:[timerfd]", 0600, &timerfd_fops, tf,
			  O_RDWR | (flags & O_NONBLOCK), ret_);
	if (r < 0) {
		obj_free(&timerfd_type, tf);
		return r;
	}
	(*ret_)->mode = FMODE_READ | FMODE_WRITE | FMODE_STREAM;
	return 0;
}
