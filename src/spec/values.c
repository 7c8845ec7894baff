/* Values of options: sizes, durations, numbers, signals, and what a mistyped word was meant to
 * be. */
#include "spec/values.h"

#include <signal.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "spec/options.h"
#include "wire/keeper.h"

/* The decimal number at *s as thousandths; moves *s behind it. */
static bool milli_parse(const char **s, uint64_t *ret)
{
	const char *p = *s;
	uint64_t n = 0, place = 100;
	bool any = false;

	for (; *p >= '0' && *p <= '9'; p++, any = true) {
		if (n > UINT64_MAX / 100000)
			return false;
		n = n * 10 + (uint64_t)(*p - '0');
	}
	n *= 1000;
	if (*p == '.')
		for (p++; *p >= '0' && *p <= '9'; p++, place /= 10, any = true)
			n += place * (uint64_t)(*p - '0');
	*s = p;
	*ret = n;
	return any;
}

bool value_milli(const char *s, uint64_t *ret)
{
	return milli_parse(&s, ret) && !*s;
}

bool value_u32(const char *s, uint32_t *ret)
{
	uint64_t n;

	if (strchr(s, '.') || !value_milli(s, &n) || n / 1000 > UINT32_MAX)
		return false;
	*ret = (uint32_t)(n / 1000);
	return true;
}

bool value_size(const char *s, uint64_t *ret)
{
	static const char units[] = "kmgt";
	uint64_t n;
	unsigned shift = 0;

	if (!milli_parse(&s, &n) || !n)
		return false;
	if (*s) {
		const char *u = strchr(units, *s | 0x20);

		if (u && *u) {
			shift = 10 * (unsigned)(u - units + 1);
			s++;
		}
		if (shift && s[0] == 'i')
			s++;
		if (*s == 'B' || *s == 'b')
			s++;
		if (*s)
			return false;
	}
	if (n > UINT64_MAX >> shift)
		return false;
	*ret = (n << shift) / 1000;
	return *ret > 0;
}

bool value_duration(const char *s, int64_t *ret)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = { { "", NSEC_PER_SEC },
		      { "s", NSEC_PER_SEC },
		      { "ms", 1000000 },
		      { "us", 1000 },
		      { "m", 60 * NSEC_PER_SEC },
		      { "min", 60 * NSEC_PER_SEC },
		      { "h", 3600 * NSEC_PER_SEC },
		      { "d", 24 * 3600 * NSEC_PER_SEC } };
	uint64_t n;

	if (!milli_parse(&s, &n) || !n)
		return false;
	for (unsigned i = 0; i < ARRAY_LEN(units); i++) {
		if (strcmp(units[i].name, s))
			continue;
		/* n is in thousandths, and every unit is a multiple of 1000 ns. */
		if (n > (uint64_t)INT64_MAX / (units[i].ns / 1000))
			return false;
		*ret = (int64_t)(n * (units[i].ns / 1000));
		return *ret > 0;
	}
	return false;
}

/* n digits at *s; moves *s behind them. -1: others are there. */
static int digits(const char **s, int n)
{
	int v = 0;

	for (; n; n--, ++*s) {
		if (**s < '0' || **s > '9')
			return -1;
		v = v * 10 + **s - '0';
	}
	return v;
}

static bool skip(const char **s, char c)
{
	if (**s != c)
		return false;
	++*s;
	return true;
}

/* "Z", "+01:00", "-01:00": seconds east of Greenwich. */
static bool zone_parse(const char **s, int *ret)
{
	int sign = **s == '-' ? -1 : 1, hours, minutes;

	*ret = 0;
	if (skip(s, 'Z') || skip(s, 'z'))
		return true;
	if (!skip(s, '+') && !skip(s, '-'))
		return false;
	hours = digits(s, 2);
	if (hours < 0 || hours > 23 || !skip(s, ':'))
		return false;
	minutes = digits(s, 2);
	*ret = sign * (hours * 3600 + minutes * 60);
	return minutes >= 0 && minutes < 60;
}

static bool date_parse(const char *s, int64_t *ret)
{
	int64_t nanos = 0, place = NSEC_PER_SEC / 10;
	struct tm tm = { 0 };
	int zone;

	tm.tm_year = digits(&s, 4) - 1900;
	if (tm.tm_year < 70 || tm.tm_year > 300 || !skip(&s, '-'))
		return false;
	tm.tm_mon = digits(&s, 2) - 1;
	if (tm.tm_mon < 0 || tm.tm_mon > 11 || !skip(&s, '-'))
		return false;
	tm.tm_mday = digits(&s, 2);
	if (tm.tm_mday < 1 || tm.tm_mday > 31 || !(skip(&s, 'T') || skip(&s, 't')))
		return false;
	tm.tm_hour = digits(&s, 2);
	if (tm.tm_hour < 0 || tm.tm_hour > 23 || !skip(&s, ':'))
		return false;
	tm.tm_min = digits(&s, 2);
	if (tm.tm_min < 0 || tm.tm_min > 59 || !skip(&s, ':'))
		return false;
	tm.tm_sec = digits(&s, 2);
	if (tm.tm_sec < 0 || tm.tm_sec > 60)
		return false;
	if (skip(&s, '.')) {
		if (*s < '0' || *s > '9')
			return false;
		for (; *s >= '0' && *s <= '9'; s++, place /= 10)
			nanos += place * (*s - '0');
	}
	if (!zone_parse(&s, &zone) || *s)
		return false;
	*ret = ((int64_t)timegm(&tm) - zone) * NSEC_PER_SEC + nanos;
	return true;
}

bool value_instant(const char *s, int64_t now, int64_t *ret)
{
	size_t n = strlen(s);
	uint64_t milli;
	int64_t ago;

	if (n > 4 && s[4] == '-')
		return date_parse(s, ret);
	if (n && s[n - 1] >= '0' && s[n - 1] <= '9') {
		if (!value_milli(s, &milli) || milli > (uint64_t)INT64_MAX / 1000000)
			return false;
		*ret = (int64_t)milli * 1000000;
		return true;
	}
	if (!value_duration(s, &ago))
		return false;
	*ret = now - ago;
	return true;
}

/* How many letters have to be changed, added, removed or swapped with their neighbour, for short
 * words. */
static unsigned distance(const char *a, const char *b)
{
	unsigned rows[3][33], la = (unsigned)strlen(a), lb = (unsigned)strlen(b);

	if (la > 32 || lb > 32)
		return 99;
	for (unsigned i = 0; i <= la; i++) {
		unsigned *row = rows[i % 3], *up = rows[(i + 2) % 3], *higher = rows[(i + 1) % 3];

		row[0] = i;
		for (unsigned j = 1; j <= lb; j++) {
			if (!i) {
				row[j] = j;
				continue;
			}
			row[j] =
				MIN(MIN(up[j], row[j - 1]) + 1, up[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = MIN(row[j], higher[j - 2] + 1);
		}
	}
	return rows[la % 3][lb];
}

const char *value_similar(const char *s, const void *words, unsigned n, size_t stride)
{
	const char *best = NULL;
	unsigned least = 3, len = (unsigned)strlen(s);

	for (unsigned i = 0; i < n; i++) {
		const char *word = *(const char *const *)((const char *)words + i * stride);
		unsigned d = distance(s, word);

		/* The start of a word is a good hint as well. */
		if (d >= least && len >= 3 && !strncmp(s, word, len))
			d = least - 1;
		if (d < least && 2 * d <= strlen(word)) {
			least = d;
			best = word;
		}
	}
	return best;
}

bool cell_id_is_valid(const char *id)
{
	size_t n = strspn(id, "0123456789abcdefghijklmnopqrstuvwxyz");

	return n && n <= KEEP_ID_LEN && !id[n];
}

static const struct {
	const char *name;
	int sig;
} signals[] = {
	{ "HUP", SIGHUP },   { "INT", SIGINT },	      { "QUIT", SIGQUIT },     { "ILL", SIGILL },
	{ "TRAP", SIGTRAP }, { "ABRT", SIGABRT },     { "BUS", SIGBUS },       { "FPE", SIGFPE },
	{ "KILL", SIGKILL }, { "USR1", SIGUSR1 },     { "SEGV", SIGSEGV },     { "USR2", SIGUSR2 },
	{ "PIPE", SIGPIPE }, { "ALRM", SIGALRM },     { "TERM", SIGTERM },     { "CHLD", SIGCHLD },
	{ "CONT", SIGCONT }, { "STOP", SIGSTOP },     { "TSTP", SIGTSTP },     { "TTIN", SIGTTIN },
	{ "TTOU", SIGTTOU }, { "URG", SIGURG },	      { "XCPU", SIGXCPU },     { "XFSZ", SIGXFSZ },
	{ "SYS", SIGSYS },   { "VTALRM", SIGVTALRM }, { "STKFLT", SIGSTKFLT }, { "PROF", SIGPROF },
	{ "IO", SIGIO },     { "WINCH", SIGWINCH },   { "PWR", SIGPWR },
};

int value_signal(const char *text)
{
	uint32_t n;

	if (value_u32(text, &n))
		return n >= 1 && n <= 64 ? (int)n : 0;
	if (!strncasecmp(text, "SIG", 3))
		text += 3;
	for (unsigned i = 0; i < ARRAY_LEN(signals); i++)
		if (!strcasecmp(signals[i].name, text))
			return signals[i].sig;
	return 0;
}
