/* Options, sizes, times and JSON text of viv-store's verbs. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "import/verbs.h"

/* The option that arg is, with what follows its '='. */
static const struct option *option_find(const char *arg, const struct option *options, unsigned n,
					const char **value)
{
	*value = NULL;
	for (unsigned i = 0; i < n; i++) {
		size_t len = strlen(options[i].name);

		if (options[i].letter && arg[1] == options[i].letter) {
			if (options[i].value && arg[2])
				*value = arg + 2;
			if (options[i].value || !arg[2])
				return &options[i];
		}
		if (arg[1] != '-' || strncmp(arg + 2, options[i].name, len))
			continue;
		if (arg[2 + len] == '=')
			*value = arg + 3 + len;
		if (!arg[2 + len] || *value)
			return &options[i];
	}
	return NULL;
}

int options_parse(int argc, char **argv, const struct option *options, unsigned n, int min, int max)
{
	int left = 0;
	bool only_arguments = false;

	for (int i = 1; i < argc; i++) {
		const struct option *o;
		const char *value;

		if (only_arguments || argv[i][0] != '-' || !argv[i][1]) {
			argv[++left] = argv[i];
			continue;
		}
		if (!strcmp(argv[i], "--")) {
			only_arguments = true;
			continue;
		}
		o = option_find(argv[i], options, n, &value);
		/* Every verb has these; main() saw them. */
		if (!o && (!strcmp(argv[i], "--json") || !strcmp(argv[i], "--progress")))
			continue;
		if (!o) {
			fail(ERR_USAGE,
			     "unknown option '%s'" REMEDY "'viv image %s --help' lists them",
			     argv[i], argv[0]);
			return -1;
		}
		if (o->flag) {
			if (value) {
				fail(ERR_USAGE, "--%s takes no value", o->name);
				return -1;
			}
			*o->flag = true;
			continue;
		}
		if (!value && i + 1 < argc)
			value = argv[++i];
		if (!value) {
			fail(ERR_USAGE, "--%s needs a value", o->name);
			return -1;
		}
		*o->value = value;
	}
	if (left >= min && left <= max)
		return left;
	fail(ERR_USAGE,
	     left < min ? "'viv image %s' needs more" REMEDY "'viv image %s --help' explains it"
			: "too much for 'viv image %s'" REMEDY "'viv image %s --help' explains it",
	     argv[0], argv[0]);
	return -1;
}

bool size_parse(const char *s, uint64_t *ret)
{
	static const char units[] = "kmgt";
	char *end;
	double number;
	const char *u;

	if (*s < '0' || *s > '9' || s[1] == 'x' || s[1] == 'X')
		return false;
	number = strtod(s, &end);
	if (*end) {
		u = strchr(units, *end | 0x20);
		if (!u || !*u)
			return false;
		for (; u >= units; u--)
			number *= 1024;
		end++;
		if (*end == 'i')
			end++;
		if (*end == 'B' || *end == 'b')
			end++;
	}
	if (*end || number < 1 || number > 9e18)
		return false;
	*ret = (uint64_t)number;
	return true;
}

void image_made(const char *hash, const char *tag)
{
	if (!report_is_json()) {
		printf("%s\n", hash);
		return;
	}
	printf("{\"id\":\"%s\"", hash);
	if (tag) {
		printf(",\"tag\":");
		json_quoted(stdout, tag);
	}
	printf("}\n");
}

const char *size_text(uint64_t size, char *to, size_t n)
{
	static const char *const units[] = { "B", "kB", "MB", "GB", "TB", "PB", "EB" };
	double number = (double)size;
	unsigned unit = 0;

	for (; number >= 999.5 && unit + 1 < ARRAY_LEN(units); unit++)
		number /= 1000;
	snprintf(to, n, unit && number < 99.95 ? "%.1f %s" : "%.0f %s", number, units[unit]);
	return to;
}

const char *time_text(int64_t seconds, char *to, size_t n)
{
	time_t t = (time_t)seconds;
	struct tm tm;

	if (!gmtime_r(&t, &tm) || !strftime(to, n, "%Y-%m-%dT%H:%M:%SZ", &tm))
		snprintf(to, n, "?");
	return to;
}
