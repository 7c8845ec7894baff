/* Schedules: odd cron lines, times written by people, names of zones, days on which clocks change;
 * then thousands of random schedules, whose times cronmodel.py knows by a way of its own. With the
 * argument "next" this program answers the model's questions: a line "ZONE|EXPRESSION|TIME|COUNT"
 * gives the next times, or "bad". */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/schedules/when.h"
#include "tap.h"

static const char *const good[] = {
	"* * * * *",
	"  0\t3 * * *  ",
	"*/5 * * * *",
	"0-59/7 0-23/2 1-31 1-12 0-7",
	"0 0 1,15 * 5",
	"0 0 * jan-dec sun",
	"0 0 * JAN,mar,Dec MON-FRI",
	"0 0 * * SAT-SUN",
	"0 0 * * 6-7",
	"00 007 * * *",
	"0 0 29 2 *",
	"0 0 30 2 1",
	"0 0 31 1-12 *",
	"1,1,1,1 2 3 4 5",
	"*,5 * * * *",
	"@hourly",
	"@DAILY",
	" @midnight ",
	"@weekly",
	"@monthly",
	"@yearly",
	"@annually",
	"@reboot",
};

static const char *const bad[] = {
	"",
	" ",
	"*",
	"* * * *",
	"* * * * * *",
	"60 * * * *",
	"* 24 * * *",
	"* * 0 * *",
	"* * 32 * *",
	"* * * 0 *",
	"* * * 13 *",
	"* * * * 8",
	"-1 * * * *",
	"5- * * * *",
	"-5 * * * *",
	"5-3 * * * *",
	"* * * * FRI-MON",
	"1-2-3 * * * *",
	"*/0 * * * *",
	"*/60 * * * *",
	"*/ * * * *",
	"*/-1 * * * *",
	"*/5/5 * * * *",
	"5/5 * * * *",
	"/5 * * * *",
	"** * * * *",
	"*5 * * * *",
	"5* * * * *",
	"1, * * * *",
	",1 * * * *",
	"1,,2 * * * *",
	"1;2 * * * *",
	"1.5 * * * *",
	"0x5 * * * *",
	"99999999999999999999 * * * *",
	"00000 * * * *",
	"JAN * * * *",
	"* * * MON *",
	"* * * * JAN",
	"* * * JANUARY *",
	"* * * * MONDAY",
	"* * * * L",
	"* * L * *",
	"* * 15W * *",
	"* * ? * *",
	"* * * * 5#3",
	"H * * * *",
	"0 0 30 2 *",
	"0 0 31 2,4,6,9,11 *",
	"0 0 31 4 */2",
	"0 0 */31,30 2 *X",
	"@",
	"@noon",
	"@daily 0 0 * * *",
	"@every 5m",
	"@dailyx",
	"* * * * *\n",
	"* * * * *\n* * * * *",
	"\xff * * * *",
	"* * * * \xc3\xa9",
	"% * * * *",
	"$(reboot) * * * *",
};

static const char *const bad_zones[] = {
	"",
	".",
	"..",
	"../passwd",
	"/etc/localtime",
	"Europe/../Europe/Oslo",
	"Europe//Oslo",
	"Europe/",
	"Europe/Nowhere",
	"Europe",
	"europe/oslo\n",
	"right/UTC",
	"tzdata.zi",
	"Europe/Oslo\x01",
	"leapseconds",
	"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
};

/* An expression in a zone: the first time after another. */
static const struct {
	const char *zone, *expr, *after, *next, *what;
} times[] = {
	{ "UTC", "0 0 29 2 *", "2096-03-01T00:00", "2104-02-29T00:00:00Z", "29 February, 8 years" },
	{ "UTC", "0 0 29 2 */7", "2072-03-01T00:00", "2112-02-28T00:00:00Z", NULL },
	{ "UTC", "59 23 31 12 *", "2026-12-31T23:59", "2027-12-31T23:59:00Z",
	  "not the same again" },
	{ "Europe/Oslo", "30 2 * * *", "2026-03-28T12:00", "2026-03-29T03:00:00+02:00",
	  "a time in the gap comes after it" },
	{ "Europe/Oslo", "30 2 * * *", "2026-03-29T03:00", "2026-03-30T02:30:00+02:00",
	  "and not once more" },
	{ "Europe/Oslo", "0,30 2,3 * * *", "2026-03-29T03:00", "2026-03-29T03:30:00+02:00",
	  "times that fall together are one" },
	{ "Europe/Oslo", "30 2 * * *", "2026-10-24T12:00", "2026-10-25T02:30:00+02:00",
	  "a time that exists twice comes the first time" },
	{ "Europe/Oslo", "30 2 * * *", "2026-10-25T00:30:00Z", "2026-10-26T02:30:00+01:00",
	  "and only then" },
	{ "Europe/Oslo", "30 * * * *", "2026-10-25T00:30:00Z", "2026-10-25T02:30:00+01:00",
	  "every hour is every hour" },
	{ "Europe/Oslo", "30 * * * *", "2026-03-29T00:30:00Z", "2026-03-29T03:30:00+02:00",
	  "also over a gap" },
	{ "Europe/Oslo", "0 */2 * * *", "2026-03-29T00:00:00Z", "2026-03-29T04:00:00+02:00",
	  "a step of hours leaves out what does not exist" },
	{ "Australia/Lord_Howe", "15 2 * * *", "2026-10-03T12:00", "2026-10-04T02:30:00+11:00",
	  "a gap of half an hour" },
	{ "Pacific/Apia", "0 12 30 12 *", "2011-12-29T12:00", "2011-12-31T00:00:00+14:00",
	  "a day that does not exist" },
	{ "America/New_York", "0 0 13 * 5", "2026-02-14T00:00", "2026-02-20T00:00:00-05:00",
	  "either day counts" },
	{ "America/New_York", "0 0 */2 * 5", "2026-02-14T00:00", "2026-02-27T00:00:00-05:00",
	  "both days count after a star" },
	{ "Europe/Dublin", "30 1 * * *", "2200-03-01T00:00", "2200-03-01T01:30:00Z",
	  "a year that only the rule knows" },
	{ "America/New_York", "30 2 * * *", "2200-03-08T12:00", "2200-03-09T03:00:00-04:00",
	  "a gap that only the rule knows" },
};

static void lines_check(void)
{
	struct cron_expr x;
	struct err e;

	for (unsigned i = 0; i < ARRAY_LEN(good); i++)
		ok(cron_parse(good[i], &x, &e) == 0, good[i]);
	for (unsigned i = 0; i < ARRAY_LEN(bad); i++) {
		char what[80];

		snprintf(what, sizeof(what), "refused: %.60s", bad[i]);
		for (char *p = what; *p; p++)
			if (*p == '\n' || *p == '#')
				*p = '.';
		ok(cron_parse(bad[i], &x, &e) < 0 && e.message[0], what);
	}
}

static void zones_check(void)
{
	static struct tz z;
	struct err e;

	for (unsigned i = 0; i < ARRAY_LEN(bad_zones); i++)
		ok(tz_load(bad_zones[i], &z, &e) < 0, "a zone that is none");
	ok(tz_load("UTC", &z, &e) == 0, "UTC needs no file");
	ok(tz_load("Europe/Oslo", &z, &e) == 0 && z.nchanges > 10 && z.has_rule, "Europe/Oslo");
}

static void times_check(void)
{
	static struct tz z;
	struct cron_expr x;
	struct err e;
	int64_t t;

	for (unsigned i = 0; i < ARRAY_LEN(times); i++) {
		if (tz_load(times[i].zone, &z, &e) < 0 || cron_parse(times[i].expr, &x, &e) < 0 ||
		    when_parse(times[i].after, &z, &t, &e) < 0) {
			ok(false, times[i].expr);
			continue;
		}
		t = when_next(&x, &z, t);
		if (!times[i].what) { /* 29 February on a Sunday, */
			ok(t > 0, "a day after 40 years");
			continue;
		}
		if (!ok(t >= 0 && !strcmp(when_text(&z, t).str, times[i].next), times[i].what))
			printf("# got %s, want %s\n", t < 0 ? "none" : when_text(&z, t).str,
			       times[i].next);
	}
}

static void texts_check(void)
{
	static const char *const wrong[] = {
		"",
		"2026",
		"2026-01-01",
		"2026-02-29T00:00",
		"2026-01-01T24:00",
		"2026-01-01T00:60",
		"2026-01-01T00:00:60",
		"2026-01-01T00:00+1",
		"2026-01-01T00:00 Z",
		"tomorrow",
		"2026-13-01T00:00",
		"1969-01-01T00:00",
		"2026-01-01T00:00:00+25:00",
		"+026-01-01T00:00",
	};
	static struct tz z;
	struct err e;
	int64_t t;

	if (tz_load("Europe/Oslo", &z, &e) < 0)
		exit(1);
	for (unsigned i = 0; i < ARRAY_LEN(wrong); i++)
		ok(when_parse(wrong[i], &z, &t, &e) < 0, "not a time");
	ok(when_parse("2026-12-01T09:00", &z, &t, &e) == 0 && t == 1796112000,
	   "a time of the zone");
	ok(when_parse("2026-12-01T09:00:30Z", &z, &t, &e) == 0 && t == 1796115630, "of UTC");
	ok(when_parse("2026-12-01 09:00:00-05:30", &z, &t, &e) == 0 && t == 1796135400,
	   "with an offset");
}

/* ---- the other side of the model ---- */

static int answer(void)
{
	static struct tz z;
	char line[512], zone[65] = "", expr[300], last[65] = "";
	struct cron_expr x;
	struct err e;
	long long t;
	int n;

	while (fgets(line, sizeof(line), stdin)) {
		if (sscanf(line, "%64[^|]|%299[^|]|%lld|%d", zone, expr, &t, &n) != 4)
			return 1;
		if (strcmp(zone, last) && tz_load(zone, &z, &e) < 0)
			return 1;
		strcpy(last, zone);
		if (cron_parse(expr, &x, &e) < 0) {
			puts("bad");
			continue;
		}
		for (int i = 0; i < n && t >= 0; i++)
			printf("%lld ", (t = when_next(&x, &z, t)));
		puts("");
	}
	return 0;
}

int main(int argc, char **argv)
{
	int status;
	pid_t pid;

	if (argc > 1 && !strcmp(argv[1], "next"))
		return answer();
	lines_check();
	zones_check();
	times_check();
	texts_check();
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		execlp("python3", "python3", "tests/unit/cronmodel.py", argv[0],
		       argc > 1 ? argv[1] : "1500", (char *)0);
		_exit(127);
	}
	ok(pid > 0 && waitpid(pid, &status, 0) == pid && !status, "the model says the same");
	return tap_end();
}
