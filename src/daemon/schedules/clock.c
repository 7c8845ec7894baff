/* See clock.h. */
#include "daemon/schedules/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/log.h"

#define OFFSET_MAX (200L * 366 * 86400) /* seconds */

static struct {
	struct daemon *d;
	void (*fn)(struct daemon *d, bool jumped);
	int fd;
	uv_poll_t poll;
	const char *file; /* of a test; NULL: none */
	uv_fs_event_t watch; /* of that */
	int64_t offset; /* nanoseconds */
	int64_t at; /* what it is armed for */
} the_clock = { .fd = -1 };

/* ---- the clock of a test ---- */

static void offset_read(void)
{
	char text[32] = "", *end;
	int fd = open(the_clock.file, O_RDONLY | O_CLOEXEC);
	ssize_t n;
	long v;

	if (fd < 0)
		return;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return;
	v = strtol(text, &end, 10);
	if (*end == '\n' && v <= OFFSET_MAX && v >= -OFFSET_MAX)
		the_clock.offset = v * NSEC_PER_SEC;
}

int64_t schedule_now(void)
{
	if (the_clock.file)
		offset_read();
	return time_now() + the_clock.offset;
}

static void on_timer(uv_poll_t *p, int status, int events)
{
	uint64_t times;
	ssize_t n = read(the_clock.fd, &times, sizeof(times));

	(void)p;
	(void)status;
	(void)events;
	if (n < 0 && errno != ECANCELED)
		return;
	the_clock.fn(the_clock.d, n < 0);
}

void clock_arm(int64_t at)
{
	struct itimerspec when = { 0 };
	int64_t real = MAX(at - the_clock.offset, 1);

	the_clock.at = at;
	if (at) {
		when.it_value.tv_sec = real / NSEC_PER_SEC;
		when.it_value.tv_nsec = real % NSEC_PER_SEC;
	}
	/* ECANCELED: the clock was set since the last call. It is armed all the same, and the time
	 * is compared with the new clock when it comes. */
	if (the_clock.fd >= 0 &&
	    timerfd_settime(the_clock.fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &when,
			    NULL) < 0 &&
	    errno != ECANCELED)
		log_warn("the timer of schedules cannot be set: %s", strerror(errno));
}

static void on_file(uv_fs_event_t *w, const char *name, int events, int status)
{
	(void)w;
	(void)name;
	(void)events;
	(void)status;
	the_clock.fn(the_clock.d, true);
}

int clock_open(struct daemon *d, void (*fn)(struct daemon *d, bool jumped), struct err *e)
{
	the_clock.d = d;
	the_clock.fn = fn;
	the_clock.fd = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC);
	if (the_clock.fd < 0 || uv_poll_init(&d->loop, &the_clock.poll, the_clock.fd) ||
	    uv_poll_start(&the_clock.poll, UV_READABLE, on_timer))
		return err_set(e, ERR_FAILED, "cannot make a timer for schedules: %s",
			       strerror(errno));
	the_clock.file = getenv("VIVD_TEST_CLOCK");
	if (the_clock.file) {
		uv_fs_event_init(&d->loop, &the_clock.watch);
		uv_fs_event_start(&the_clock.watch, on_file, the_clock.file, 0);
		log_warn("schedules use a test clock, %s", the_clock.file);
	}
	return 0;
}

void clock_close(void)
{
	if (the_clock.fd < 0)
		return;
	uv_poll_stop(&the_clock.poll);
	close(the_clock.fd);
	the_clock.fd = -1;
}
