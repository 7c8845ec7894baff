/* viv run: the options are in spec/settings.tbl.h, the cell in keeper/cell.c, the time with it in
 * keeper/watch.c. With --detach the cell is vivd's (create.c). */
#include <string.h>

#include "cli/args.h"
#include "cli/create.h"
#include "cli/inside.h"
#include "cli/pooled.h"
#include "cli/vivd.h"
#include "store/runspec.h"

/* NAME:TAG, as docker run takes an image. */
static bool is_image(const char *word)
{
	const char *colon = strrchr(word, ':');

	return colon && colon > word && colon[1] && word[0] != '/' && word[0] != '.';
}

/* --rm --name: the cell is to go at the end, so it must not have been there before. */
static int name_is_free(const char *name, struct err *e)
{
	struct store s;
	struct named n;
	int err;

	if (store_open(&s, e) < 0)
		return -1;
	err = named_find(s.fd, NAMED_CELL, name, &n);
	store_close(&s);
	return err ? 0
		   : err_set(e, ERR_FAILED,
			     "cell '%s' exists already, and --rm would remove its files" REMEDY
			     "leave --rm out, or choose another name",
			     name);
}

static void cell_drop(const char *name)
{
	struct err e;

	if (vivd_ask("DELETE", cell_path(name, "?force=1").str, NULL, NULL, &e) < 0)
		report(&e);
}

/* What 'viv start' is to run when vivd did not make the cell. */
static void spec_keep(const struct run_options *o, const struct rootfs *rootfs,
		      const struct buf *spec)
{
	int err = rootfs->kept ? runspec_write(&rootfs->disk, (char *)spec->p, spec->len) : 0;

	if (err && !o->quiet)
		warn("cannot keep the settings of cell '%s', so 'viv start' will not use them: %s",
		     o->name, strerror(-err));
}

/* vivd serves the tools of cells: it runs before the cell does, and knows them. */
static int tools_check(const struct run_options *o, struct err *e)
{
	int r = 0;

	if (!door_is_wanted(o))
		return 0;
	for (char **t = o->tools; r == 0 && t && *t; t++)
		r = vivd_ask("GET", vivd_path("/v1/tools/", *t, "").str, NULL, NULL, e);
	if (r == 0 && !o->tools)
		r = vivd_ask("GET", "/v1/version", NULL, NULL, e);
	vivd_disconnect();
	return r;
}

/* In a cell that waits for it, or in one of its own. all: the words of the command line. */
static int attached_run(struct run_options *o, char **all, struct err *e)
{
	static struct rootfs rootfs;
	char **words = o->argv;
	struct buf spec = { 0 };
	bool stored;
	int status = -1;

	if (o->rm && o->name && name_is_free(o->name, e) < 0)
		return -1;
	if (tools_check(o, e) < 0 || (o->ncopies && copies_prepare(o, e) < 0))
		return -1;
	/* The image completes the options later. */
	if (o->name)
		run_spec(o, all, &spec);
	if (rootfs_open(&rootfs, o, e) == 0 && run_options_finish(o, rootfs.stored, e) == 0 &&
	    !run_pooled(o, &rootfs, &status, e)) {
		spec_keep(o, &rootfs, &spec);
		status = run_cell(o, &rootfs, e);
	}
	buf_free(&spec);
	/* Before what else there is to say. */
	if (status < 0)
		status = report(e);
	stored = rootfs.stored;
	rootfs_close(&rootfs);
	if (o->rm && o->name) {
		run_release();
		cell_drop(o->name);
	}
	if (status == 127 && words && !stored && is_image(words[0]) && !o->quiet)
		warn("'%s' looks like an image" REMEDY "to run one: viv run --image %s%s%s",
		     words[0], words[0], words[1] ? " -- " : "", words[1] ? words[1] : "");
	return status;
}

int run_main(struct args *a, struct err *e)
{
	static struct run_options o;
	int r = run_options_parse(&o, a->argc, a->argv, e);

	report_json(o.json);
	if (r > 0)
		return verb_help(a->verb), 0;
	if (r < 0)
		return -1;
	if (!o.detach && viv_inside())
		return inside_run(&o, e);
	return o.detach ? detached_run(&o, a->argv + 1, e) : attached_run(&o, a->argv + 1, e);
}
