/* See args.h. */
#include "cli/args.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct opt common_opts[] = {
	{ 0, "json", NULL, "print JSON, one object per line, errors included" },
	{ 'h', "help", NULL, "show this help" },
};
const unsigned ncommon_opts = ARRAY_LEN(common_opts);
const struct verb *verb_now;

int args_wrong(const struct verb *v, const char *fmt, ...)
{
	char usage[600] = "usage: ";
	struct err e;
	va_list ap;

	va_start(ap, fmt);
	err_note_va(&e, ERR_USAGE, fmt, ap);
	va_end(ap);
	verb_usage(v, usage + strlen(usage), sizeof(usage) - strlen(usage));
	err_remedy(&e, usage);
	return report(&e);
}

/* By name (len bytes of it), or by letter. */
static const struct opt *opt_find(const struct verb *v, const char *name, size_t len, char letter)
{
	for (unsigned i = 0; i < v->nopts + ncommon_opts; i++) {
		const struct opt *o = i < v->nopts ? &v->opts[i] : &common_opts[i - v->nopts];

		if (name ? strlen(o->name) == len && !strncmp(o->name, name, len)
			 : letter && o->letter == letter)
			return o;
	}
	return NULL;
}

static int opt_unknown(const struct args *a, const char *text)
{
	char name[64];
	const char *similar = NULL;

	snprintf(name, sizeof(name), "%.*s", (int)MIN(strcspn(text, "="), sizeof(name) - 1), text);
	if (a->verb->nopts)
		similar = value_similar(name + strspn(name, "-"), &a->verb->opts[0].name,
					a->verb->nopts, sizeof(a->verb->opts[0]));
	if (similar)
		return args_wrong(a->verb, "unknown option '%s', did you mean '--%s'", name,
				  similar);
	return args_wrong(a->verb, "unknown option '%s'", name);
}

static int given_add(struct args *a, const struct opt *o, const char *value)
{
	if (a->ngiven == ARGS_MAX)
		return args_wrong(a->verb, "too many options");
	a->given[a->ngiven].opt = o;
	a->given[a->ngiven++].value = value;
	if (o == &common_opts[0]) {
		a->json = true;
		report_json(true);
	}
	return 0;
}

/* --name, --name=value, --name value. Moves *i behind it. */
static int long_take(struct args *a, char **argv, int *i)
{
	const char *text = argv[(*i)++], *name = text + 2, *equals = strchr(name, '='), *value;
	const struct opt *o =
		opt_find(a->verb, name, equals ? (size_t)(equals - name) : strlen(name), 0);

	if (!o)
		return opt_unknown(a, text);
	if (!o->value)
		return equals ? args_wrong(a->verb, "--%s takes no value", o->name)
			      : given_add(a, o, NULL);
	value = equals ? equals + 1 : argv[*i];
	if (!value)
		return args_wrong(a->verb, "--%s needs a value", o->name);
	*i += !equals;
	return given_add(a, o, value);
}

/* -abc, -xVALUE, -x VALUE. */
static int letters_take(struct args *a, char **argv, int *i)
{
	const char *text = argv[(*i)++];
	int status = 0;

	for (const char *c = text + 1; *c && !status; c++) {
		const struct opt *o = opt_find(a->verb, NULL, 0, *c);

		if (!o)
			return opt_unknown(a, text);
		if (!o->value) {
			status = given_add(a, o, NULL);
			continue;
		}
		if (!c[1] && !argv[*i])
			return args_wrong(a->verb, "-%c needs a value", *c);
		return given_add(a, o, c[1] ? c + 1 : argv[(*i)++]);
	}
	return status;
}

int args_take(struct args *a, int argc, char **argv)
{
	int status = 0, i = 1;
	bool ended = false;

	*a = (struct args){ .verb = verb_now, .words = argv + 1 };
	while (i < argc && !status) {
		if (ended || argv[i][0] != '-' || !argv[i][1]) {
			a->words[a->n++] = argv[i++];
			ended |= (a->verb->flags & VERB_COMMAND) != 0;
		} else if (!strcmp(argv[i], "--")) {
			ended = true;
			i++;
		} else if (argv[i][1] == '-') {
			status = long_take(a, argv, &i);
		} else {
			status = letters_take(a, argv, &i);
		}
	}
	if (status)
		return status;
	a->words[a->n] = NULL;
	if (arg_is_on(a, "help")) {
		verb_help(a->verb);
		return ARGS_HELP;
	}
	if (a->n < a->verb->min)
		return args_wrong(a->verb, "missing argument");
	if (a->verb->max >= 0 && a->n > a->verb->max)
		return args_wrong(a->verb, "unexpected argument: '%s'", a->words[a->verb->max]);
	return 0;
}

/* A name that is in no row is a mistake of the program. */
static const struct opt *opt_of(const struct args *a, const char *name)
{
	const struct opt *o = opt_find(a->verb, name, strlen(name), 0);

	if (!o)
		abort();
	return o;
}

const char *arg_next(const struct args *a, const char *name, unsigned *at)
{
	const struct opt *o = opt_of(a, name);

	while (*at < a->ngiven)
		if (a->given[(*at)++].opt == o)
			return a->given[*at - 1].value;
	return NULL;
}

bool arg_is_on(const struct args *a, const char *name)
{
	const struct opt *o = opt_of(a, name);

	for (unsigned i = 0; i < a->ngiven; i++)
		if (a->given[i].opt == o)
			return true;
	return false;
}

const char *arg_value(const struct args *a, const char *name)
{
	const char *value, *last = NULL;
	unsigned at = 0;

	while ((value = arg_next(a, name, &at)))
		last = value;
	return last;
}

bool arg_time(const struct args *a, const char *name, int64_t *ret)
{
	const char *text = arg_value(a, name);

	if (!text)
		return true;
	if (!strcmp(text, "0")) {
		*ret = 0;
		return true;
	}
	if (value_duration(text, ret))
		return true;
	args_wrong(a->verb, "--%s '%s': must be a time such as 500ms, 10s or 5m", name, text);
	return false;
}
