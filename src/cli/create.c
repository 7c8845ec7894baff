/* viv create, and run --detach: the options of run as a specification for vivd.
 *
 * Two things cannot be said over the API: words that are no UTF-8, and the credentials of s3://
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
#include "cli/list.h"
#include "cli/vivd.h"
#include "keeper/client.h"

/* ---- the specification ---- */

/* vivd is somewhere else: what is relative to us is not to it. */
static int mounts_absolute(struct run_options *o)
{
	for (unsigned i = 0; i < o->nmounts; i++) {
		const char *src = o->mounts[i].src;
		char *here, *path;

		if (!src || src[0] == '/' || s3_is_url(src))
			continue;
		here = getcwd(NULL, 0);
		if (!here || asprintf(&path, "%s/%s", here, src) < 0) {
			free(here);
			return fail(ERR_FAILED, "--mount: %s", strerror(errno));
		}
		free(here);
		o->mounts[i].src = run_keep(o, path);
	}
	return 0;
}

/* run: a cell of that name gets the specification. idle: no command at all, it waits for what exec
 * brings; else none is the image's. */
static int spec_write(struct buf *b, struct run_options *o, bool run, bool idle)
{
	if (mounts_absolute(o))
		return EXIT_OWN;
	if (!idle)
		o->given |= 1ULL << SET_COMMAND;
	buf_add_text(b, "{");
	if (o->name && run && !o->rm)
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

static int cell_make(struct viv_client *c, struct run_options *o, bool run, bool idle,
		     struct json_doc *ret)
{
	struct buf b = { 0 };
	int status = spec_write(&b, o, run, idle);

	if (!status)
		status = vivd_ask(c, "POST", "/v1/cells", (char *)b.p, ret);
	buf_free(&b);
	return status;
}

/* It did not start: 126 or 127 when it was the command's fault, as run has it. */
static int start_status(struct viv_client *c, const char *id)
{
	struct json_doc d = { 0 };
	int code;

	(void)!vivd_ask(c, "GET", cell_path(id, "").str, NULL, &d);
	code = atoi(json_show(d.root, "exit_code"));
	json_free(&d);
	return code == 126 || code == 127 ? code : EXIT_OWN;
}

static int start_first(struct viv_client *c, const struct run_options *o, const char *id)
{
	struct viv_error error;
	struct viv_reply reply;
	struct json_doc d;
	struct err e;
	int status = 0;

	if (viv_call(c, "POST", cell_path(id, "/start").str, NULL, &reply, &error) < 0)
		return report_viv(&error);
	if (reply.status >= 300) {
		vivd_refused(&reply);
		status = reply.status == 422 ? start_status(c, id) : EXIT_OWN;
	} else if (json_parse(&d, reply.body, reply.size, &e) == 0) {
		cell_told(d.root, o->json);
		json_free(&d);
	}
	viv_reply_free(&reply);
	/* One without a name is nobody's business any more. */
	if (status && !o->name)
		(void)!vivd_ask(c, "DELETE", cell_path(id, "?force=1").str, NULL, NULL);
	return status;
}

/* The first variable that is no UTF-8, by itself or by the value that viv has; NULL: none. */
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

/* The keeper reads the same words again. */
static int keeper_start(const struct run_options *o, char **words)
{
	struct keep_hello hello;
	struct err e;
	int status;

	if (run_vivds_option(o))
		return fail(ERR_USAGE,
			    "a cell with an s3:// mount, or words that are no UTF-8, is not kept "
			    "by vivd" REMEDY "leave --%s out",
			    run_vivds_option(o));
	if (keep_spawn(words, &hello, &status, &e) < 0) {
		report(&e);
		return status;
	}
	if (o->json)
		printf("{\"id\":\"%s\",\"name\":\"%s\"}\n", hello.id, hello.name);
	else
		printf("%s\n", hello.name[0] ? hello.name : hello.id);
	return 0;
}

int detached_run(struct run_options *o, char **words)
{
	struct viv_client *c;
	struct json_doc d = { 0 };
	int status;

	if (!is_sayable(o, words))
		return keeper_start(o, words);
	if (!o->argv && (!o->image || !strcmp(o->image, "host")) && !o->name)
		return fail(ERR_USAGE,
			    "no command given" REMEDY "for a shell: viv run -- /bin/bash");
	if (vivd_connect(&c))
		return EXIT_OWN;
	status = cell_make(c, o, true, false, &d) ? EXIT_OWN : 0;
	if (!status)
		status = start_first(c, o, json_show(d.root, "id"));
	json_free(&d);
	viv_close(c);
	return status;
}

int create_main(int argc, char **argv)
{
	static struct run_options o = { .detach = true };
	struct viv_client *c;
	struct json_doc d = { 0 };
	bool stored;
	struct err e;
	int status = run_options_parse(&o, argc, argv, &e);

	report_json(o.json);
	if (status > 0) {
		verb_help(verb_now);
		return ARGS_HELP;
	}
	if (status)
		return report(&e);
	for (int i = 1; i < argc; i++)
		if (!text_is_utf8(argv[i], strlen(argv[i])))
			return fail(ERR_USAGE, "'%s' is not valid UTF-8, which vivd requires",
				    argv[i]);
	if (env_unsayable(&o))
		return fail(ERR_USAGE,
			    "the variable '%.*s' is not valid UTF-8, which vivd requires",
			    (int)strcspn(env_unsayable(&o), "="), env_unsayable(&o));
	status = vivd_connect(&c);
	if (status)
		return status;
	stored = o.image && strcmp(o.image, "host");
	status = cell_make(c, &o, false, !o.argv && !stored, &d);
	if (!status)
		cell_told(d.root, o.json);
	json_free(&d);
	viv_close(c);
	return status;
}
