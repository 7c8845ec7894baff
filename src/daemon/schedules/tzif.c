/* See tzif.h. */
#include "daemon/schedules/tzif.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/schedules/cronexpr.h"
#include "store/files.h"

#define ZONES "/usr/share/zoneinfo"
#define HEAD 44
#define DAY 86400

/* ---- the file ---- */

struct head {
	uint32_t isut, isstd, leap, time, type, chars;
};

static uint32_t get32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static int64_t get64(const uint8_t *p)
{
	return (int64_t)((uint64_t)get32(p) << 32 | get32(p + 4));
}

static bool head_read(const uint8_t *p, size_t n, struct head *h)
{
	if (n < HEAD || memcmp(p, "TZif", 4) != 0)
		return false;
	*h = (struct head){ get32(p + 20), get32(p + 24), get32(p + 28),
			    get32(p + 32), get32(p + 36), get32(p + 40) };
	return h->isut <= TZ_TYPES_MAX && h->isstd <= TZ_TYPES_MAX && h->leap <= 1024 &&
	       h->time <= TZ_CHANGES_MAX && h->type >= 1 && h->type <= TZ_TYPES_MAX &&
	       h->chars <= 1024;
}

/* Of the data block; width: bytes of a time. All counts are small. */
static size_t block_size(const struct head *h, size_t width)
{
	return h->time * width + h->time + h->type * 6 + h->chars + h->leap * (width + 4) +
	       h->isstd + h->isut;
}

static bool offset_is_valid(int64_t v)
{
	return v > -TZ_OFFSET_MAX && v < TZ_OFFSET_MAX;
}

static bool block_read(const uint8_t *p, const struct head *h, struct tz *z)
{
	const uint8_t *types = p + h->time * 8, *infos = types + h->time;
	int32_t offsets[TZ_TYPES_MAX];

	for (unsigned i = 0; i < h->type; i++) {
		offsets[i] = (int32_t)get32(infos + i * 6);
		if (!offset_is_valid(offsets[i]))
			return false;
	}
	z->first = offsets[0];
	z->nchanges = h->time;
	for (unsigned i = 0; i < h->time; i++) {
		z->at[i] = get64(p + i * 8);
		if (types[i] >= h->type || z->at[i] < -TZ_EVER || z->at[i] > TZ_EVER ||
		    (i && z->at[i] <= z->at[i - 1]))
			return false;
		z->to[i] = offsets[types[i]];
	}
	return true;
}

/* ---- the rule at its end ---- */

static bool number_take(const char **p, int max, int *ret)
{
	size_t n = strspn(*p, "0123456789");

	*ret = 0;
	if (!n || n > 3)
		return false;
	for (size_t i = 0; i < n; i++)
		*ret = *ret * 10 + ((*p)[i] - '0');
	*p += n;
	return *ret <= max;
}

/* [+-]hh[:mm[:ss]] in seconds. */
static bool time_take(const char **p, int max_hours, int32_t *ret)
{
	int sign = **p == '-' ? -1 : 1, h, m = 0, s = 0;

	*p += **p == '-' || **p == '+';
	if (!number_take(p, max_hours, &h))
		return false;
	if (**p == ':') {
		(*p)++;
		if (!number_take(p, 59, &m))
			return false;
		if (**p == ':') {
			(*p)++;
			if (!number_take(p, 59, &s))
				return false;
		}
	}
	*ret = sign * (h * 3600 + m * 60 + s);
	return true;
}

/* The name of a kind of time, which is not needed: letters, or anything plain within <>. */
static bool name_skip(const char **p)
{
	const char *from = *p;

	if (*from == '<') {
		*p += strcspn(from, ">");
		if (!**p)
			return false;
		(*p)++;
		return true;
	}
	while ((**p >= 'A' && **p <= 'Z') || (**p >= 'a' && **p <= 'z'))
		(*p)++;
	return *p - from >= 3;
}

static bool day_take(const char **p, struct tz_day *d)
{
	*d = (struct tz_day){ .kind = 'N', .time = 7200 };
	if (**p == 'J') {
		d->kind = 'J';
		(*p)++;
		if (!number_take(p, 365, &d->day) || !d->day)
			return false;
	} else if (**p == 'M') {
		d->kind = 'M';
		(*p)++;
		if (!number_take(p, 12, &d->month) || !d->month || *(*p)++ != '.' ||
		    !number_take(p, 5, &d->week) || !d->week || *(*p)++ != '.' ||
		    !number_take(p, 6, &d->day))
			return false;
	} else if (!number_take(p, 365, &d->day)) {
		return false;
	}
	if (**p == '/') {
		(*p)++;
		return time_take(p, 167, &d->time);
	}
	return true;
}

/* As of the variable TZ; offsets there count from the zone to UTC. */
static bool rule_read(const char *p, struct tz *z)
{
	int32_t west, east;

	if (!name_skip(&p) || !time_take(&p, 24, &west))
		return false;
	z->standard = z->summer = -west;
	z->has_rule = true;
	if (!*p)
		return true;
	if (!name_skip(&p))
		return false;
	east = -west + 3600;
	if (*p && *p != ',') {
		if (!time_take(&p, 24, &west))
			return false;
		east = -west;
	}
	z->summer = east;
	z->has_dst = true;
	if (!offset_is_valid(east) || *p++ != ',' || !day_take(&p, &z->begins) || *p++ != ',' ||
	    !day_take(&p, &z->ends))
		return false;
	return !*p;
}

static int broken(struct err *e)
{
	return err_set(e, ERR_INVALID, "its file is damaged, or of a kind that is not supported");
}

int tz_parse(const void *bytes, size_t n, struct tz *z, struct err *e)
{
	const uint8_t *p = bytes;
	char rule[256];
	struct head h;
	size_t skip, len;

	*z = (struct tz){ 0 };
	/* The first block has times of four bytes, which end in 2038: the second one counts. */
	if (n > TZ_FILE_MAX || !head_read(p, n, &h) || p[4] < '2')
		return broken(e);
	skip = HEAD + block_size(&h, 4);
	if (skip > n || !head_read(p + skip, n - skip, &h))
		return broken(e);
	p += skip + HEAD;
	n -= skip + HEAD;
	skip = block_size(&h, 8);
	if (skip > n || h.leap || !block_read(p, &h, z))
		return broken(e);
	p += skip;
	n -= skip;
	if (n < 2 || *p != '\n')
		return broken(e);
	for (len = 0; 1 + len < n && p[1 + len] != '\n'; len++)
		if (len + 1 >= sizeof(rule) || !p[1 + len])
			return broken(e);
	if (1 + len >= n)
		return broken(e);
	memcpy(rule, p + 1, len);
	rule[len] = '\0';
	return !len || rule_read(rule, z) ? 0 : broken(e);
}

/* ---- names ---- */

bool tz_name_is_valid(const char *name)
{
	static const char plain[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+-/";
	size_t n = strlen(name);

	/* Without dots no part of it is "..". */
	return n && n <= TZ_NAME_MAX && strspn(name, plain) == n && name[0] != '/' &&
	       name[n - 1] != '/' && !strstr(name, "//");
}

int tz_load(const char *name, struct tz *z, struct err *e)
{
	char path[sizeof(ZONES) + TZ_NAME_MAX + 2], *bytes = NULL;
	size_t n = 0;
	int r;

	*z = (struct tz){ 0 };
	if (!strcmp(name, "UTC"))
		return 0;
	if (!tz_name_is_valid(name))
		return err_set(e, ERR_INVALID,
			       "'%.64s' is not a time zone" REMEDY
			       "use a name such as Europe/Oslo, or UTC",
			       name);
	snprintf(path, sizeof(path), ZONES "/%s", name);
	if (file_read_all(AT_FDCWD, path, TZ_FILE_MAX, &bytes, &n) < 0)
		return err_set(e, ERR_INVALID,
			       "there is no time zone '%s' on this host" REMEDY
			       "use a name of " ZONES ", such as Europe/Oslo, or UTC",
			       name);
	r = tz_parse(bytes, n, z, e);
	free(bytes);
	return r < 0 ? err_wrap(e, "the time zone '%s' cannot be used", name) : 0;
}

void tz_host_name(char ret[TZ_NAME_MAX + 1])
{
	char path[PATH_MAX];
	const char *zone = getenv("TZ"), *found;
	ssize_t n;

	if (!zone || !*zone) {
		n = readlink("/etc/localtime", path, sizeof(path) - 1);
		path[MAX(n, 0)] = '\0';
		found = strstr(path, "/zoneinfo/");
		zone = found ? found + strlen("/zoneinfo/") : "UTC";
	}
	zone += *zone == ':';
	if (!tz_name_is_valid(zone) || !strncmp(zone, "right/", 6))
		zone = "UTC";
	snprintf(ret, TZ_NAME_MAX + 1, "%s", zone);
}

/* ---- offsets ---- */

/* When the offset changes in a year. before: the offset until then. */
static int64_t change_of_year(const struct tz_day *d, int64_t year, int32_t before)
{
	int64_t days = days_of_civil(year, 1, 1);

	if (d->kind == 'J') {
		/* Day 60 is the first of March in every year. */
		days += d->day - 1 + (d->day >= 60 && month_length(year, 2) == 29);
	} else if (d->kind == 'N') {
		days += d->day;
	} else {
		int length = month_length(year, d->month), day;

		days = days_of_civil(year, d->month, 1);
		day = 1 + (d->day - civil_of_days(days).weekday + 7) % 7 + 7 * (d->week - 1);
		while (day > length)
			day -= 7;
		days += day - 1;
	}
	return days * DAY + d->time - before;
}

struct change {
	int64_t at;
	int32_t to;
};

/* By the rule. */
static struct tz_span span_by_rule(const struct tz *z, int64_t t)
{
	struct tz_span s = { -TZ_EVER, TZ_EVER, z->standard };
	struct change c[10];
	int64_t year;
	unsigned n = 0, i;

	if (!z->has_dst)
		return s;
	/* The last change before t and the first after it are among those of five years. */
	year = civil_of_days(t / DAY).year;
	for (int64_t y = year - 2; y <= year + 2; y++) {
		c[n++] = (struct change){ change_of_year(&z->begins, y, z->standard), z->summer };
		c[n++] = (struct change){ change_of_year(&z->ends, y, z->summer), z->standard };
	}
	/* Of two at one moment the later one counts: summer time all year ends when it begins. */
	for (i = 1; i < n; i++)
		for (unsigned k = i; k && c[k - 1].at > c[k].at; k--) {
			struct change later = c[k - 1];

			c[k - 1] = c[k];
			c[k] = later;
		}
	for (i = 0; i < n && c[i].at <= t; i++)
		if (c[i].to != s.offset || s.from == -TZ_EVER) {
			s.from = c[i].at;
			s.offset = c[i].to;
		}
	if (i < n)
		s.until = c[i].at;
	return s;
}

struct tz_span tz_span_of(const struct tz *z, int64_t t)
{
	struct tz_span s = { -TZ_EVER, TZ_EVER, z->first };
	unsigned low = 0, high = z->nchanges;

	t = MAX(MIN(t, TZ_EVER / 4), -TZ_EVER / 4);
	while (low < high) {
		unsigned mid = (low + high) / 2;

		if (z->at[mid] <= t)
			low = mid + 1;
		else
			high = mid;
	}
	/* low: how many changes are before t. */
	if (low == z->nchanges && z->has_rule) {
		s = span_by_rule(z, t);
		if (low)
			s.from = MAX(s.from, z->at[low - 1]);
		return s;
	}
	if (low) {
		s.from = z->at[low - 1];
		s.offset = z->to[low - 1];
	}
	if (low < z->nchanges)
		s.until = z->at[low];
	return s;
}

int64_t tz_reach(const struct tz *z, int64_t local)
{
	int64_t t = local - TZ_OFFSET_MAX;

	/* Earlier than that no clock shows it. Each round is one of the changes of the next two
	 * days. */
	for (;;) {
		struct tz_span s = tz_span_of(z, t);
		int64_t at = MAX(t, local - s.offset);

		if (at < s.until || s.until >= TZ_EVER)
			return at;
		t = s.until;
	}
}
