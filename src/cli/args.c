/* See args.h. */
#include "cli/args.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct opt common_opts[] = {
	{ 0, "json", NULL, "print JSON, one object per line, errors included" },
	{ 'h', "help", NULL, "show this help" },
};
const unsigned ncommon_opts = ARRAY_LEN(common_opts);

int args_wrong(const struct args *a, struct err *e, const char *fmt, ...)
{
	char usage[600] = "usage: ";
	va_list ap;

	va_start(ap, fmt);
	err_note_va(e, ERR_USAGE, fmt, ap);
	va_end(ap);
	verb_usage(a->verb, usage + strlen(usage), sizeof(usage) - strlen(usage));
	err_remedy(e, usage);
	return -1;
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

static int opt_unknown(const struct args *a, const char *text, struct err *e)
{
	char name[64];
	const char *similar = NULL;

	snprintf(name, sizeof(name), "%.*s", (int)MIN(strcspn(text, "="), sizeof(name) - 1), text);
	if (a->verb->nopts)
		similar = value_similar(name + strspn(name, "-"), &a->verb->opts[0].name,
					a->verb->nopts, sizeof(a->verb->opts[0]));
	if (similar)
		return args_wrong(a, e, "unknown option '%s', did you mean '--%s'", name, similar);
	return args_wrong(a, e, "unknown option '%s'", name);
}

static int given_add(struct args *a, const struct opt *o, const char *value, struct err *e)
{
	if (a->ngiven == ARGS_MAX)
		return args_wrong(a, e, "too many options");
	a->given[a->ngiven].opt = o;
	a->given[a->ngiven++].value = value;
	if (o == &common_opts[0]) {
		a->json = true;
		report_json(true);
	}
	return 0;
}

/* --name, --name=value, --name value. Moves *i behind it. */
static int long_take(struct args *a, int *i, struct err *e)
{
	const char *text = a->argv[(*i)++], *name = text + 2, *equals = strchr(name, '='), *value;
	const struct opt *o =
		opt_find(a->verb, name, equals ? (size_t)(equals - name) : strlen(name), 0);

	if (!o)
		return opt_unknown(a, text, e);
	if (!o->value)
		return equals ? args_wrong(a, e, "--%s takes no value", o->name)
			      : given_add(a, o, NULL, e);
	value = equals ? equals + 1 : a->argv[*i];
	if (!value)
		return args_wrong(a, e, "--%s needs a value", o->name);
	*i += !equals;
	return given_add(a, o, value, e);
}

/* -abc, -xVALUE, -x VALUE. */
static int letters_take(struct args *a, int *i, struct err *e)
{
	const char *text = a->argv[(*i)++];
	int status = 0;

	for (const char *c = text + 1; *c && !status; c++) {
		const struct opt *o = opt_find(a->verb, NULL, 0, *c);

		if (!o)
			return opt_unknown(a, text, e);
		if (!o->value) {
			status = given_add(a, o, NULL, e);
			continue;
		}
		if (!c[1] && !a->argv[*i])
			return args_wrong(a, e, "-%c needs a value", *c);
		return given_add(a, o, c[1] ? c + 1 : a->argv[(*i)++], e);
	}
	return status;
}

int args_take(struct args *a, const struct verb *v, int argc, char **argv, struct err *e)
{
	int r = 0, i = 1;
	bool ended = false;

	*a = (struct args){ .verb = v, .argc = argc, .argv = argv };
	a->words = xalloc(((size_t)argc + 1) * sizeof(*a->words));
	while (i < argc && !r) {
		if (ended || argv[i][0] != '-' || !argv[i][1]) {
			a->words[a->n++] = argv[i++];
			ended |= (v->flags & VERB_COMMAND) != 0;
		} else if (!strcmp(argv[i], "--")) {
			ended = true;
			i++;
		} else if (argv[i][1] == '-') {
			r = long_take(a, &i, e);
		} else {
			r = letters_take(a, &i, e);
		}
	}
	if (r || arg_is_on(a, "help"))
		return r;
	if (a->n < v->min)
		return args_wrong(a, e, "missing argument");
	if (v->max >= 0 && a->n > v->max)
		return args_wrong(a, e, "unexpected argument: '%s'", a->words[v->max]);
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

int arg_time(const struct args *a, const char *name, int64_t *ret, struct err *e)
{
	const char *text = arg_value(a, name);

	if (!text || value_duration(text, ret))
		return 0;
	if (strcmp(text, "0"))
		return args_wrong(a, e, "--%s '%s': must be a time such as 500ms, 10s or 5m", name,
				  text);
	*ret = 0;
	return 0;
}

int removal_is_agreed(const struct args *a, const char *question, struct err *e)
{
	char line[16];

	fflush(stdout);
	if (arg_is_on(a, "force"))
		return 1;
	if (a->json || !isatty(0))
		return err_set(e, ERR_USAGE,
			       "cannot ask for confirmation: standard input is not a "
			       "terminal" REMEDY "--force removes this");
	fprintf(stderr, "%s [y/N] ", question);
	return fgets(line, sizeof(line), stdin) && (line[0] == 'y' || line[0] == 'Y');
}
