/* See cronexpr.h. */
#include "daemon/schedules/cronexpr.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

struct field_kind {
	const char *name;
	int low, high;
	const char *names; /* three letters each, for low and up; NULL: none */
};

enum { MINUTE, HOUR, DAY, MONTH, WEEKDAY, FIELDS };

static const struct field_kind kinds[FIELDS] = {
	[MINUTE] = { "minute", 0, 59, NULL },
	[HOUR] = { "hour", 0, 23, NULL },
	[DAY] = { "day of month", 1, 31, NULL },
	[MONTH] = { "month", 1, 12, "JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC" },
	[WEEKDAY] = { "day of week", 0, 7, "SUNMONTUEWEDTHUFRISAT" },
};

static const struct {
	const char *word, *means; /* NULL: when the machine starts */
} words[] = {
	{ "@hourly", "0 * * * *" },   { "@daily", "0 0 * * *" },   { "@midnight", "0 0 * * *" },
	{ "@weekly", "0 0 * * 0" },   { "@monthly", "0 0 1 * *" }, { "@yearly", "0 0 1 1 *" },
	{ "@annually", "0 0 1 1 *" }, { "@reboot", NULL },
};

/* ---- the calendar ---- */

static bool is_leap(int64_t y)
{
	return (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;
}

int month_length(int64_t year, int month)
{
	static const int lengths[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };

	return month == 2 && is_leap(year) ? 29 : lengths[month - 1];
}

/* Days before the first of January of year, from that of year 1 on. */
static int64_t days_before(int64_t year)
{
	int64_t y = year - 1;
	int64_t q4 = y >= 0 ? y / 4 : -((3 - y) / 4);
	int64_t q100 = y >= 0 ? y / 100 : -((99 - y) / 100);
	int64_t q400 = y >= 0 ? y / 400 : -((399 - y) / 400);

	return y * 365 + q4 - q100 + q400;
}

#define DAYS_TO_1970 719162 /* days_before(1970) */

int64_t days_of_civil(int64_t year, int month, int day)
{
	int64_t n = days_before(year) - DAYS_TO_1970 + day - 1;

	for (int m = 1; m < month; m++)
		n += month_length(year, m);
	return n;
}

struct civil civil_of_days(int64_t days)
{
	struct civil c = { .month = 1 };
	int64_t n;

	/* 400 years have 146097 days: the guess is at most one off. */
	c.year = 1970 + (days * 400) / 146097;
	while (days_before(c.year) - DAYS_TO_1970 > days)
		c.year--;
	while (days_before(c.year + 1) - DAYS_TO_1970 <= days)
		c.year++;
	n = days - (days_before(c.year) - DAYS_TO_1970);
	while (n >= month_length(c.year, c.month))
		n -= month_length(c.year, c.month++);
	c.day = (int)n + 1;
	c.weekday = (int)(((days + 4) % 7 + 7) % 7); /* 1970 began with a Thursday */
	return c;
}

/* ---- fields ---- */

/* A number or a name at *p, which moves behind it. -1: neither. */
static int value_take(const struct field_kind *k, const char **p)
{
	size_t n = strspn(*p, "0123456789");
	int v = 0;

	if (n) {
		if (n > 4)
			return -1;
		for (size_t i = 0; i < n; i++)
			v = v * 10 + ((*p)[i] - '0');
		*p += n;
		return v;
	}
	for (const char *s = k->names; s && *s; s += 3, v++)
		if (!strncasecmp(*p, s, 3)) {
			*p += 3;
			return k->low + v;
		}
	return -1;
}

static int field_wrong(struct err *e, const struct field_kind *k, const char *text, int n,
		       const char *why)
{
	return err_set(e, ERR_INVALID, "the %s '%.*s' of the schedule %s", k->name, MIN(n, 40),
		       text, why);
}

/* One entry of a list: the text up to n. */
static int item_parse(const struct field_kind *k, const char *text, int n, uint64_t *set,
		      struct err *e)
{
	const char *p = text, *end = text + n;
	bool range = true, named;
	int low = k->low, high = k == &kinds[WEEKDAY] ? 6 : k->high, step = 1;
	char why[80];

	if (*p == '*') {
		p++;
	} else {
		low = high = value_take(k, &p);
		range = low >= 0 && p < end && *p == '-';
		if (range) {
			p++;
			named = !(*p >= '0' && *p <= '9');
			high = value_take(k, &p);
			/* 'SAT-SUN' ends with the Sunday that follows. */
			if (k == &kinds[WEEKDAY] && named && !high && low > 0)
				high = 7;
		}
		snprintf(why, sizeof(why), "is not a number from %d to %d%s", k->low, k->high,
			 k->names ? ", or a name such as MON or JAN" : "");
		if (low < 0 || high < 0 || low < k->low || low > k->high || high > k->high)
			return field_wrong(e, k, text, n, why);
		if (low > high)
			return field_wrong(e, k, text, n,
					   "is a range whose end is before its start");
	}
	if (p < end && *p == '/') {
		size_t digits = strspn(p + 1, "0123456789");

		step = 0;
		for (size_t i = 0; i < digits && i < 4; i++)
			step = step * 10 + (p[1 + i] - '0');
		if (!range)
			return field_wrong(e, k, text, n,
					   "has a step after a single number; write a range, as "
					   "in '10-59/5'");
		if (!digits || digits > 4 || step < 1 || step > k->high)
			return field_wrong(e, k, text, n,
					   "has a step that is too small or too large");
		p += 1 + digits;
	}
	if (p != end)
		return field_wrong(e, k, text, n, "cannot be read");
	for (int v = low; v <= high; v += step)
		*set |= 1ull << (k == &kinds[WEEKDAY] && v == 7 ? 0 : v);
	return 0;
}

static int field_parse(const struct field_kind *k, const char *text, size_t n, uint64_t *set,
		       struct err *e)
{
	const char *end = text + n;

	*set = 0;
	for (;;) {
		const char *comma = memchr(text, ',', (size_t)(end - text));
		const char *stop = comma ? comma : end;

		if (stop == text)
			return field_wrong(e, k, text, (int)(end - text), "has an empty entry");
		if (item_parse(k, text, (int)(stop - text), set, e) < 0)
			return -1;
		if (!comma)
			return 0;
		text = comma + 1;
	}
}

/* ---- an expression ---- */

static bool both_days_count(const struct cron_expr *x)
{
	return x->any_day || x->any_weekday;
}

bool cron_matches_day(const struct cron_expr *x, const struct civil *c)
{
	bool day = x->days >> c->day & 1, weekday = x->weekdays >> c->weekday & 1;

	if (!(x->months >> c->month & 1))
		return false;
	return both_days_count(x) ? day && weekday : day || weekday;
}

/* Whether any year has such a day. Every day of the year comes on every day of the week. */
static bool is_possible(const struct cron_expr *x)
{
	if (!both_days_count(x))
		return true;
	for (int m = 1; m <= 12; m++)
		for (int d = 1; d <= month_length(2000, m); d++)
			if ((x->months >> m & 1) && (x->days >> d & 1))
				return true;
	return false;
}

static int fields_parse(const char *text, struct cron_expr *x, struct err *e)
{
	uint64_t sets[FIELDS];
	bool stars[FIELDS];
	unsigned n = 0;

	for (;;) {
		size_t len;

		text += strspn(text, " \t");
		len = strcspn(text, " \t");
		if (!len)
			break;
		if (n == FIELDS)
			return err_set(e, ERR_INVALID,
				       "the schedule has more than five fields" REMEDY
				       "write minute, hour, day of month, month and day of week");
		stars[n] = *text == '*';
		if (field_parse(&kinds[n], text, len, &sets[n], e) < 0)
			return -1;
		n++;
		text += len;
	}
	if (n < FIELDS)
		return err_set(e, ERR_INVALID,
			       "the schedule has %u of five fields" REMEDY
			       "write minute, hour, day of month, month and day of week, as in "
			       "'0 3 * * *'",
			       n);
	*x = (struct cron_expr){ .minutes = sets[MINUTE],
				 .hours = (uint32_t)sets[HOUR],
				 .days = (uint32_t)sets[DAY],
				 .months = (uint32_t)sets[MONTH],
				 .weekdays = (uint8_t)sets[WEEKDAY],
				 .any_hour = stars[HOUR],
				 .any_day = stars[DAY],
				 .any_weekday = stars[WEEKDAY] };
	if (!is_possible(x))
		return err_set(e, ERR_INVALID,
			       "the schedule names days that no month of it has, such as 30 "
			       "February");
	return 0;
}

int cron_parse(const char *text, struct cron_expr *ret, struct err *e)
{
	size_t n;

	if (strlen(text) > CRON_TEXT_MAX)
		return err_set(e, ERR_INVALID, "the schedule is longer than %d bytes",
			       CRON_TEXT_MAX);
	for (const char *p = text; *p; p++)
		if ((unsigned char)*p >= 0x7f || ((unsigned char)*p < ' ' && *p != '\t'))
			return err_set(e, ERR_INVALID,
				       "the schedule has characters that are not printable ASCII");
	text += strspn(text, " \t");
	if (*text != '@')
		return fields_parse(text, ret, e);
	n = strcspn(text, " \t");
	for (unsigned i = 0; i < ARRAY_LEN(words); i++) {
		if (strlen(words[i].word) != n || strncasecmp(words[i].word, text, n) ||
		    text[n + strspn(text + n, " \t")])
			continue;
		if (words[i].means)
			return fields_parse(words[i].means, ret, e);
		*ret = (struct cron_expr){ .at_boot = true };
		return 0;
	}
	return err_set(e, ERR_INVALID,
		       "there is no schedule '%.40s'" REMEDY
		       "use @hourly, @daily, @weekly, @monthly, "
		       "@yearly, @reboot or five fields",
		       text);
}
