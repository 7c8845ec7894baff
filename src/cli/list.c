/* viv ps, ls, inspect and stats: what vivd knows of cells. */
#include "cli/list.h"

#include <stdlib.h>
#include <string.h>

#include "base/jsontext.h"
#include "base/utf8.h"
#include "cli/cells.h"
#include "cli/color.h"
#include "cli/format.h"
#include "cli/target.h"
#include "cli/vivd.h"

const char *cell_shown(const struct json *cell)
{
	const char *name = json_show(cell, "name");

	return *name ? name : json_show(cell, "id");
}

unsigned text_print(FILE *to, const char *s, unsigned max)
{
	unsigned n = 0;

	while (*s && n < max) {
		unsigned len = text_printable(s, strlen(s));

		if (len)
			fwrite(s, 1, len, to);
		else
			putc('?', to);
		s += len ? len : 1;
		n++;
	}
	return n;
}

void words_print(FILE *to, const struct json *words, unsigned max)
{
	for (const struct json *w = words ? words->first : NULL; w && max; w = w->next) {
		max -= text_print(to, w->text ? w->text : "", max);
		if (w->next && max) {
			putc(' ', to);
			max--;
		}
	}
}

void command_print(FILE *to, const struct json *cell, unsigned max)
{
	const char *text = json_show(cell, "command");

	if (*text)
		text_print(to, text, max);
	else
		words_print(to, json_get(json_get(cell, "spec", JSON_OBJECT), "command", JSON_LIST),
			    max);
}

struct size_text size_text(uint64_t n)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	struct size_text t;
	unsigned u = 0;
	double d = (double)n;

	while (d >= 1024 && u + 1 < ARRAY_LEN(units)) {
		d /= 1024;
		u++;
	}
	snprintf(t.str, sizeof(t.str), u ? "%.1f%s" : "%.0f%s", d, units[u]);
	return t;
}

/* ---- ps ---- */

static bool is_live(const struct json *cell)
{
	const char *state = json_show(cell, "state");

	return strcmp(state, "created") && strcmp(state, "stopped") && strcmp(state, "completed") &&
	       strcmp(state, "failed");
}

static void heading_print(void)
{
	printf("%-16s  %-20s %-14s %-9s %-20s  %s\n", "ID", "NAME", "IMAGE", "STATE", "STARTED",
	       "COMMAND");
}

static void row_print(const struct json *cell)
{
	const char *state = json_show(cell, "state"), *name = json_show(cell, "name");
	const char *when = json_show(cell, *json_show(cell, "started") ? "started" : "created");
	enum color color = color_state(state);

	if (!*name)
		name = json_get(cell, "foreground", JSON_BOOL) ? "(foreground)" : "-";
	printf("%-16.16s  %-20s %-14.12s %s%-9s%s %-20.19s  ", json_show(cell, "id"), name,
	       json_show(cell, "image"), color_on(stdout, color), state, color_off(stdout, color),
	       when);
	command_print(stdout, cell, 160);
	if (json_get(cell, "ports", JSON_LIST)) {
		fputs("  [", stdout);
		ports_print(stdout, cell);
		putchar(']');
	}
	putchar('\n');
}

/* --filter NAME=VALUE as a part of the query; -1: that is none. */
static int filter_add(char *query, size_t size, const char *text)
{
	static const struct {
		const char *name, *parameter;
	} names[] = { { "state", "state" },
		      { "status", "state" },
		      { "label", "label" },
		      { "name", "name" } };
	size_t n = strcspn(text, "="), at = strlen(query);

	for (unsigned i = 0; text[n] && i < ARRAY_LEN(names); i++)
		if (strlen(names[i].name) == n && !strncmp(names[i].name, text, n)) {
			/* As in a path, %XX. */
			snprintf(query + at, size - at, "%c%s=%.900s", at ? '&' : '?',
				 names[i].parameter,
				 cell_path(text + n + 1, "").str + strlen("/v1/cells/"));
			return 0;
		}
	return -1;
}

int list_show(const struct args *a, const struct listing *l, struct err *e)
{
	bool quiet = arg_is_on(a, "quiet");
	struct json_doc d = { 0 };
	const struct json *list;

	if (vivd_ask("GET", l->path, NULL, &d, e) < 0)
		return -1;
	list = json_get(d.root, l->member, JSON_LIST);
	if (l->format)
		format_row(l->format, NULL);
	else if (!a->json && !quiet)
		l->heading();
	for (const struct json *item = list ? list->first : NULL; item; item = item->next) {
		if (l->is_shown && !l->is_shown(item))
			continue;
		if (a->json)
			json_line_print(item, false);
		else if (quiet)
			printf("%s\n", l->name(item));
		else if (l->format)
			format_row(l->format, item);
		else
			l->row(item);
	}
	if (l->format)
		format_end(l->format);
	json_free(&d);
	return 0;
}

static int list_run(struct args *a, bool all, struct err *e)
{
	char query[4000] = "", path[4100];
	struct listing l = { .path = path,
			     .member = "cells",
			     .heading = heading_print,
			     .row = row_print,
			     .name = cell_shown };
	const char *text;
	unsigned at = 0;
	struct format format;

	if (format_read(&format, a, e) < 0)
		return -1;
	l.format = format.template ? &format : NULL;
	while ((text = arg_next(a, "filter", &at)))
		if (strlen(query) > 2000 || filter_add(query, sizeof(query), text) < 0)
			return args_wrong(a, e,
					  "--filter '%s' is none of state=STATE, name=NAME and "
					  "label=NAME[=VALUE]",
					  text);
	snprintf(path, sizeof(path), "/v1/cells%s", query);
	if (!all && !arg_is_on(a, "all") && !*query)
		l.is_shown = is_live;
	return list_show(a, &l, e);
}

int ps_main(struct args *a, struct err *e)
{
	return list_run(a, false, e);
}

int ls_main(struct args *a, struct err *e)
{
	return list_run(a, true, e);
}

/* ---- inspect ---- */

static int inspect_one(const struct args *a, const char *word, void *arg, struct err *e)
{
	struct json_doc cell = { 0 };

	(void)arg;
	if (vivd_ask("GET", cell_path(word, "").str, NULL, &cell, e) < 0)
		return -1;
	json_line_print(cell.root, !a->json);
	json_free(&cell);
	return 0;
}

int inspect_main(struct args *a, struct err *e)
{
	return words_each(a, inspect_one, NULL, e);
}

/* ---- stats ---- */

static uint64_t number(const struct json *v, const char *key)
{
	uint64_t n = 0;

	return json_get_u64(v, key, &n) ? n : 0;
}

static void stats_show(const struct args *a, const struct json *cell, const struct json *v)
{
	if (a->json) {
		printf("{\"id\":\"%s\",\"name\":", json_show(cell, "id"));
		json_quoted(stdout, json_show(cell, "name"));
		for (const struct json *m = v->first; m; m = m->next) {
			printf(",\"%s\":", m->key);
			json_value_print(stdout, m, false);
		}
		printf("}\n");
		return;
	}
	printf("%-16.16s %-20s %9.2fs %10s %10s %8llu %6llu %12llu\n", json_show(cell, "id"),
	       *json_show(cell, "name") ? json_show(cell, "name") : "-",
	       atof(json_show(v, "cpu_seconds")), size_text(number(v, "memory")).str,
	       size_text(number(v, "disk")).str, (unsigned long long)number(v, "inodes"),
	       (unsigned long long)number(v, "tasks"),
	       (unsigned long long)number(v, "system_calls"));
}

static int stats_of(const struct args *a, const struct json *cell, struct err *e)
{
	struct json_doc d = { 0 };

	if (vivd_ask("GET", cell_path(json_show(cell, "id"), "/stats").str, NULL, &d, e) < 0)
		return -1;
	stats_show(a, cell, d.root);
	json_free(&d);
	return 0;
}

static int stats_one(const struct args *a, const char *word, void *arg, struct err *e)
{
	struct json_doc cell = { 0 };
	int r;

	(void)arg;
	if (vivd_ask("GET", cell_path(word, "").str, NULL, &cell, e) < 0)
		return -1;
	r = stats_of(a, cell.root, e);
	json_free(&cell);
	return r;
}

/* Those that run; one that ends meanwhile is left out. */
static int stats_all(const struct args *a, struct err *e)
{
	struct json_doc d = { 0 };
	const struct json *list;

	if (vivd_ask("GET", "/v1/cells", NULL, &d, e) < 0)
		return -1;
	list = json_get(d.root, "cells", JSON_LIST);
	for (const struct json *cell = list ? list->first : NULL; cell; cell = cell->next)
		if (is_live(cell))
			(void)!stats_of(a, cell, e);
	json_free(&d);
	return 0;
}

int stats_main(struct args *a, struct err *e)
{
	if (!a->json)
		printf("%-16s %-20s %10s %10s %10s %8s %6s %12s\n", "ID", "NAME", "CPU", "MEMORY",
		       "DISK", "FILES", "TASKS", "SYSCALLS");
	return a->n ? words_each(a, stats_one, NULL, e) : stats_all(a, e);
}
