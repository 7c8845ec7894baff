/* The verbs that work on disks, whether their cells run or not: snapshot, fork, rollback, volume. */
#include "cli/cells.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/jsontext.h"
#include "cli/args.h"
#include "cli/vivd.h"
#include "keeper/merge.h"
#include "keeper/named.h"

int cell_ref_parse(const char *text, struct cell_ref *ret, struct err *e)
{
	const char *at = strchr(text, '@');
	size_t n = at ? (size_t)(at - text) : strlen(text);

	*ret = (struct cell_ref){ 0 };
	if (n > DISK_NAME_MAX || (at && strlen(at + 1) > DISK_NAME_MAX))
		return err_set(e, ERR_NOT_FOUND,
			       "there is no cell '%s'" REMEDY "'viv ls' lists them", text);
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

/* What every verb here begins with. 0: s is open; else what the verb returns. */
static int verb_begin(struct args *a, int argc, char **argv, struct store *s)
{
	int status = args_take(a, argc, argv);
	struct err e;

	if (!status && store_open(s, &e) < 0)
		status = report(&e);
	return status;
}

/* What was done with a thing of that name. */
static void done_print(const struct args *a, const char *what, const char *name)
{
	if (!a->json) {
		printf("%s\n", name);
		return;
	}
	printf("{\"%s\":", what);
	json_quoted(stdout, name);
	printf("}\n");
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

static int snapshot_take(const struct store *s, const struct args *a, struct err *e)
{
	char name[DISK_NAME_MAX + 1] = "";
	struct layer_ref sealed;

	if (a->n > 1) {
		if (name_check("snapshot", a->words[1], e) < 0)
			return -1;
		snprintf(name, sizeof(name), "%s", a->words[1]);
	} else if (snapshot_name(s, a->words[0], name, e) < 0) {
		return -1;
	}
	if (cell_seal(s, a->words[0], name, &sealed, e) < 0)
		return -1;
	if (a->json)
		printf("{\"cell\":\"%s\",\"name\":\"%s\",\"layer\":%" PRIu32 "}\n", a->words[0],
		       name, sealed.n);
	else
		printf("%s\n", name);
	return 0;
}

int snapshot_main(int argc, char **argv)
{
	struct args a;
	struct store s;
	int status = verb_begin(&a, argc, argv, &s), err;
	bool ls, rm;
	struct err e;

	if (status)
		return status;
	ls = arg_is_on(&a, "ls");
	rm = arg_is_on(&a, "rm");
	if ((rm && (ls || a.n != 2)) || (ls && a.n != 1)) {
		store_close(&s);
		return args_wrong(a.verb,
				  rm ? "--rm takes a cell and a snapshot" : "--ls takes a cell");
	}
	if (ls) {
		err = snapshots_print(&s, a.words[0], a.json, &e);
	} else if (rm) {
		err = cell_snapshot_remove(&s, a.words[0], a.words[1], &e);
		if (!err && a.json)
			done_print(&a, "name", a.words[1]);
		/* It is forgotten; this is about the room that it took. */
		if (!err && cell_merge(&s, a.words[0], &e) < 0)
			warn("what only this snapshot needs could not be removed: %s",
			     err_line(&e).str);
	} else {
		err = snapshot_take(&s, &a, &e);
	}
	store_close(&s);
	return err ? report(&e) : 0;
}

static int fork_of(const struct store *s, const struct cell_ref *ref, const char *to, struct err *e)
{
	const struct disk_layer *l;
	struct layer_ref parent = { 0 };
	struct named n, new;
	struct disk d;

	if (cell_open(s, ref->name, DISK_PEEK, &n, &d, e) < 0)
		return -1;
	if (ref->snapshot[0]) {
		l = disk_snapshot_find(&d, ref->snapshot);
		if (l) {
			strcpy(parent.disk, d.id);
			parent.n = l->n;
		}
		disk_close(&d);
		if (!l)
			return snapshot_missing(ref->name, ref->snapshot, e);
	} else {
		disk_close(&d);
		if (cell_seal(s, ref->name, "", &parent, e) < 0)
			return -1;
	}
	if (named_make(s, NAMED_CELL, to, n.image, &parent, &new, &d, e) < 0)
		return -1;
	disk_close(&d);
	return 0;
}

static int fork_do(const struct store *s, const char *from, const char *to, struct err *e)
{
	struct cell_ref ref;
	struct named new;
	int lock, ret;

	if (cell_ref_parse(from, &ref, e) < 0 || name_check("cell", to, e) < 0)
		return -1;
	if (named_find(s->fd, NAMED_CELL, to, &new) != -ENOENT)
		return named_failed("cell", to, -EEXIST, e);
	/* From the look at the layer on until the fork stands on it, nobody collects it. */
	lock = store_lock(s, false, NULL, e);
	if (lock < 0)
		return -1;
	ret = fork_of(s, &ref, to, e);
	close(lock);
	return ret;
}

int fork_main(int argc, char **argv)
{
	struct args a;
	struct store s;
	int status = verb_begin(&a, argc, argv, &s);
	struct err e;

	if (status)
		return status;
	status = fork_do(&s, a.words[0], a.words[1], &e) < 0 ? report(&e) : 0;
	if (!status)
		done_print(&a, "name", a.words[1]);
	store_close(&s);
	return status;
}

/* What a rollback came to. */
static void rollback_print(const struct args *a, const char *state)
{
	if (!a->json)
		return;
	printf("{\"snapshot\":");
	json_quoted(stdout, a->words[1]);
	printf(",\"state\":");
	json_quoted(stdout, state);
	printf("}\n");
}

/* Who can start it again afterwards does it. */
static int rollback_running(const struct args *a, int64_t grace)
{
	const char *cell = a->words[0], *state;
	struct json_doc d = { 0 };
	struct buf body = { 0 };
	struct viv_client *c;
	int status = vivd_connect(&c);

	if (status)
		return status;
	buf_add_text(&body, "{");
	json_member_text(&body, "snapshot", a->words[1]);
	if (grace >= 0)
		json_member_seconds(&body, "grace", grace);
	buf_add(&body, "}", 2);
	status = vivd_ask(c, "POST", cell_path(cell, "/rollback").str, (char *)body.p, &d);
	if (!status) {
		state = json_show(d.root, "state");
		rollback_print(a, state);
		/* One that was started again and has ended by itself since has another reason. */
		if (strcmp(state, "running") && !strcmp(json_show(d.root, "reason"), "asked"))
			warn("cell '%s' was ended" REMEDY
			     "'viv run --name %s -- COMMAND' starts it again",
			     cell, cell);
	}
	json_free(&d);
	buf_free(&body);
	viv_close(c);
	return status;
}

int rollback_main(int argc, char **argv)
{
	struct args a;
	struct store s;
	int status = verb_begin(&a, argc, argv, &s), err;
	int64_t grace = -1;
	bool runs;
	struct err e;

	if (status)
		return status;
	if (!arg_time(&a, "time", &grace)) {
		store_close(&s);
		return ERR_USAGE;
	}
	err = cell_rollback(&s, a.words[0], a.words[1], &runs, &e);
	store_close(&s);
	if (runs)
		return rollback_running(&a, grace);
	if (!err)
		rollback_print(&a, "stopped");
	return err ? report(&e) : 0;
}

/* ---- volumes ---- */

int volume_create_main(int argc, char **argv)
{
	struct args a;
	struct store s;
	int status = verb_begin(&a, argc, argv, &s);
	struct err e;

	if (status)
		return status;
	status = volume_make(&s, a.words[0], &e) < 0 ? report(&e) : 0;
	if (!status)
		done_print(&a, "name", a.words[0]);
	store_close(&s);
	return status;
}

int volume_ls_main(int argc, char **argv)
{
	struct args a;
	struct store s;
	int status = verb_begin(&a, argc, argv, &s), err;
	bool quiet;
	struct named *list;
	unsigned n;

	if (status)
		return status;
	quiet = arg_is_on(&a, "quiet");
	err = named_list(s.fd, NAMED_VOLUME, &list, &n);
	if (err) {
		store_close(&s);
		return fail(ERR_FAILED, "cannot list: %s", strerror(-err));
	}
	if (!a.json && !quiet)
		printf("%-24s %-8s %s\n", "NAME", "STATE", "CREATED");
	for (unsigned i = 0; i < n; i++) {
		const char *state = disk_is_used(s.fd, list[i].disk) ? "in use" : "free";

		if (a.json)
			printf("{\"name\":\"%s\",\"state\":\"%s\",\"disk\":\"%s\",\"created\":\"%"
			       "s\"}\n",
			       list[i].name, state, list[i].disk, when(list[i].created).str);
		else if (quiet)
			printf("%s\n", list[i].name);
		else
			printf("%-24s %-8s %s\n", list[i].name, state, when(list[i].created).str);
	}
	free(list);
	store_close(&s);
	return 0;
}

int volume_rm_main(int argc, char **argv)
{
	struct args a;
	struct store s;
	int status = verb_begin(&a, argc, argv, &s), r;
	struct err e;

	if (status)
		return status;
	for (int i = 0; i < a.n; i++) {
		r = volume_drop(&s, a.words[i], &e) < 0 ? report(&e) : 0;
		if (!r)
			done_print(&a, "name", a.words[i]);
		status = status ? status : r;
	}
	store_close(&s);
	return status;
}
