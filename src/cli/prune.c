/* viv prune and viv volume prune: remove what nobody needs any more. They show what that is, and
 * ask at a terminal; elsewhere --force is the answer. */
#include <stdio.h>

#include "cli/args.h"
#include "cli/list.h"
#include "cli/vivd.h"

static const struct json *list_of(const struct json_doc *d, const char *what)
{
	const struct json *list = json_get(d->root, what, JSON_LIST);

	return list ? list->first : NULL;
}

static void items_print(const struct json_doc *d, const char *what, const char *title, int cut)
{
	const struct json *first = list_of(d, what);
	unsigned n = 0;

	for (const struct json *x = first; x; x = x->next)
		n++;
	if (n)
		printf("%u %s:\n", n, title);
	for (const struct json *x = first; x; x = x->next)
		printf("  %.*s\n", cut, x->text ? x->text : "");
}

/* Whether there is anything that somebody agrees to remove; -1: nobody can be asked. */
static int is_wanted(const struct args *a, const struct json_doc *found, struct err *e)
{
	if (!list_of(found, "cells") && !list_of(found, "images") && !list_of(found, "files")) {
		printf(a->json ? "{\"cells\":[],\"images\":[],\"files\":[],\"removed\":true}\n"
			       : "There is nothing to remove.\n");
		return 0;
	}
	if (!a->json) {
		items_print(found, "cells", "ended cells without a name", 32);
		items_print(found, "images", "images without a tag", 12);
		items_print(found, "files", "files of cells that are gone", 255);
	}
	return removal_is_agreed(a, "Remove this?", e);
}

int prune_main(struct args *a, struct err *e)
{
	struct json_doc found = { 0 }, removed = { 0 };
	int r;

	if (vivd_ask("POST", "/v1/prune", "{\"dry_run\":true}", &found, e) < 0)
		return -1;
	r = is_wanted(a, &found, e);
	if (r > 0) {
		r = vivd_ask("POST", "/v1/prune", "{}", &removed, e);
		if (!r && a->json)
			json_line_print(removed.root, false);
	}
	json_free(&found);
	json_free(&removed);
	return r;
}

/* ---- volumes ---- */

static struct size_text size_of(const struct json *v)
{
	uint64_t n = 0;

	(void)json_get_u64(v, "size", &n);
	return size_text(n);
}

static unsigned volumes_print(const struct json_doc *d, bool each)
{
	unsigned n = 0;

	for (const struct json *v = list_of(d, "volumes"); v; v = v->next, n++)
		if (each)
			printf("  %-24s %s\n", json_show(v, "name"), size_of(v).str);
	return n;
}

static int volumes_prune(const struct args *a, struct err *e)
{
	struct json_doc removed = { 0 };
	int r = removal_is_agreed(a, "Remove this?", e);
	unsigned n;

	if (r <= 0)
		return r;
	if (vivd_ask("POST", "/v1/volumes/prune", "{}", &removed, e) < 0)
		return -1;
	if (a->json) {
		json_line_print(removed.root, false);
	} else {
		n = volumes_print(&removed, false);
		printf("Removed %u volume%s (%s).\n", n, n == 1 ? "" : "s",
		       size_of(removed.root).str);
	}
	json_free(&removed);
	return 0;
}

int volume_prune_main(struct args *a, struct err *e)
{
	struct json_doc found = { 0 };
	bool any;

	if (vivd_ask("POST", "/v1/volumes/prune", "{\"dry_run\":true}", &found, e) < 0)
		return -1;
	any = list_of(&found, "volumes");
	if (!a->json) {
		printf(any ? "Volumes that no cell mounts:\n" : "There is nothing to remove.\n");
		volumes_print(&found, true);
	}
	json_free(&found);
	return any || a->json ? volumes_prune(a, e) : 0;
}
