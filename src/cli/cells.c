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

/* 0: s is open; else what the verb returns. */
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

static int snapshots_print(struct viv_client *c, const struct args *a)
{
	struct json_doc d = { 0 };
	const struct json *list;
	int status = vivd_ask(c, "GET", cell_path(a->words[0], "/snapshots").str, NULL, &d);

	list = status ? NULL : json_get(d.root, "snapshots", JSON_LIST);
	for (const struct json *s = list ? list->first : NULL; s; s = s->next)
		snapshot_print(a, s);
	json_free(&d);
	return status;
}

static int snapshot_remove(struct viv_client *c, const struct args *a)
{
	struct cell_path at = cell_path(a->words[0], "/snapshots/");
	int status = vivd_ask(c, "DELETE", vivd_path(at.str, a->words[1], "").str, NULL, NULL);

	if (!status && a->json)
		done_print(a, "name", a->words[1]);
	return status;
}

/* {"KEY":VALUE} */
static struct buf object_of(const char *key, const char *value)
{
	struct buf b = { 0 };

	buf_add_text(&b, "{");
	json_member_text(&b, key, value);
	return b;
}

static int snapshot_take(struct viv_client *c, const struct args *a)
{
	struct buf body = object_of("name", a->words[1]);
	struct json_doc d = { 0 };
	int status;

	buf_add(&body, "}", 2);
	status = vivd_ask(c, "POST", cell_path(a->words[0], "/snapshots").str, (char *)body.p, &d);
	if (!status)
		snapshot_print(a, d.root);
	json_free(&d);
	buf_free(&body);
	return status;
}

int snapshot_main(int argc, char **argv)
{
	struct viv_client *c;
	struct args a;
	int status = args_take(&a, argc, argv);
	bool ls, rm;

	if (status)
		return status;
	ls = arg_is_on(&a, "ls");
	rm = arg_is_on(&a, "rm");
	if ((rm && (ls || a.n != 2)) || (ls && a.n != 1))
		return args_wrong(a.verb,
				  rm ? "--rm takes a cell and a snapshot" : "--ls takes a cell");
	status = vivd_connect(&c);
	if (status)
		return status;
	status = ls ? snapshots_print(c, &a) : rm ? snapshot_remove(c, &a) : snapshot_take(c, &a);
	viv_close(c);
	return status;
}

int fork_main(int argc, char **argv)
{
	struct viv_client *c;
	struct cell_ref ref;
	struct args a;
	struct err e;
	struct buf body;
	int status = args_take(&a, argc, argv);

	if (!status && cell_ref_parse(a.words[0], &ref, &e) < 0)
		status = report(&e);
	status = status ? status : vivd_connect(&c);
	if (status)
		return status;
	body = object_of("name", a.words[1]);
	json_member_text(&body, "snapshot", ref.snapshot[0] ? ref.snapshot : NULL);
	buf_add(&body, "}", 2);
	status = vivd_ask(c, "POST", cell_path(ref.name, "/fork").str, (char *)body.p, NULL);
	if (!status)
		done_print(&a, "name", a.words[1]);
	buf_free(&body);
	viv_close(c);
	return status;
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

static int rollback_ask(struct viv_client *c, const struct args *a, int64_t grace)
{
	struct buf body = object_of("snapshot", a->words[1]);
	struct json_doc before = { 0 }, d = { 0 };
	int status = vivd_ask(c, "GET", cell_path(a->words[0], "").str, NULL, &before);

	if (grace >= 0)
		json_member_seconds(&body, "grace", grace);
	buf_add(&body, "}", 2);
	if (!status)
		status = vivd_ask(c, "POST", cell_path(a->words[0], "/rollback").str,
				  (char *)body.p, &d);
	if (!status)
		rollback_print(a, d.root, state_is_live(json_show(before.root, "state")));
	json_free(&before);
	json_free(&d);
	buf_free(&body);
	return status;
}

int rollback_main(int argc, char **argv)
{
	struct viv_client *c;
	struct args a;
	int status = args_take(&a, argc, argv);
	int64_t grace = -1;

	if (!status && !arg_time(&a, "time", &grace))
		status = ERR_USAGE;
	status = status ? status : vivd_connect(&c);
	if (status)
		return status;
	status = rollback_ask(c, &a, grace);
	viv_close(c);
	return status;
}

/* ---- volumes ---- */

int volume_create_main(int argc, char **argv)
{
	struct viv_client *c;
	struct args a;
	struct buf body;
	int status = args_take(&a, argc, argv);

	status = status ? status : vivd_connect(&c);
	if (status)
		return status;
	body = object_of("name", a.words[0]);
	buf_add(&body, "}", 2);
	status = vivd_ask(c, "POST", "/v1/volumes", (char *)body.p, NULL);
	if (!status)
		done_print(&a, "name", a.words[0]);
	buf_free(&body);
	viv_close(c);
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

int volume_inspect_main(int argc, char **argv)
{
	struct viv_client *c;
	struct args a;
	int status = args_take(&a, argc, argv), r;

	status = status ? status : vivd_connect(&c);
	if (status)
		return status;
	for (int i = 0; i < a.n; i++) {
		struct json_doc d = { 0 };

		r = vivd_ask(c, "GET", vivd_path("/v1/volumes/", a.words[i], "").str, NULL, &d);
		if (!r) {
			json_value_print(stdout, d.root, !a.json);
			putchar('\n');
		}
		json_free(&d);
		status = status ? status : r;
	}
	viv_close(c);
	return status;
}

int volume_rm_main(int argc, char **argv)
{
	struct viv_client *c;
	struct args a;
	int status = args_take(&a, argc, argv), r;

	status = status ? status : vivd_connect(&c);
	if (status)
		return status;
	for (int i = 0; i < a.n; i++) {
		r = vivd_ask(c, "DELETE", vivd_path("/v1/volumes/", a.words[i], "").str, NULL,
			     NULL);
		if (!r)
			done_print(&a, "name", a.words[i]);
		status = status ? status : r;
	}
	viv_close(c);
	return status;
}
