/* Sizes, durations and numbers of the command line, and the hint for a mistyped word. */
/* objects: src/spec/values.c */
#include <stdio.h>
#include <string.h>

#include "spec/values.h"
#include "tap.h"

static void check(bool good, const char *what, const char *value)
{
	char name[128];

	snprintf(name, sizeof(name), "%s '%s'", what, value);
	ok(good, name);
}

static void size(const char *s, uint64_t want)
{
	uint64_t n = 0;

	check(value_size(s, &n) == (want != 0) && (!want || n == want), "size", s);
}

static void duration(const char *s, int64_t want)
{
	int64_t n = 0;

	check(value_duration(s, &n) == (want != 0) && (!want || n == want), "duration", s);
}

static void instant(const char *s, int64_t want)
{
	int64_t n = 0;

	check(value_instant(s, 2000 * NSEC_PER_SEC, &n) == (want >= 0) && (want < 0 || n == want),
	      "instant", s);
}

static void similar(const char *s, const char *want)
{
	static const char *const words[] = { "memory", "mount", "env", "run", "timeout" };
	const char *got = value_similar(s, words, ARRAY_LEN(words), sizeof(words[0]));

	check(want ? got && !strcmp(got, want) : !got, "similar to", s);
}

int main(void)
{
	uint32_t u;
	uint64_t m;

	size("4096", 4096);
	size("64M", 64UL << 20);
	size("1g", 1UL << 30);
	size("1.5G", 3UL << 29);
	size("2KiB", 2048);
	size("1TB", 1UL << 40);
	size("0", 0);
	size("", 0);
	size("M", 0);
	size("5X", 0);
	size("5MM", 0);
	size("-1", 0);
	size("99999999999999999999", 0);
	size("99999999999T", 0);
	duration("500ms", 500000000);
	duration("10s", 10 * NSEC_PER_SEC);
	duration("10", 10 * NSEC_PER_SEC);
	duration("0.5", NSEC_PER_SEC / 2);
	duration("5m", 300 * NSEC_PER_SEC);
	duration("1h", 3600 * NSEC_PER_SEC);
	duration("0", 0);
	duration("5x", 0);
	duration("99999999999999d", 0);
	instant("1970-01-01T00:00:00Z", 0);
	instant("1970-01-01T00:00:01.5Z", 3 * NSEC_PER_SEC / 2);
	instant("1970-01-01T02:00:00+01:30", 1800 * NSEC_PER_SEC);
	instant("1970-01-01T00:00:00-01:00", 3600 * NSEC_PER_SEC);
	instant("2026-11-16T06:00:00.000000001Z", 1794808800 * NSEC_PER_SEC + 1);
	instant("1.25", 5 * NSEC_PER_SEC / 4);
	instant("1794808800", 1794808800 * NSEC_PER_SEC);
	instant("10m", 1400 * NSEC_PER_SEC);
	instant("", -1);
	instant("x", -1);
	instant("m", -1);
	instant("1970-01-01", -1);
	instant("1970-01-01T00:00:00", -1);
	instant("1970-01-01T00:00:00Zx", -1);
	instant("1970-01-01T00:00:00.Z", -1);
	instant("1970-13-01T00:00:00Z", -1);
	instant("1970-01-32T00:00:00Z", -1);
	instant("1970-01-01T24:00:00Z", -1);
	instant("1970-01-01T00:60:00Z", -1);
	instant("1970-01-01T00:00:00+24:00", -1);
	instant("99999999999999999999", -1);
	check(value_u32("4294967295", &u) && u == UINT32_MAX, "number", "4294967295");
	check(!value_u32("4294967296", &u), "no number", "4294967296");
	check(!value_u32("1.5", &u), "no number", "1.5");
	check(value_milli("0.25", &m) && m == 250, "fraction", "0.25");
	similar("memry", "memory");
	similar("mem", "memory");
	similar("tiemout", "timeout");
	similar("rn", "run");
	similar("xyzzy", NULL);
	similar("e", NULL);
	return tap_end();
}
