/* --ulimit NAME=SOFT[:HARD]: the limits of a process, with docker's names for them. */
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>

#include "spec/options.h"

#define NOFILE_MAX 1048576u /* as Linux has it: fs.nr_open */

static const char *const names[SPEC_ULIMITS] = {
	[RLIMIT_CPU] = "cpu",		[RLIMIT_FSIZE] = "fsize",
	[RLIMIT_DATA] = "data",		[RLIMIT_STACK] = "stack",
	[RLIMIT_CORE] = "core",		[RLIMIT_RSS] = "rss",
	[RLIMIT_NPROC] = "nproc",	[RLIMIT_NOFILE] = "nofile",
	[RLIMIT_MEMLOCK] = "memlock",	[RLIMIT_AS] = "as",
	[RLIMIT_LOCKS] = "locks",	[RLIMIT_SIGPENDING] = "sigpending",
	[RLIMIT_MSGQUEUE] = "msgqueue", [RLIMIT_NICE] = "nice",
	[RLIMIT_RTPRIO] = "rtprio",	[RLIMIT_RTTIME] = "rttime",
};
_Static_assert(RLIM_NLIMITS == SPEC_ULIMITS, "names");

static int name_unknown(const char *where, const char *name, struct err *e)
{
	const char *similar = value_similar(name, names, SPEC_ULIMITS, sizeof(names[0]));

	if (similar)
		return err_set(e, ERR_INVALID,
			       "%s: there is no limit '%.40s'" REMEDY "did you mean '%s'?", where,
			       name, similar);
	return err_set(
		e, ERR_INVALID,
		"%s: there is no limit '%.40s'" REMEDY
		"one of: as, core, cpu, data, fsize, locks, memlock, msgqueue, nice, nofile, "
		"nproc, rss, rtprio, rttime, sigpending, stack",
		where, name);
}

/* A whole number, or no limit at all. */
static bool number_parse(const char *s, size_t len, uint64_t *ret)
{
	uint64_t n = 0;

	*ret = RLIM_INFINITY;
	if ((len == 2 && !strncmp(s, "-1", 2)) || (len == 9 && !strncasecmp(s, "unlimited", 9)))
		return true;
	for (size_t i = 0; i < len; i++) {
		if (s[i] < '0' || s[i] > '9' || n > (UINT64_MAX - 9) / 10)
			return false;
		n = n * 10 + (uint64_t)(s[i] - '0');
	}
	*ret = n;
	return len > 0;
}

int ulimit_parse(const char *where, const char *name, const char *value, struct ulimit *ret,
		 struct err *e)
{
	size_t n = strcspn(value, ":");
	struct ulimit l = { 0 };

	while (l.resource < SPEC_ULIMITS && strcmp(names[l.resource], name))
		l.resource++;
	if (l.resource == SPEC_ULIMITS)
		return name_unknown(where, name, e);
	if (!number_parse(value, n, &l.soft) ||
	    !number_parse(value[n] ? value + n + 1 : value, value[n] ? strlen(value + n + 1) : n,
			  &l.hard))
		return err_set(e, ERR_INVALID,
			       "%s: '%s=%.60s' is not a limit" REMEDY
			       "give a whole number, or two as SOFT:HARD; -1 is unlimited",
			       where, name, value);
	if (l.soft > l.hard)
		return err_set(e, ERR_INVALID,
			       "%s: the soft limit of '%s=%.60s' is above the hard limit", where,
			       name, value);
	if (l.resource == RLIMIT_NOFILE && l.hard > NOFILE_MAX)
		return err_set(e, ERR_INVALID, "%s: nofile is at most %u", where, NOFILE_MAX);
	*ret = l;
	return 0;
}

unsigned run_ulimits(const struct run_options *o, struct ulimit ret[SPEC_ULIMITS])
{
	unsigned n = 0;

	for (unsigned i = 0; i < o->ulimits.n; i++) {
		const char *text = o->ulimits.v[i];
		char name[24];
		struct ulimit l;
		struct err e;
		unsigned k = 0;

		snprintf(name, sizeof(name), "%.*s", (int)strcspn(text, "="), text);
		/* It was checked when it came. */
		if (ulimit_parse("", name, strchr(text, '=') + 1, &l, &e) < 0)
			continue;
		while (k < n && ret[k].resource != l.resource)
			k++;
		ret[k] = l;
		n = MAX(n, k + 1);
	}
	return n;
}

bool group_is_valid(const char *text)
{
	size_t n = strcspn(text, ":,\n");

	return n && n < 64 && !text[n];
}
