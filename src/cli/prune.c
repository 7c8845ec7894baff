/* viv prune and viv volume prune: remove what nobody needs any more. They show what that is, and
 * ask at a terminal; elsewhere --force is the answer. */
#include <stdio.h>
#include <unistd.h>

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

/* --force, or a yes at the terminal; *status when nobody can be asked. */
static bool is_agreed(const struct args *a, int *status)
{
	char line[16];

	fflush(stdout);
	if (arg_is_on(a, "force"))
		return true;
	if (a->json || !isatty(0)) {
		*status =
			fail(ERR_USAGE,
			     "cannot ask for confirmation: standard input is not a terminal" REMEDY
			     "--force removes this");
		return false;
	}
	fprintf(stderr, "Remove this? [y/N] ");
	return fgets(line, sizeof(line), stdin) && (line[0] == 'y' || line[0] == 'Y');
}

/* Whether there is anything that somebody agrees to remove; *status when not. */
static bool is_wanted(const struct args *a, const struct json_doc *found, int *status)
{
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
	return is_agreed(a, status);
}

static void result_print(const struct json_doc *d)
{
	json_value_print(stdout, d->root, false);
	putchar('\n');
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
		if (!status && a.json)
			result_print(&removed);
	}
	json_free(&found);
	json_free(&removed);
	viv_close(c);
	return status;
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

int volume_prune_main(int argc, char **argv)
{
	struct json_doc found = { 0 }, removed = { 0 };
	struct viv_client *c;
	struct args a;
	int status = args_take(&a, argc, argv);
	unsigned n;

	status = status ? status : vivd_connect(&c);
	if (status)
		return status;
	status = vivd_ask(c, "POST", "/v1/volumes/prune", "{\"dry_run\":true}", &found);
	if (!status && !a.json && !list_of(&found, "volumes")) {
		printf("There is nothing to remove.\n");
	} else if (!status) {
		if (!a.json) {
			printf("Volumes that no cell mounts:\n");
			volumes_print(&found, true);
		}
		if (is_agreed(&a, &status))
			status = vivd_ask(c, "POST", "/v1/volumes/prune", "{}", &removed);
		if (!status && removed.root && a.json) {
			result_print(&removed);
		} else if (!status && removed.root) {
			n = volumes_print(&removed, false);
			printf("Removed %u volume%s (%s).\n", n, n == 1 ? "" : "s",
			       size_of(removed.root).str);
		}
	}
	json_free(&found);
	json_free(&removed);
	viv_close(c);
	return status;
}
