/* TAP output for unit tests: ok(condition, what), eq(got, want, what), and return tap_end() from
 * main. */
#ifndef VIV_TESTS_UNIT_TAP_H
#define VIV_TESTS_UNIT_TAP_H

#include <stdbool.h>
#include <stdio.h>

static int tap_count, tap_failed;

static inline bool tap_ok(bool good, const char *what, const char *file, int line)
{
	printf("%sok %d - %s\n", good ? "" : "not ", ++tap_count, what);
	if (!good) {
		printf("# failed at %s:%d\n", file, line);
		tap_failed++;
	}
	return good;
}

static inline void tap_eq(long long got, long long want, const char *what, const char *file,
			  int line)
{
	if (!tap_ok(got == want, what, file, line))
		printf("# got %lld, want %lld\n", got, want);
}

#define ok(good, what) tap_ok(good, what, __FILE__, __LINE__)
#define eq(got, want, what) tap_eq(got, want, what, __FILE__, __LINE__)

static inline int tap_end(void)
{
	printf("1..%d\n", tap_count);
	return tap_failed ? 1 : 0;
}

#endif
