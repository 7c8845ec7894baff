/* Named cells: the verbs that work on their disks without starting them: ls, rm, snapshot, fork, rollback, volume. */
#include "cli/cells.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/words.h"
#include "keeper/named.h"

int verb_failed(const struct err *e)
{
	fail("%s", e->text);
	return (int)e->kind;
}

int cell_ref_parse(const char *text, struct cell_ref *ret, struct err *e)
{
	const char *at = strchr(text, '@');
	size_t n = at ? (size_t)(at - text) : strlen(text);

	*ret = (struct cell_ref){ 0 };
	if (n > DISK_NAME_MAX || (at && strlen(at + 1) > DISK_NAME_MAX))
		return err_set(e, ERR_NOT_FOUND, "there is no cell '%s'; 'viv ls' lists them",
			       text);
	memcpy(ret->name, text, n);
	if (!at)
		return 0;
	strcpy(ret->snapshot, at + 1);
	if (!ret->snapshot[0])
		return err_set(e, ERR_USAGE, "'%s': give a snapshot after '@', or leave it out",
			       text);
	return 0;
}

/* ---- printing ---- */

struct when {
	char str[32];
};

static struct when when(int64_t t)
{
	time_t seconds = (time_t)t;
	struct when w = { "-" };
	struct tm tm;

	if (gmtime_r(&seconds, &tm))
		strftime(w.str, sizeof(w.str), "%Y-%m-%dT%H:%M:%SZ", &tm);
	return w;
}

static bool is_running(const struct store *s, const struct named *n)
{
	struct disk d;
	int err = disk_open(s->fd, n->disk, DISK_SHARED, &d);

	if (!err)
		disk_close(&d);
	return err == -EBUSY;
}

static unsigned snapshots_of(const struct store *s, const struct named *n)
{
	unsigned count = 0;
	struct disk d;

	if (disk_open(s->fd, n->disk, DISK_PEEK, &d))
		return 0;
	for (unsigned i = 0; i < d.nlayers; i++)
		count += d.layers[i].name[0] != 0;
	disk_close(&d);
	return count;
}

/* A verb that works on the store, with min to max arguments. 0: s is open; else the verb's status. */
static int verb_begin(int argc, char **argv, int min, int max, const char *usage, struct store *s)
{
	int status = words_check(argc, argv, min, max, usage);
	struct err e;

	if (!status && store_open(s, &e) < 0)
		status = verb_failed(&e);
	return status;
}

static const char usage_ls[] = "viv ls [--json] [-q]";
static const char usage_rm[] = "viv rm CELL...";
static const char usage_snapshot[] =
	"viv snapshot CELL [NAME] | viv snapshot --ls [--json] CELL | viv snapshot --rm CELL NAME";
static const char usage_fork[] = "viv fork CELL[@SNAPSHOT] NEW";
static const char usage_rollback[] = "viv rollback CELL SNAPSHOT";
static const char usage_volume[] =
	"viv volume create NAME | viv volume ls [--json] [-q] | viv volume rm NAME...";

/* ---- the verbs ---- */

static int list_print(const struct store *s, enum named_kind kind, bool json, bool quiet)
{
	struct named *list;
	unsigned n;
	int err = named_list(s->fd, kind, &list, &n);

	if (err) {
		fail("cannot list: %s", strerror(-err));
		return ERR_FAILED;
	}
	if (!json && !quiet && kind == NAMED_CELL)
		printf("%-24s %-8s %-14s %9s  %s\n", "NAME", "STATE", "IMAGE", "SNAPSHOTS",
		       "CREATED");
	else if (!json && !quiet)
		printf("%-24s %-8s %s\n", "NAME", "STATE", "CREATED");
	for (unsigned i = 0; i < n; i++) {
		const char *state = is_running(s, &list[i])
					    ? kind == NAMED_CELL ? "running" : "in use"
				    : kind == NAMED_CELL ? "stopped"
							 : "free";

		if (quiet && !json)
			printf("%s\n", list[i].name);
		else if (json && kind == NAMED_CELL)
			printf("{\"name\":\"%s\",\"state\":\"%s\",\"image\":\"%s\",\"disk\":\"%s\","
			       "\"snapshots\":%u,\"created\":\"%s\"}\n",
			       list[i].name, state, list[i].image, list[i].disk,
			       snapshots_of(s, &list[i]), when(list[i].created).str);
		else if (json)
			printf("{\"name\":\"%s\",\"state\":\"%s\",\"disk\":\"%s\",\"created\":\"%"
			       "s\"}\n",
			       list[i].name, state, list[i].disk, when(list[i].created).str);
		else if (kind == NAMED_CELL)
			printf("%-24s %-8s %-14.12s %9u  %s\n", list[i].name, state, list[i].image,
			       snapshots_of(s, &list[i]), when(list[i].created).str);
		else
			printf("%-24s %-8s %s\n", list[i].name, state, when(list[i].created).str);
	}
	free(list);
	return 0;
}

int ls_main(int argc, char **argv)
{
	bool json = flag_take(&argc, argv, "--json"), quiet = flag_take(&argc, argv, "-q");
	struct store s;
	int status = verb_begin(argc, argv, 0, 0, usage_ls, &s);

	if (status)
		return status;
	status = list_print(&s, NAMED_CELL, json, quiet);
	store_close(&s);
	return status;
}

/* The name goes first: what it led to is garbage from then on, whatever happens. */
static int named_drop(const struct store *s, enum named_kind kind, const char *name, struct err *e)
{
	const char *what = kind == NAMED_CELL ? "cell" : "volume";
	struct named n;
	struct disk d;
	int err = named_find(s->fd, kind, name, &n);

	if (err)
		return named_failed(what, name, err, e);
	err = disk_open(s->fd, n.disk, DISK_EXCLUSIVE, &d);
	if (err == -EBUSY)
		return disk_failed(what, name, err, e);
	if (!err)
		disk_close(&d);
	err = named_remove(s->fd, kind, name);
	return err ? named_failed(what, name, err, e) : 0;
}

static int drop_all(enum named_kind kind, int argc, char **argv, const char *usage)
{
	struct store s;
	int status = verb_begin(argc, argv, 1, argc, usage, &s), lock, err;
	struct err e;

	if (status)
		return status;
	for (int i = 1; i < argc; i++) {
		if (named_drop(&s, kind, argv[i], &e) < 0)
			status = verb_failed(&e);
		else
			printf("%s\n", argv[i]);
	}
	lock = store_lock(&s, true, NULL, &e);
	err = lock < 0 ? 0 : named_collect(s.fd);
	if (lock < 0)
		status = verb_failed(&e);
	else
		close(lock);
	if (err) {
		fail("cannot clear away what is unused: %s", strerror(-err));
		status = ERR_FAILED;
	}
	store_close(&s);
	return status;
}

int rm_main(int argc, char **argv)
{
	return drop_all(NAMED_CELL, argc, argv, usage_rm);
}

static int snapshots_print(const struct store *s, const char *cell, bool json, struct err *e)
{
	struct named n;
	struct disk d;

	if (cell_open(s, cell, DISK_PEEK, &n, &d, e) < 0)
		return -1;
	for (unsigned i = 0; i < d.nlayers; i++) {
		const struct disk_layer *l = &d.layers[i];

		if (!l->name[0])
			continue;
		if (json)
			printf("{\"cell\":\"%s\",\"name\":\"%s\",\"layer\":%" PRIu32 "}\n", n.name,
			       l->name, l->n);
		else
			printf("%s\n", l->name);
	}
	disk_close(&d);
	return 0;
}

static int snapshot_drop(const struct store *s, const char *cell, const char *name, struct err *e)
{
	struct named n;
	struct disk d;
	int err, lock;

	if (cell_open(s, cell, DISK_EXCLUSIVE, &n, &d, e) < 0)
		return -1;
	err = disk_snapshot_remove(&d, name);
	disk_close(&d);
	if (err == -ENOENT)
		return err_set(e, ERR_NOT_FOUND, "cell '%s' has no snapshot '%s'", cell, name);
	if (err)
		return disk_failed("cell", cell, err, e);
	lock = store_lock(s, true, NULL, e);
	if (lock < 0)
		return -1;
	err = named_collect(s->fd);
	close(lock);
	return err ? disk_failed("cell", cell, err, e) : 0;
}

/* s1, s2, ...: the first that is free. */
static int snapshot_name(const struct store *s, const char *cell, char *name, struct err *e)
{
	struct named n;
	struct disk d;

	if (cell_open(s, cell, DISK_PEEK, &n, &d, e) < 0)
		return -1;
	for (unsigned i = 1;; i++) {
		snprintf(name, DISK_NAME_MAX, "s%u", i);
		if (!disk_snapshot_find(&d, name))
			break;
	}
	disk_close(&d);
	return 0;
}

int snapshot_main(int argc, char **argv)
{
	bool ls = flag_take(&argc, argv, "--ls"), rm = flag_take(&argc, argv, "--rm");
	bool json = flag_take(&argc, argv, "--json");
	struct store s;
	int status = verb_begin(argc, argv, rm ? 2 : 1, ls ? 1 : 2, usage_snapshot, &s), err;
	char name[DISK_NAME_MAX + 1] = "";
	struct layer_ref sealed;
	struct err e;

	if (status)
		return status;
	if (ls) {
		err = snapshots_print(&s, argv[1], json, &e);
	} else if (rm) {
		err = snapshot_drop(&s, argv[1], argv[2], &e);
	} else {
		if (argc > 2) {
			err = name_check("snapshot", argv[2], &e);
			snprintf(name, sizeof(name), "%s", argv[2]);
		} else {
			err = snapshot_name(&s, argv[1], name, &e);
		}
		if (!err)
			err = cell_seal(&s, argv[1], name, &sealed, &e);
		if (!err)
			printf("%s\n", name);
	}
	store_close(&s);
	return err ? verb_failed(&e) : 0;
}

static int fork_do(const struct store *s, const char *from, const char *to, struct err *e)
{
	const struct disk_layer *l;
	struct layer_ref parent = { 0 };
	struct cell_ref ref;
	struct named n, new;
	struct disk d;

	if (cell_ref_parse(from, &ref, e) < 0 || name_check("cell", to, e) < 0)
		return -1;
	if (named_find(s->fd, NAMED_CELL, to, &new) != -ENOENT)
		return named_failed("cell", to, -EEXIST, e);
	if (cell_open(s, ref.name, DISK_PEEK, &n, &d, e) < 0)
		return -1;
	if (ref.snapshot[0]) {
		l = disk_snapshot_find(&d, ref.snapshot);
		if (l) {
			strcpy(parent.disk, d.id);
			parent.n = l->n;
		}
		disk_close(&d);
		if (!l)
			return err_set(
				e, ERR_NOT_FOUND,
				"cell '%s' has no snapshot '%s'; 'viv snapshot --ls %s' lists them",
				ref.name, ref.snapshot, ref.name);
	} else {
		disk_close(&d);
		if (cell_seal(s, ref.name, "", &parent, e) < 0)
			return -1;
	}
	if (named_make(s, NAMED_CELL, to, n.image, &parent, &new, &d, e) < 0)
		return -1;
	disk_close(&d);
	return 0;
}

int fork_main(int argc, char **argv)
{
	struct store s;
	int status = verb_begin(argc, argv, 2, 2, usage_fork, &s);
	struct err e;

	if (status)
		return status;
	status = fork_do(&s, argv[1], argv[2], &e) < 0 ? verb_failed(&e) : 0;
	if (!status)
		printf("%s\n", argv[2]);
	store_close(&s);
	return status;
}

int rollback_main(int argc, char **argv)
{
	struct store s;
	int status = verb_begin(argc, argv, 2, 2, usage_rollback, &s), err;
	struct named n;
	struct disk d;
	struct err e;

	if (status)
		return status;
	if (cell_open(&s, argv[1], DISK_EXCLUSIVE, &n, &d, &e) < 0) {
		status = verb_failed(&e);
	} else {
		err = disk_rollback(s.fd, &d, argv[2]);
		if (err == -ENOENT)
			err_set(&e, ERR_NOT_FOUND,
				"cell '%s' has no snapshot '%s'; 'viv snapshot --ls %s' lists them",
				argv[1], argv[2], argv[1]);
		else if (err)
			disk_failed("cell", argv[1], err, &e);
		status = err ? verb_failed(&e) : 0;
		disk_close(&d);
	}
	store_close(&s);
	return status;
}

static int volume_create(const struct store *s, const char *name)
{
	const struct layer_ref ground = { 0 };
	struct named n;
	struct disk d;
	struct err e;

	if (named_make(s, NAMED_VOLUME, name, DISK_NO_IMAGE, &ground, &n, &d, &e) < 0)
		return verb_failed(&e);
	disk_close(&d);
	printf("%s\n", name);
	return 0;
}

int volume_main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	bool json, quiet;
	int status;
	struct store s;

	argc--;
	argv++;
	if (!strcmp(what, "rm"))
		return drop_all(NAMED_VOLUME, argc, argv, usage_volume);
	if (strcmp(what, "ls") && strcmp(what, "create")) {
		fail("usage: %s", usage_volume);
		return ERR_USAGE;
	}
	json = flag_take(&argc, argv, "--json");
	quiet = flag_take(&argc, argv, "-q");
	int args = !strcmp(what, "ls") ? 0 : 1;
	status = verb_begin(argc, argv, args, args, usage_volume, &s);
	if (status)
		return status;
	status = args ? volume_create(&s, argv[1]) : list_print(&s, NAMED_VOLUME, json, quiet);
	store_close(&s);
	return status;
}

/* ---- help ---- */

void ls_help(void)
{
	printf("Usage: %s\n\nLists the named cells.\n", usage_ls);
}

void rm_help(void)
{
	printf("Usage: %s\n\nRemoves cells with their files and snapshots. What forks of them use "
	       "stays with the forks.\n",
	       usage_rm);
}

void snapshot_help(void)
{
	printf("Usage: %s\n\n"
	       "Keeps the cell's files as they are now, whether it runs or not, and prints the "
	       "snapshot's name.\nNothing is copied: later changes are written elsewhere.\n",
	       usage_snapshot);
}

void fork_help(void)
{
	printf("Usage: %s\n\n"
	       "Makes cell NEW with the files of CELL as they are now, or as they were in "
	       "SNAPSHOT. "
	       "Both go on\nby themselves from there; nothing is copied.\n",
	       usage_fork);
}

void rollback_help(void)
{
	printf("Usage: %s\n\n"
	       "Sets the cell's files back to the snapshot. Changes since its last snapshot are "
	       "lost; "
	       "all snapshots\nstay, so one can also go forward again.\n",
	       usage_rollback);
}

void volume_help(void)
{
	printf("Usage: %s\n\n"
	       "A volume is a disk of its own that cells mount: viv run --volume NAME:/data -- ... "
	       "One "
	       "cell at a\ntime can write it, or many read it (NAME:/data:ro).\n",
	       usage_volume);
}
