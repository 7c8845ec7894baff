/* See tool.h. */
#include "keeper/disk/tool.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/report.h"

static bool ref_take(char **argv, struct cell_ref *ret)
{
	if (strlen(argv[0]) > DISK_NAME_MAX || strlen(argv[1]) > DISK_NAME_MAX)
		return false;
	strcpy(ret->name, argv[0]);
	strcpy(ret->snapshot, argv[1]);
	return true;
}

static int diff_do(const struct store *s, int argc, char **argv, struct err *e)
{
	enum diff_form form = strcmp(argv[0], "patch") ? DIFF_LIST : DIFF_PATCH;
	struct cell_ref from, to;

	if (!ref_take(argv + 1, &from) || (argc == 5 && !ref_take(argv + 3, &to)))
		return err_set(e, ERR_NOT_FOUND, "there is no such cell");
	if (argc == 5)
		return diff_print(s, &from, &to, form, e);
	to = from;
	to.snapshot[0] = '\0';
	return diff_print(s, from.snapshot[0] ? &from : NULL, &to, form, e);
}

static int verify_do(const struct store *s, int argc, char **argv, struct err *e)
{
	const struct run_tell what = { .mode = MODE_CHECK };
	static struct view v;
	struct cell_ref ref;
	struct err why = { 0 };
	struct disk_kernel t;
	int r;

	(void)argc;
	if (!ref_take(argv, &ref))
		return err_set(e, ERR_NOT_FOUND, "there is no such cell");
	if (view_open(&v, s, &ref, DISK_PEEK, e) < 0)
		return -1;
	r = disk_kernel_start(&v.rootfs, &what, &t, e);
	if (r == 0) {
		bool sound = disk_kernel_end(&t, &why) == 0;

		if (!sound)
			report(&why);
		printf("{\"sound\":%s}\n", sound ? "true" : "false");
	}
	view_close(&v);
	return r;
}

static int commit_do(const struct store *s, int argc, char **argv, struct err *e)
{
	struct cell_ref ref;

	if (!ref_take(argv, &ref))
		return err_set(e, ERR_NOT_FOUND, "there is no such cell");
	return commit_make(s, &ref, argv[2], argc > 3 ? argv[3] : "", e);
}

static const struct {
	const char *name;
	int min, max;
	int (*run)(const struct store *s, int argc, char **argv, struct err *e);
} tools[] = {
	{ "diff", 3, 5, diff_do },
	{ "verify", 2, 2, verify_do },
	{ "commit", 3, 4, commit_do },
};

int disk_tool(int argc, char **argv)
{
	struct store s;
	struct err e;
	int lock, r;

	report_json(true);
	for (unsigned i = 0; i < ARRAY_LEN(tools); i++) {
		if (strcmp(argv[1], tools[i].name) || argc - 2 < tools[i].min ||
		    argc - 2 > tools[i].max)
			continue;
		if (store_open(&s, &e) < 0)
			return report(&e);
		/* Nothing that is read here is collected meanwhile. */
		lock = store_lock(&s, false, NULL, &e);
		r = lock < 0 ? -1 : tools[i].run(&s, argc - 2, argv + 2, &e);
		if (lock >= 0)
			close(lock);
		store_close(&s);
		return r < 0 ? report(&e) : 0;
	}
	return fail(ERR_USAGE, "viv-keeper is started by viv and vivd");
}
