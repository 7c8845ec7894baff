/* viv create, and run --detach: the options of run as a specification for vivd.
 *
 * Two things cannot be said over the API: words that are not UTF-8, and the credentials of s3://
 * mounts, which are viv's own and are to be in no database. A detached cell with one of these is
 * started by a keeper of viv's, and vivd adopts it: it has every verb, but nobody starts it
 * again. */
#include "cli/create.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/utf8.h"
#include "cli/args.h"
#include "cli/copies/copies.h"
#include "cli/list.h"
#include "cli/vivd.h"
#include "keeper/client.h"

/* ---- the specification ---- */

/* vivd is somewhere else: what is relative to us is not to it. */
static int mounts_absolute(struct run_options *o, struct err *e)
{
	for (unsigned i = 0; i < o->nmounts; i++) {
		const char *src = o->mounts[i].src;
		char *here, *path;

		if (!src || src[0] == '/' || s3_is_url(src))
			continue;
		here = getcwd(NULL, 0);
		if (!here || asprintf(&path, "%s/%s", here, src) < 0) {
			free(here);
			return err_set(e, ERR_FAILED, "--mount: %s", strerror(errno));
		}
		free(here);
		o->mounts[i].src = run_keep(o, path);
	}
	return 0;
}

/* run: a cell of that name gets the specification. idle: no command at all, it waits for what exec
 * brings; else none is the image's. */
static int spec_write(struct buf *b, struct run_options *o, bool run, bool idle, struct err *e)
{
	if (mounts_absolute(o, e) < 0)
		return -1;
	if (!idle)
		o->given[SET_COMMAND] = true;
	buf_add_text(b, "{");
	if (o->name && run && !o->rm && !viv_inside())
		json_member_add(b, "update", "true");
	run_options_write(o, 0, b);
	buf_add(b, "}", 2);
	return 0;
}

/* ---- making ---- */

static void cell_told(const struct json *cell, bool json)
{
	if (json)
		json_value_print(stdout, cell, false);
	else
		fputs(cell_shown(cell), stdout);
	putchar('\n');
}

static int cell_make(struct run_options *o, bool run, bool idle, struct json_doc *ret,
		     struct err *e)
{
	struct buf b = { 0 };
	int r = spec_write(&b, o, run, idle, e);

	if (!r)
		r = vivd_ask("POST", "/v1/cells", (char *)b.p, ret, e);
	buf_free(&b);
	return r;
}

static bool is_there(const char *name)
{
	struct err unused;

	return vivd_ask("GET", cell_path(name, "").str, NULL, NULL, &unused) == 0;
}

/* With --copy: the files come before the first start. */
static int copied_make(struct run_options *o, bool run, bool idle, struct json_doc *ret,
		       struct err *e)
{
	bool there = is_there(o->name);
	struct err unused;
	int r = cell_make(o, run, idle, ret, e);

	if (r < 0)
		return -1;
	r = copies_put(o, json_show(ret->root, "id"), e);
	/* A cell without its files is of no use. */
	if (r < 0 && !there)
		(void)!vivd_ask("DELETE", cell_path(json_show(ret->root, "id"), "?force=1").str,
				NULL, NULL, &unused);
	return r;
}

/* It did not start: when it was the command's fault, the kind says so, as run has it. */
static void kind_find(const char *id, struct err *e)
{
	struct json_doc d = { 0 };
	struct err unused;
	int code;

	if (vivd_ask("GET", cell_path(id, "").str, NULL, &d, &unused) < 0)
		return;
	code = atoi(json_show(d.root, "exit_code"));
	if (code == 126 || code == 127)
		e->kind = err_kind_of_status(code);
	json_free(&d);
}

static int start_first(const struct run_options *o, const char *id, struct err *e)
{
	struct json_doc d = { 0 };
	struct err unused;

	if (vivd_ask("POST", cell_path(id, "/start").str, NULL, &d, e) == 0) {
		cell_told(d.root, o->json);
		json_free(&d);
		return 0;
	}
	if (e->kind == ERR_START_FAILED)
		kind_find(id, e);
	/* One without a name is nobody's business any more. */
	if (!o->name)
		(void)!vivd_ask("DELETE", cell_path(id, "?force=1").str, NULL, NULL, &unused);
	return -1;
}

/* The first variable that is not UTF-8, by itself or by the value that viv has; NULL: none. */
static const char *env_unsayable(const struct run_options *o)
{
	for (unsigned i = 0; i < o->env_given.n; i++) {
		const char *text = o->env_given.v[i], *value = getenv(text);

		if (!text_is_utf8(text, strlen(text)) ||
		    (!strchr(text, '=') && value && !text_is_utf8(value, strlen(value))))
			return text;
	}
	return NULL;
}

/* See the head of this file. */
static bool is_sayable(const struct run_options *o, char **words)
{
	for (unsigned i = 0; i < o->nmounts; i++)
		if (o->mounts[i].src && s3_is_url(o->mounts[i].src))
			return false;
	for (; *words; words++)
		if (!text_is_utf8(*words, strlen(*words)))
			return false;
	return env_unsayable(o) == NULL;
}

void run_spec(struct run_options *o, char **words, struct buf *ret)
{
	struct run_mount mounts[SPEC_MAX_MOUNTS];
	bool command = o->given[SET_COMMAND];
	struct err e;

	if (o->rm || !is_sayable(o, words))
		return;
	memcpy(mounts, o->mounts, sizeof(mounts));
	if (mounts_absolute(o, &e) == 0) {
		o->given[SET_COMMAND] = true;
		buf_add_text(ret, "{");
		run_options_write(o, 0, ret);
		buf_add_text(ret, "}");
	}
	o->given[SET_COMMAND] = command;
	memcpy(o->mounts, mounts, sizeof(mounts));
}

/* The keeper reads the same words again. */
static int keeper_start(const struct run_options *o, char **words, struct err *e)
{
	struct keep_hello hello;

	if (run_vivds_option(o) || o->ncopies)
		return err_set(e, ERR_USAGE,
			       "a cell with an s3:// mount, or words that are not UTF-8, is not "
			       "kept by vivd" REMEDY "leave --%s out",
			       o->ncopies ? "copy" : run_vivds_option(o));
	if (keep_spawn(words, &hello, e) < 0)
		return -1;
	if (o->json)
		printf("{\"id\":\"%s\",\"name\":\"%s\"}\n", hello.id, hello.name);
	else
		printf("%s\n", hello.name[0] ? hello.name : hello.id);
	return 0;
}

int copies_prepare(struct run_options *o, struct err *e)
{
	bool command = o->given[SET_COMMAND];
	struct json_doc d = { 0 };
	int r = copied_make(o, true, false, &d, e);

	o->given[SET_COMMAND] = command;
	json_free(&d);
	return r;
}

int detached_run(struct run_options *o, char **words, struct err *e)
{
	struct json_doc d = { 0 };
	int r;

	if (!is_sayable(o, words))
		return keeper_start(o, words, e);
	if (!o->argv && (!o->image || !strcmp(o->image, "host")) && !o->name)
		return err_set(e, ERR_USAGE,
			       "no command given" REMEDY "for a shell: viv run -- /bin/bash");
	r = o->ncopies ? copied_make(o, true, false, &d, e) : cell_make(o, true, false, &d, e);
	if (!r)
		r = start_first(o, json_show(d.root, "id"), e);
	json_free(&d);
	return r;
}

int create_main(struct args *a, struct err *e)
{
	static struct run_options o = { .detach = true };
	struct json_doc d = { 0 };
	bool stored;
	int r = run_options_parse(&o, a->argc, a->argv, e);

	report_json(o.json);
	if (r > 0)
		return verb_help(a->verb), 0;
	if (r < 0)
		return -1;
	for (int i = 1; i < a->argc; i++)
		if (!text_is_utf8(a->argv[i], strlen(a->argv[i])))
			return err_set(e, ERR_USAGE, "'%s' is not valid UTF-8, which vivd requires",
				       a->argv[i]);
	if (env_unsayable(&o))
		return err_set(e, ERR_USAGE,
			       "the variable '%.*s' is not valid UTF-8, which vivd requires",
			       (int)strcspn(env_unsayable(&o), "="), env_unsayable(&o));
	stored = o.image && strcmp(o.image, "host");
	r = o.ncopies ? copied_make(&o, false, !o.argv && !stored, &d, e)
		      : cell_make(&o, false, !o.argv && !stored, &d, e);
	if (!r)
		cell_told(d.root, o.json);
	json_free(&d);
	return r;
}
