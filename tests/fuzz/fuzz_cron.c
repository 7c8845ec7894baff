/* Cron expressions, times that people write, and files of time zones. A text that is an expression
 * has times that follow each other, and each is one that the zone's clocks show or jump over. Bytes
 * that are a zone divide all time into spans that join. */
/* objects: src/daemon/schedules/cronexpr.c src/daemon/schedules/tzif.c src/daemon/schedules/when.c src/store/files.c src/base/buf.c src/base/err.c src/base/jsontext.c src/base/utf8.c src/base/log.c */
#include <string.h>

#include "daemon/schedules/when.h"
#include "fuzz.h"

const char fuzz_name[] = "cron";
const size_t fuzz_max = 4096;

static const int64_t moments[] = { -1, 0, 951782400, 1774746000, 1792886400, 4107542400, 253402300799 };

void fuzz_init(void)
{
}

/* Whether the expression matches what clocks show at t. */
static bool matches(const struct cron_expr *x, const struct tz *z, int64_t t)
{
	int64_t local = t + tz_span_of(z, t).offset, day = local / 86400 - (local % 86400 < 0);
	int64_t second = local - day * 86400;
	struct civil c = civil_of_days(day);

	return second % 60 == 0 && cron_matches_day(x, &c) && (x->hours >> (second / 3600) & 1) &&
	       (x->minutes >> (second / 60 % 60) & 1);
}

static void times_check(const struct cron_expr *x, const struct tz *z)
{
	for (unsigned i = 0; i < ARRAY_LEN(moments); i++) {
		int64_t t = moments[i];

		for (unsigned n = 0; n < 4; n++) {
			int64_t next = when_next(x, z, t);

			if (next < 0)
				break;
			FUZZ_CHECK(next > t);
			/* Or it is the end of a gap. */
			FUZZ_CHECK(matches(x, z, next) ||
				   (!x->any_hour && tz_span_of(z, next).from == next));
			t = next;
		}
	}
}

static void spans_check(const struct tz *z)
{
	for (unsigned i = 0; i < ARRAY_LEN(moments); i++) {
		int64_t t = moments[i];

		for (unsigned n = 0; n < 16; n++) {
			struct tz_span s = tz_span_of(z, t);

			FUZZ_CHECK(s.from <= t && t < s.until);
			FUZZ_CHECK(s.offset > -TZ_OFFSET_MAX && s.offset < TZ_OFFSET_MAX);
			FUZZ_CHECK(tz_reach(z, t + s.offset) <= t);
			if (s.until >= TZ_EVER / 8)
				break;
			t = s.until;
		}
	}
}

void fuzz_one(const uint8_t *data, size_t size)
{
	static struct tz z, utc;
	char text[CRON_TEXT_MAX + 64];
	size_t n = MIN(size, sizeof(text) - 1);
	struct cron_expr x;
	struct err e;
	int64_t t;

	memcpy(text, data, n);
	text[n] = '\0';
	if (cron_parse(text, &x, &e) == 0 && !x.at_boot) {
		FUZZ_CHECK(x.minutes && x.hours && x.days && x.months && x.weekdays);
		FUZZ_CHECK(!(x.minutes >> 60) && !(x.hours >> 24) && !(x.months >> 13));
		FUZZ_CHECK(when_next(&x, &utc, 951782400) > 0);
		times_check(&x, &utc);
	}
	if (when_parse(text, &utc, &t, &e) == 0)
		FUZZ_CHECK(t > -2 * 86400 && when_text(&utc, t).str[0]);
	FUZZ_CHECK(!tz_name_is_valid(text) || (!strstr(text, "..") && text[0] != '/'));
	if (tz_parse(data, size, &z, &e) == 0) {
		spans_check(&z);
		FUZZ_CHECK(cron_parse("30 2 * * *", &x, &e) == 0);
		times_check(&x, &z);
		FUZZ_CHECK(cron_parse("*/20 * 1-7 * */2", &x, &e) == 0);
		times_check(&x, &z);
	}
}
