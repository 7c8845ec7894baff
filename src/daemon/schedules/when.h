/* The next time of a cron expression in a time zone. The time is an argument: this is the same in
 * vivd, in tests and for years that are far away.
 *
 * Rules for the days on which clocks are changed:
 *   the hour field begins with '*'   every moment counts at which the zone's clocks show a time
 *                                    that matches: 'every hour' stays one hour, a time that does
 *                                    not exist is left out, one that exists twice comes twice
 *   else                             a time that exists twice comes once, the first time; one
 *                                    that does not exist comes once, at the moment after the gap
 * Times that fall together are one. */
#ifndef VIV_DAEMON_SCHEDULES_WHEN_H
#define VIV_DAEMON_SCHEDULES_WHEN_H

#include "daemon/schedules/cronexpr.h"
#include "daemon/schedules/tzif.h"

/* 29 February on a given day of the week comes after 40 years at the latest. */
#define WHEN_YEARS 41

/* The first one after t, in seconds since 1970; -1: none in WHEN_YEARS. */
int64_t when_next(const struct cron_expr *x, const struct tz *z, int64_t t);

/* A time as people write it: RFC 3339 with an offset ("2026-12-01T09:00:00+01:00", "...Z"), or
 * without one ("2026-12-01T09:00", "2026-12-01 09:00:30"), then it is one of the zone. Seconds. */
int must_check when_parse(const char *text, const struct tz *z, int64_t *ret, struct err *e);

struct when_text {
	char str[48];
};
/* RFC 3339 in the zone, with its offset. */
struct when_text when_text(const struct tz *z, int64_t t);

#endif
