/* See target.h. */
#include "cli/target.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

int target_open(const char *text, struct target *t, struct err *e)
{
	const char *colon = strrchr(text, ':');
	char cell[128];

	*t = (struct target){ .proc = KEEP_FIRST, .fd = -1 };
	snprintf(cell, sizeof(cell), "%.*s", (int)(colon ? colon - text : (long)strlen(text)),
		 text);
	if (colon) {
		if (!value_u32(colon + 1, &t->proc) || !t->proc)
			return err_set(e, ERR_USAGE,
				       "'%s': after ':' comes the number of a process, as 'viv "
				       "exec -d' prints it",
				       text);
		t->proc_given = true;
	}
	if (keep_find(cell, t->id, e) < 0)
		return -1;
	t->fd = keep_connect(t->id, e);
	return t->fd < 0 ? -1 : 0;
}

void target_close(struct target *t)
{
	if (t->fd >= 0)
		close(t->fd);
	t->fd = -1;
}

static const struct verb_option *option_find(const struct verb_option *list, unsigned n,
					     const char *name, size_t len)
{
	for (unsigned i = 0; i < n; i++)
		if (list[i].name && strlen(list[i].name) == len &&
		    !strncmp(list[i].name, name, len))
			return &list[i];
	return NULL;
}

static const struct verb_option *letter_find(const struct verb_option *list, unsigned n,
					     char letter)
{
	for (unsigned i = 0; i < n; i++)
		if (list[i].letter == letter)
			return &list[i];
	return NULL;
}

static int bad(const char *text, const char *why, const char *usage)
{
	fail("option '%s' %s; usage: %s", text, why, usage);
	return -1;
}

static int value_set(const struct verb_option *o, const char *text, const char *value,
		     const char *usage)
{
	if (!value)
		return bad(text, "needs a value", usage);
	if (o->value) {
		*o->value = value;
		return 0;
	}
	if (o->many->n == ARRAY_LEN(o->many->w))
		return bad(text, "is given too often", usage);
	o->many->w[o->many->n++] = value;
	return 0;
}

/* --name, --name=value, --name value. How many words it took; -1. */
static int long_take(char **argv, const struct verb_option *list, unsigned n, const char *usage)
{
	const char *name = argv[0] + 2, *equals = strchr(name, '=');
	size_t len = equals ? (size_t)(equals - name) : strlen(name);
	const struct verb_option *o = option_find(list, n, name, len);

	if (!o)
		return bad(argv[0], "is not known", usage);
	if (o->on) {
		if (equals)
			return bad(argv[0], "takes no value", usage);
		*o->on = true;
		return 1;
	}
	if (value_set(o, argv[0], equals ? equals + 1 : argv[1], usage) < 0)
		return -1;
	return equals ? 1 : 2;
}

/* -abc, -xVALUE, -x VALUE. */
static int short_take(char **argv, const struct verb_option *list, unsigned n, const char *usage)
{
	for (const char *c = argv[0] + 1; *c; c++) {
		const struct verb_option *o = letter_find(list, n, *c);

		if (!o)
			return bad(argv[0], "is not known", usage);
		if (o->on) {
			*o->on = true;
			continue;
		}
		if (value_set(o, argv[0], c[1] ? c + 1 : argv[1], usage) < 0)
			return -1;
		return c[1] ? 1 : 2;
	}
	return 1;
}

int options_take(int argc, char **argv, const struct verb_option *list, unsigned n,
		 const char *usage)
{
	int i = 1;

	while (i < argc && argv[i][0] == '-' && argv[i][1]) {
		int took;

		if (!strcmp(argv[i], "--"))
			return i + 1;
		took = argv[i][1] == '-' ? long_take(argv + i, list, n, usage)
					 : short_take(argv + i, list, n, usage);
		if (took < 0)
			return -1;
		i += took;
	}
	return i;
}
