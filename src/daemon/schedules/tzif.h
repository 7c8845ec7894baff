/* Time zones: the host's files of /usr/share/zoneinfo (TZif, RFC 8536), read into a table of
 * moments at which the offset from UTC changes, and the rule for the time after the last of them.
 *
 * The files are the host's, and still read as if anybody had written them: every count is bounded
 * and every index checked. Left out: zones with leap seconds ("right/..."), which are refused. */
#ifndef VIV_DAEMON_SCHEDULES_TZIF_H
#define VIV_DAEMON_SCHEDULES_TZIF_H

#include "base/err.h"

#define TZ_NAME_MAX 64
#define TZ_FILE_MAX 65536
#define TZ_CHANGES_MAX 2000
#define TZ_TYPES_MAX 256
#define TZ_OFFSET_MAX 93600 /* seconds; no offset is larger */

/* When in a year an offset changes: 'J' 1 to 365 without 29 February, 'N' 0 to 365, 'M' a day of
 * the week in a week of a month. */
struct tz_day {
	char kind;
	int month, week, day;
	int32_t time; /* of that day, by the clock before the change, in seconds; may be negative */
};

struct tz {
	unsigned nchanges;
	int64_t at[TZ_CHANGES_MAX];
	int32_t to[TZ_CHANGES_MAX]; /* the offset from then on */
	int32_t first; /* the offset before all of them */
	bool has_rule, has_dst; /* after all of them: standard, and summer time between two days */
	int32_t standard, summer;
	struct tz_day begins, ends;
};

/* A time in which the offset is the same: from <= t < until. */
struct tz_span {
	int64_t from, until;
	int32_t offset;
};
#define TZ_EVER (INT64_MAX / 4) /* no time is later, and -TZ_EVER none earlier */

/* The bytes of a file. -1: they are not one. */
int must_check tz_parse(const void *bytes, size_t n, struct tz *ret, struct err *e);
/* A zone by its name, "Europe/Oslo"; "UTC" needs no file. */
int must_check tz_load(const char *name, struct tz *ret, struct err *e);
/* Whether a text can be a name: no path that leads elsewhere. */
bool tz_name_is_valid(const char *name);
/* The name of the host's own zone, "UTC" if it cannot be found out. */
void tz_host_name(char ret[TZ_NAME_MAX + 1]);

/* t: seconds since 1970. */
struct tz_span tz_span_of(const struct tz *z, int64_t t);
/* The first moment at which the zone's clocks show local (seconds since 1970-01-01 00:00 there) or
 * something later: of a time that exists twice the first, of one that does not the end of the
 * gap. */
int64_t tz_reach(const struct tz *z, int64_t local);

#endif
