/* viv tree: cells, and below each the cells that it has made, with their state, what they use and
 * what they may use. Inside a cell it is that cell and its descendants. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/args.h"
#include "cli/list.h"
#include "cli/vivd.h"

#define DEPTH_MAX 32
#define NAME_WIDTH 40

static const struct json *cells; /* the list of the answer */

static bool is_live(const struct json *c)
{
	const char *state = json_show(c, "state");

	return !strcmp(state, "running") || !strcmp(state, "paused");
}

static bool is_known(const char *id)
{
	for (const struct json *c = cells->first; c; c = c->next)
		if (!strcmp(json_show(c, "id"), id))
			return true;
	return false;
}

/* What it uses; false: it does not run, or does not answer. */
static bool use_get(const struct json *c, struct json_doc *ret)
{
	struct err unused;

	return is_live(c) && vivd_ask("GET", cell_path(json_show(c, "id"), "/stats").str, NULL, ret,
				      &unused) == 0;
}

/* ---- for programs ---- */

static void object_print(const struct json *c, unsigned depth)
{
	const struct json *limits =
		json_get(json_get(c, "spec", JSON_OBJECT), "limits", JSON_OBJECT);
	struct json_doc use = { 0 };
	bool first = true;

	printf("{\"id\":");
	json_quoted(stdout, json_show(c, "id"));
	if (*json_show(c, "name")) {
		printf(",\"name\":");
		json_quoted(stdout, json_show(c, "name"));
	}
	printf(",\"state\":");
	json_quoted(stdout, json_show(c, "state"));
	if (limits) {
		printf(",\"limits\":");
		json_value_print(stdout, limits, false);
	}
	if (use_get(c, &use)) {
		printf(",\"use\":");
		json_value_print(stdout, use.root, false);
		json_free(&use);
	}
	printf(",\"children\":[");
	for (const struct json *k = cells->first; depth < DEPTH_MAX && k; k = k->next)
		if (!strcmp(json_show(k, "parent"), json_show(c, "id"))) {
			if (!first)
				putchar(',');
			first = false;
			object_print(k, depth + 1);
		}
	printf("]}");
}

/* ---- for people ---- */

static const char *of(const struct json *c, const char *name)
{
	return json_show(json_get(json_get(c, "spec", JSON_OBJECT), "limits", JSON_OBJECT), name);
}

static void size_print(const struct json_doc *use, const char *used, const char *limit)
{
	char text[64];
	uint64_t n;

	snprintf(text, sizeof(text), "%s%s%s",
		 use->root && json_get_u64(use->root, used, &n) ? size_text(n).str : "-",
		 *limit ? " / " : "", *limit ? size_text(strtoull(limit, NULL, 10)).str : "");
	printf("  %-22s", text);
}

static void count_print(const struct json_doc *use, const char *used, const char *limit)
{
	char text[64];

	snprintf(text, sizeof(text), "%.12s%s%.12s", use->root ? json_show(use->root, used) : "-",
		 *limit ? " / " : "", limit);
	printf("  %-14s", text);
}

static void row_print(const struct json *c, const char *before)
{
	struct json_doc use = { 0 };
	unsigned width;

	fputs(before, stdout);
	width = text_print(stdout, cell_shown(c), NAME_WIDTH);
	for (size_t i = strlen(before) + width; i < NAME_WIDTH; i++)
		putchar(' ');
	(void)use_get(c, &use);
	printf("  %-9s", json_show(c, "state"));
	size_print(&use, "memory", of(c, "memory"));
	count_print(&use, "tasks", of(c, "pids"));
	printf("  %s\n", *of(c, "cpus") ? of(c, "cpus") : "-");
	if (use.root)
		json_free(&use);
}

static void rows_print(const struct json *c, unsigned depth)
{
	char before[2 * DEPTH_MAX + 1];

	snprintf(before, sizeof(before), "%*s", (int)(2 * depth), "");
	row_print(c, before);
	for (const struct json *k = cells->first; depth < DEPTH_MAX && k; k = k->next)
		if (!strcmp(json_show(k, "parent"), json_show(c, "id")))
			rows_print(k, depth + 1);
}

/* ---- the verb ---- */

/* A first one: of the word, or made by nobody that is shown. */
static bool is_first(const struct json *c, const char *word)
{
	if (word)
		return !strcmp(json_show(c, "name"), word) ||
		       (strlen(word) >= 4 && !strncmp(json_show(c, "id"), word, strlen(word)));
	return !is_known(json_show(c, "parent"));
}

int tree_main(struct args *a, struct err *e)
{
	const char *word = a->n ? a->words[0] : NULL;
	struct json_doc d = { 0 };
	bool any = false;

	if (vivd_ask("GET", "/v1/cells", NULL, &d, e) < 0)
		return -1;
	cells = json_get(d.root, "cells", JSON_LIST);
	if (a->json)
		putchar('[');
	else
		printf("%-*s  %-9s  %-22s  %-14s  %s\n", NAME_WIDTH, "CELL", "STATE", "MEMORY",
		       "PROCESSES", "CPUS");
	for (const struct json *c = cells ? cells->first : NULL; c; c = c->next) {
		if (!is_first(c, word))
			continue;
		if (a->json && any)
			putchar(',');
		any = true;
		if (a->json)
			object_print(c, 0);
		else
			rows_print(c, 0);
	}
	if (a->json)
		printf("]\n");
	json_free(&d);
	return word && !any ? err_set(e, ERR_NOT_FOUND, "there is no cell '%.80s'", word) : 0;
}
