/* viv prune: removes what nobody needs any more. It shows what that is, and asks at a terminal; elsewhere --force is the answer. */
#include <stdio.h>
#include <unistd.h>

#include "cli/args.h"
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

static bool is_agreed(void)
{
	char line[16];

	fprintf(stderr, "Remove this? [y/N] ");
	return fgets(line, sizeof(line), stdin) && (line[0] == 'y' || line[0] == 'Y');
}

/* Whether there is anything that somebody agrees to remove; *status when not. */
static bool is_wanted(const struct args *a, const struct json_doc *found, int *status)
{
	bool force = arg_is_on(a, "force");

	if (!list_of(found, "cells") && !list_of(found, "images") && !list_of(found, "files")) {
		printf(a->json ? "{\"cells\":[],\"images\":[],\"files\":[],\"removed\":true}\n"
			       : "There is nothing to remove.\n");
		return false;
	}
	if (!a->json) {
		items_print(found, "cells", "ended cells without a name", 32);
		items_print(found, "images", "images without a tag", 12);
		items_print(found, "files", "files of cells that are gone", 255);
	}
	fflush(stdout);
	if (!force && (a->json || !isatty(0)))
		*status =
			fail(ERR_USAGE,
			     "cannot ask for confirmation: standard input is not a terminal" REMEDY
			     "--force removes this");
	return force || (!*status && is_agreed());
}

int prune_main(int argc, char **argv)
{
	struct json_doc found = { 0 }, removed = { 0 };
	struct viv_client *c;
	struct args a;
	int status = args_take(&a, argc, argv);

	status = status ? status : vivd_connect(&c);
	if (status)
		return status;
	status = vivd_ask(c, "POST", "/v1/prune", "{\"dry_run\":true}", &found);
	if (!status && is_wanted(&a, &found, &status)) {
		status = vivd_ask(c, "POST", "/v1/prune", "{}", &removed);
		if (!status && a.json) {
			json_value_print(stdout, removed.root, false);
			putchar('\n');
		}
	}
	json_free(&found);
	json_free(&removed);
	viv_close(c);
	return status;
}
