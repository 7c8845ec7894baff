/* See when.h. */
#include "daemon/schedules/when.h"

#include <stdio.h>
#include <string.h>

#define DAY 86400

static int64_t floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

/* The first time of the zone's clocks that matches, from local on, before the day end; -1 << 62:
 * none. local is a whole minute. */
#define NO_TIME (-TZ_EVER)
static int64_t local_next(const struct cron_expr *x, int64_t local, int64_t end)
{
	int64_t day = floor_div(local, DAY);
	int minute = (int)(local - day * DAY) / 60;

	while (day < end) {
		struct civil c = civil_of_days(day);

		if (!(x->months >> c.month & 1)) {
			day += month_length(c.year, c.month) - c.day + 1;
			minute = 0;
			continue;
		}
		if (cron_matches_day(x, &c))
			for (int h = minute / 60; h < 24; h++, minute = h * 60) {
				uint64_t rest = x->minutes >> (minute % 60);

				if ((x->hours >> h & 1) && rest)
					return day * DAY + h * 3600 +
					       (minute % 60 + __builtin_ctzll(rest)) * 60;
			}
		day++;
		minute = 0;
	}
	return NO_TIME;
}

static int64_t minute_up(int64_t t)
{
	return -floor_div(-t, 60) * 60;
}

/* By the moments at which clocks show a time. */
static int64_t next_elapsed(const struct cron_expr *x, const struct tz *z, int64_t t, int64_t end)
{
	int64_t from = t + 1;

	while (from < end * DAY) {
		struct tz_span s = tz_span_of(z, from);
		int64_t local = local_next(x, minute_up(from + s.offset), end);

		if (local != NO_TIME && local - s.offset < s.until)
			return local - s.offset;
		from = s.until;
	}
	return -1;
}

/* By what the zone's clocks show for the first time. All times up to that which they show at t were
 * reached by then (tz_reach), so none of those can follow. */
static int64_t next_shown(const struct cron_expr *x, const struct tz *z, int64_t t, int64_t end)
{
	int64_t local = minute_up(t + tz_span_of(z, t).offset + 1);

	while ((local = local_next(x, local, end)) != NO_TIME) {
		int64_t at = tz_reach(z, local);

		if (at > t)
			return at;
		local += 60;
	}
	return -1;
}

int64_t when_next(const struct cron_expr *x, const struct tz *z, int64_t t)
{
	int64_t end;

	if (x->at_boot || t < -TZ_EVER / 8 || t > TZ_EVER / 8)
		return -1;
	end = floor_div(t, DAY) + WHEN_YEARS * 366;
	return x->any_hour ? next_elapsed(x, z, t, end) : next_shown(x, z, t, end);
}

int when_parse(const char *text, const struct tz *z, int64_t *ret, struct err *e)
{
	int year, month, day, hour, minute, second = 0, n = 0, hours, minutes;
	const char *p = text;
	char sign;
	int64_t local;

	if (strlen(text) > 40 || strspn(text, "0123456789-:TtZz+ .") != strlen(text) ||
	    sscanf(p, "%4d-%2d-%2d%n", &year, &month, &day, &n) != 3)
		goto wrong;
	p += n;
	if ((*p != 'T' && *p != 't' && *p != ' ') ||
	    sscanf(p + 1, "%2d:%2d%n", &hour, &minute, &n) != 2)
		goto wrong;
	p += 1 + n;
	if (*p == ':' && sscanf(p, ":%2d%n", &second, &n) == 1)
		p += n;
	if (*p == '.')
		p += 1 + strspn(p + 1, "0123456789");
	if (year < 1970 || year > 9999 || month < 1 || month > 12 || day < 1 ||
	    day > month_length(year, month) || hour < 0 || hour > 23 || minute < 0 || minute > 59 ||
	    second < 0 || second > 59)
		goto wrong;
	local = days_of_civil(year, month, day) * DAY + hour * 3600 + minute * 60 + second;
	if (!*p) {
		*ret = tz_reach(z, local);
		return 0;
	}
	if ((*p == 'Z' || *p == 'z') && !p[1]) {
		*ret = local;
		return 0;
	}
	n = 0;
	if (sscanf(p, "%c%2d:%2d%n", &sign, &hours, &minutes, &n) == 3 && !p[n] &&
	    (sign == '+' || sign == '-') && hours >= 0 && hours <= 23 && minutes >= 0 &&
	    minutes <= 59) {
		*ret = local - (sign == '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
		return 0;
	}
wrong:
	return err_set(e, ERR_INVALID,
		       "'%.40s' is not a time" REMEDY
		       "write 2026-12-01T09:00, or 2026-12-01T09:00:00Z",
		       text);
}

struct when_text when_text(const struct tz *z, int64_t t)
{
	int32_t offset = tz_span_of(z, t).offset;
	int64_t local = t + offset, day = floor_div(local, DAY);
	int second = (int)(local - day * DAY), east = offset < 0 ? -offset : offset;
	struct civil c = civil_of_days(day);
	struct when_text w;
	int n = snprintf(w.str, sizeof(w.str), "%04lld-%02d-%02dT%02d:%02d:%02d", (long long)c.year,
			 c.month, c.day, second / 3600, second / 60 % 60, second % 60);

	if (!offset)
		snprintf(w.str + n, sizeof(w.str) - (size_t)n, "Z");
	else
		snprintf(w.str + n, sizeof(w.str) - (size_t)n, "%c%02d:%02d",
			 offset < 0 ? '-' : '+', east / 3600, east / 60 % 60);
	return w;
}
