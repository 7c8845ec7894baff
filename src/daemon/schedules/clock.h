/* The clock of schedules: CLOCK_REALTIME, and one timer of the kernel's that also fires when
 * somebody sets that clock.
 *
 * For tests, VIVD_TEST_CLOCK names a file with a number of seconds by which this clock differs from
 * the host's, for schedules only; writing another number to it is setting the clock. */
#ifndef VIV_DAEMON_SCHEDULES_CLOCK_H
#define VIV_DAEMON_SCHEDULES_CLOCK_H

#include "daemon/state/daemon.h"

/* fn is called when the time has come (jumped false), and when the clock was set. -1: the host has
 * no timer for it. */
int clock_open(struct daemon *d, void (*fn)(struct daemon *d, bool jumped), struct err *e);
void clock_close(void);
/* Nanoseconds since 1970. */
int64_t schedule_now(void);
/* The moment at which fn is called, by this clock; 0: never. */
void clock_arm(int64_t at);

#endif
