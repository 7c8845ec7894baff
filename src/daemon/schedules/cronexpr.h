/* Cron expressions: five fields (minute, hour, day of month, month, day of week) or a word such as
 * @daily, as sets of numbers. Nothing here knows of time zones or of the clock (when.h).
 *
 * A field is a list, separated by commas, of '*', N or N-M; after '*' or N-M a step may follow, as
 * in '10-40/5'. Months and days of the week have English names of three letters; 0 and 7 are both
 * Sunday. As in Vixie cron, a day has to match both its fields if one of them begins with '*', and
 * else one of the two. Left out: seconds, years, and Quartz's '?', 'L', 'W' and '#'. */
#ifndef VIV_DAEMON_SCHEDULES_CRONEXPR_H
#define VIV_DAEMON_SCHEDULES_CRONEXPR_H

#include "base/err.h"

#define CRON_TEXT_MAX 256 /* bytes of an expression */

struct cron_expr {
	uint64_t minutes; /* bit N: N is in the set */
	uint32_t hours, days, months;
	uint8_t weekdays; /* 0 is Sunday */
	bool any_hour; /* the field begins with '*': elapsed time counts (when.h) */
	bool any_day, any_weekday; /* likewise */
	bool at_boot; /* @reboot: no field is set */
};

/* 0, or -1: not an expression, or of days that no year has. */
int must_check cron_parse(const char *text, struct cron_expr *ret, struct err *e);

/* A day of the Gregorian calendar. */
struct civil {
	int64_t year;
	int month, day; /* from 1 */
	int weekday; /* from 0, Sunday */
};
/* Days since 1970-01-01, also before it. */
struct civil civil_of_days(int64_t days);
int64_t days_of_civil(int64_t year, int month, int day);
int month_length(int64_t year, int month);

bool cron_matches_day(const struct cron_expr *x, const struct civil *c);

#endif
