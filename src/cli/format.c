/* See format.h. */
#include "cli/format.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/utf8.h"
#include "cli/list.h"
#include "cli/vivd.h"

#define COLUMNS_MAX 32
#define GAP 3 /* between columns, as docker has it */

/* ---- fields ---- */

static void id_put(FILE *to, const struct json *cell)
{
	fputs(json_show(cell, "id"), to);
}

static void name_put(FILE *to, const struct json *cell)
{
	fputs(cell_shown(cell), to);
}

static void image_put(FILE *to, const struct json *cell)
{
	text_print(to, json_show(cell, "image"), UINT_MAX);
}

static void command_put(FILE *to, const struct json *cell)
{
	command_print(to, cell, UINT_MAX);
}

static void state_put(FILE *to, const struct json *cell)
{
	fputs(json_show(cell, "state"), to);
}

static void created_put(FILE *to, const struct json *cell)
{
	fputs(json_show(cell, "created"), to);
}

static void labels_put(FILE *to, const struct json *cell)
{
	const struct json *labels = json_get(cell, "labels", JSON_OBJECT);

	for (const struct json *l = labels ? labels->first : NULL; l; l = l->next) {
		text_print(to, l->key, UINT_MAX);
		putc('=', to);
		text_print(to, l->text ? l->text : "", UINT_MAX);
		if (l->next)
			putc(',', to);
	}
}

/* "5 minutes", since a time of vivd's. */
static void age_put(FILE *to, const char *since)
{
	static const struct {
		const char *name;
		int64_t seconds;
	} units[] = { { "day", 86400 }, { "hour", 3600 }, { "minute", 60 }, { "second", 1 } };
	struct tm tm = { 0 };
	int64_t n;
	unsigned u = 0;

	if (sscanf(since, "%4d-%2d-%2dT%2d:%2d:%2d", &tm.tm_year, &tm.tm_mon, &tm.tm_mday,
		   &tm.tm_hour, &tm.tm_min, &tm.tm_sec) != 6)
		return;
	tm.tm_year -= 1900;
	tm.tm_mon--;
	n = MAX((int64_t)time(NULL) - (int64_t)timegm(&tm), 0);
	while (u + 1 < ARRAY_LEN(units) && n < units[u].seconds)
		u++;
	n /= units[u].seconds;
	fprintf(to, "%lld %s%s", (long long)n, units[u].name, n == 1 ? "" : "s");
}

/* As docker words it. */
static void status_put(FILE *to, const struct json *cell)
{
	const char *state = json_show(cell, "state"), *ended = json_show(cell, "ended");

	if (!strcmp(state, "running") || !strcmp(state, "paused")) {
		fputs("Up ", to);
		age_put(to, json_show(cell, "started"));
		fputs(*state == 'p' ? " (Paused)" : "", to);
	} else if (!strcmp(state, "sleeping") && *ended) {
		fputs("Sleeping ", to);
		age_put(to, ended);
	} else if ((!strcmp(state, "stopped") || !strcmp(state, "completed")) && *ended) {
		fputs("Exited ", to);
		if (*json_show(cell, "exit_code"))
			fprintf(to, "(%s) ", json_show(cell, "exit_code"));
		age_put(to, ended);
		fputs(" ago", to);
	} else {
		fprintf(to, "%c%s", *state ? *state - 'a' + 'A' : '-', *state ? state + 1 : "");
	}
}

static const struct field {
	const char *name, *heading;
	void (*put)(FILE *to, const struct json *cell);
} fields[] = {
	{ "ID", "ID", id_put },
	{ "Names", "NAMES", name_put },
	{ "Image", "IMAGE", image_put },
	{ "Command", "COMMAND", command_put },
	{ "Status", "STATUS", status_put },
	{ "State", "STATE", state_put },
	{ "Ports", "PORTS", ports_print },
	{ "Labels", "LABELS", labels_put },
	{ "CreatedAt", "CREATED AT", created_put },
};

/* ---- templates ---- */

/* The field of "{{.NAME}}" at text, with *end behind it; NULL: there is none. */
static const struct field *field_at(const char *text, const char **end)
{
	const char *name = text + 2 + strspn(text + 2, " "), *close;
	size_t n;

	if (*name++ != '.')
		return NULL;
	n = strcspn(name, " }");
	close = name + n + strspn(name + n, " ");
	*end = close + 2;
	if (strncmp(close, "}}", 2) != 0)
		return NULL;
	for (unsigned i = 0; i < ARRAY_LEN(fields); i++)
		if (strlen(fields[i].name) == n && !strncmp(fields[i].name, name, n))
			return &fields[i];
	return NULL;
}

static void template_put(FILE *to, const char *t, const struct json *cell)
{
	const struct field *f;

	while (*t) {
		if (!strncmp(t, "{{", 2) && (f = field_at(t, &t))) {
			if (cell)
				f->put(to, cell);
			else
				fputs(f->heading, to);
		} else if (*t == '\\' && (t[1] == 't' || t[1] == 'n')) {
			putc(t[1] == 't' ? '\t' : '\n', to);
			t += 2;
		} else {
			putc(*t++, to);
		}
	}
	putc('\n', to);
}

int format_read(struct format *f, struct args *a, struct err *e)
{
	const char *t = arg_value(a, "format"), *end;

	*f = (struct format){ 0 };
	if (!t)
		return 0;
	if (!strcmp(t, "json") || !strcmp(t, "{{json .}}")) {
		a->json = true;
		return 0;
	}
	f->table = !strncmp(t, "table ", 6);
	f->template = t += f->table ? 6 : 0;
	while ((t = strstr(t, "{{"))) {
		if (!field_at(t, &end))
			return args_wrong(a, e,
					  "--format: '%.*s' is not supported; the fields are "
					  "{{.ID}}, {{.Names}}, {{.Image}}, {{.Command}}, "
					  "{{.Status}}, {{.State}}, {{.CreatedAt}}, {{.Ports}} and "
					  "{{.Labels}}",
					  (int)MIN(strcspn(t, "}") + 2, strlen(t)), t);
		t = end;
	}
	if (arg_is_on(a, "quiet") || a->json)
		return args_wrong(a, e, "--format does not go with --quiet or --json");
	return 0;
}

/* ---- rows ---- */

void format_row(struct format *f, const struct json *cell)
{
	char *text = NULL;
	size_t n = 0;
	FILE *m;

	if (!f->table) {
		if (cell)
			template_put(stdout, f->template, cell);
		return;
	}
	m = open_memstream(&text, &n);
	if (!m)
		abort();
	template_put(m, f->template, cell);
	fclose(m);
	buf_add(&f->rows, text, n);
	free(text);
}

/* How many characters: continuation bytes are part of one. */
static unsigned width_of(const char *s, size_t n)
{
	unsigned w = 0;

	for (size_t i = 0; i < n; i++)
		w += (s[i] & 0xc0) != 0x80;
	return w;
}

/* Goes through all rows: once for the widths, once to print. What is behind the last tab of a row
 * needs no width. */
static void rows_walk(const struct buf *rows, unsigned widths[COLUMNS_MAX], bool print)
{
	const char *s = (const char *)rows->p, *end = s + rows->len;
	unsigned column = 0;

	while (s < end) {
		size_t n = 0;
		unsigned w;

		while (s[n] != '\t' && s[n] != '\n')
			n++;
		w = width_of(s, n);
		if (print)
			fwrite(s, 1, n, stdout);
		if (s[n] == '\n') {
			column = 0;
			if (print)
				putchar('\n');
		} else {
			if (print)
				printf("%*s", (int)(widths[column] - w + GAP), "");
			else
				widths[column] = MAX(widths[column], w);
			column = MIN(column + 1, COLUMNS_MAX - 1u);
		}
		s += n + 1;
	}
}

void format_end(struct format *f)
{
	unsigned widths[COLUMNS_MAX] = { 0 };

	rows_walk(&f->rows, widths, false);
	rows_walk(&f->rows, widths, true);
	buf_free(&f->rows);
}
