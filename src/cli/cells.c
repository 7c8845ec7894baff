/* The verbs that work on disks, whether their cells run or not: snapshot, fork, rollback, volume.
 * vivd makes all changes. */
#include "cli/cells.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/jsontext.h"
#include "cli/args.h"
#include "cli/vivd.h"

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

static void snapshot_print(const struct args *a, const struct json *s)
{
	if (!a->json) {
		printf("%s\n", json_show(s, "name"));
		return;
	}
	printf("{\"cell\":");
	json_quoted(stdout, a->words[0]);
	printf(",\"name\":");
	json_quoted(stdout, json_show(s, "name"));
	printf(",\"layer\":%s}\n", json_show(s, "layer"));
}

static int snapshots_print(const struct args *a, struct err *e)
{
	struct json_doc d = { 0 };
	const struct json *list;

	if (vivd_ask("GET", cell_path(a->words[0], "/snapshots").str, NULL, &d, e) < 0)
		return -1;
	list = json_get(d.root, "snapshots", JSON_LIST);
	for (const struct json *s = list ? list->first : NULL; s; s = s->next)
		snapshot_print(a, s);
	json_free(&d);
	return 0;
}

static int snapshot_remove(const struct args *a, struct err *e)
{
	struct cell_path at = cell_path(a->words[0], "/snapshots/");

	if (vivd_ask("DELETE", vivd_path(at.str, a->words[1], "").str, NULL, NULL, e) < 0)
		return -1;
	if (a->json)
		done_print(a, "name", a->words[1]);
	return 0;
}

/* {"KEY":VALUE} */
static struct buf object_of(const char *key, const char *value)
{
	struct buf b = { 0 };

	buf_add_text(&b, "{");
	json_member_text(&b, key, value);
	return b;
}

/* POSTs the object, which is still open, and frees it. */
static int object_post(const char *path, struct buf *b, struct json_doc *doc, struct err *e)
{
	int r;

	buf_add(b, "}", 2);
	r = vivd_ask("POST", path, (char *)b->p, doc, e);
	buf_free(b);
	return r;
}

static int snapshot_take(const struct args *a, struct err *e)
{
	struct buf body = object_of("name", a->words[1]);
	struct json_doc d = { 0 };

	if (object_post(cell_path(a->words[0], "/snapshots").str, &body, &d, e) < 0)
		return -1;
	snapshot_print(a, d.root);
	json_free(&d);
	return 0;
}

int snapshot_main(struct args *a, struct err *e)
{
	bool ls = arg_is_on(a, "ls"), rm = arg_is_on(a, "rm");

	if ((rm && (ls || a->n != 2)) || (ls && a->n != 1))
		return args_wrong(a, e,
				  rm ? "--rm takes a cell and a snapshot" : "--ls takes a cell");
	return ls ? snapshots_print(a, e) : rm ? snapshot_remove(a, e) : snapshot_take(a, e);
}

int fork_main(struct args *a, struct err *e)
{
	struct cell_ref ref;
	struct buf body;

	if (cell_ref_parse(a->words[0], &ref, e) < 0)
		return -1;
	body = object_of("name", a->words[1]);
	json_member_text(&body, "snapshot", ref.snapshot[0] ? ref.snapshot : NULL);
	if (object_post(cell_path(ref.name, "/fork").str, &body, NULL, e) < 0)
		return -1;
	done_print(a, "name", a->words[1]);
	return 0;
}

static bool state_is_live(const char *state)
{
	return !strcmp(state, "starting") || !strcmp(state, "running") || !strcmp(state, "paused");
}

/* Says what it came to. One that was started again and has ended by itself since has another
 * reason. */
static void rollback_print(const struct args *a, const struct json *cell, bool live)
{
	const char *state = json_show(cell, "state");

	if (a->json) {
		printf("{\"snapshot\":");
		json_quoted(stdout, a->words[1]);
		printf(",\"state\":");
		json_quoted(stdout, state);
		printf("}\n");
	}
	if (live && strcmp(state, "running") && !strcmp(json_show(cell, "reason"), "asked"))
		warn("cell '%s' was ended" REMEDY "'viv run --name %s -- COMMAND' starts it again",
		     a->words[0], a->words[0]);
}

int rollback_main(struct args *a, struct err *e)
{
	struct json_doc before = { 0 }, d = { 0 };
	int64_t grace = -1;
	struct buf body;
	int r;

	if (arg_time(a, "time", &grace, e) < 0 ||
	    vivd_ask("GET", cell_path(a->words[0], "").str, NULL, &before, e) < 0)
		return -1;
	body = object_of("snapshot", a->words[1]);
	if (grace >= 0)
		json_member_seconds(&body, "grace", grace);
	r = object_post(cell_path(a->words[0], "/rollback").str, &body, &d, e);
	if (!r)
		rollback_print(a, d.root, state_is_live(json_show(before.root, "state")));
	json_free(&before);
	json_free(&d);
	return r;
}

/* ---- volumes ---- */

int volume_create_main(struct args *a, struct err *e)
{
	struct buf body = object_of("name", a->words[0]);

	if (object_post("/v1/volumes", &body, NULL, e) < 0)
		return -1;
	done_print(a, "name", a->words[0]);
	return 0;
}

int volume_ls_main(struct args *a, struct err *e)
{
	bool quiet = arg_is_on(a, "quiet");
	struct store s;
	struct named *list;
	unsigned n;
	int err;

	if (store_open(&s, e) < 0)
		return -1;
	err = named_list(s.fd, NAMED_VOLUME, &list, &n);
	if (err) {
		store_close(&s);
		return err_set(e, ERR_FAILED, "cannot list: %s", strerror(-err));
	}
	if (!a->json && !quiet)
		printf("%-24s %-8s %s\n", "NAME", "STATE", "CREATED");
	for (unsigned i = 0; i < n; i++) {
		const char *state = disk_is_used(s.fd, list[i].disk) ? "in use" : "free";

		if (a->json)
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

static int volume_show(const struct args *a, const char *name, void *arg, struct err *e)
{
	struct json_doc d = { 0 };

	(void)arg;
	if (vivd_ask("GET", vivd_path("/v1/volumes/", name, "").str, NULL, &d, e) < 0)
		return -1;
	json_line_print(d.root, !a->json);
	json_free(&d);
	return 0;
}

int volume_inspect_main(struct args *a, struct err *e)
{
	return words_each(a, volume_show, NULL, e);
}

static int volume_remove(const struct args *a, const char *name, void *arg, struct err *e)
{
	(void)arg;
	if (vivd_ask("DELETE", vivd_path("/v1/volumes/", name, "").str, NULL, NULL, e) < 0)
		return -1;
	done_print(a, "name", name);
	return 0;
}

int volume_rm_main(struct args *a, struct err *e)
{
	return words_each(a, volume_remove, NULL, e);
}
