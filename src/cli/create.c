/* viv create, and run --detach: the options of run as a specification for vivd.
 *
 * Two things cannot be said over the API: words that are no UTF-8, and the credentials of s3:// mounts, which are viv's own and are to be
 * in no database. A detached cell with one of these is started by a keeper of viv's, and vivd adopts it: it has every verb, but nobody
 * starts it again. */
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

static void number_member(struct buf *b, const char *name, uint64_t n)
{
	if (n)
		json_member_number(b, name, n);
}

static void limits_add(struct buf *b, const struct run_options *o)
{
	char cpus[32];

	if (!o->cpu_milli && !o->memory && !o->pids && !o->disk_bytes && !o->disk_inodes)
		return;
	json_member_add(b, "limits", "{");
	if (o->cpu_milli) {
		snprintf(cpus, sizeof(cpus), "%u.%03u", o->cpu_milli / 1000, o->cpu_milli % 1000);
		json_member_add(b, "cpus", cpus);
	}
	number_member(b, "memory", o->memory);
	number_member(b, "pids", o->pids);
	number_member(b, "disk", o->disk_bytes);
	number_member(b, "inodes", o->disk_inodes);
	buf_add_text(b, "}");
}

/* vivd is somewhere else. */
static char *path_absolute(const char *path)
{
	char *here, *all;

	if (path[0] == '/' || s3_is_url(path))
		return strdup(path);
	here = getcwd(NULL, 0);
	if (!here || asprintf(&all, "%s/%s", here, path) < 0)
		all = NULL;
	free(here);
	return all;
}

static int mounts_add(struct buf *b, const struct run_options *o)
{
	if (!o->nmounts)
		return 0;
	json_member_add(b, "mounts", "[");
	for (unsigned i = 0; i < o->nmounts; i++) {
		const struct run_mount *m = &o->mounts[i];
		char *source = m->src ? path_absolute(m->src) : NULL;

		if (m->src && !source)
			return fail("--mount: %s", strerror(errno));
		json_member_add(b, NULL, "{");
		json_member_text(b, "source", source);
		json_member_text(b, "volume", m->volume);
		if (!m->src && !m->volume)
			json_member_add(b, "tmpfs", "true");
		json_member_text(b, "target", m->dst);
		if (m->readonly)
			json_member_add(b, "readonly", "true");
		number_member(b, "size", m->size);
		buf_add_text(b, "}");
		free(source);
	}
	buf_add_text(b, "]");
	return 0;
}

/* NAME=VALUE, the last of a name; NAME alone has the value that viv has, if values of viv's are wanted. */
static void pairs_add(struct buf *b, const char *member, const char *const *list, unsigned n,
		      bool own)
{
	if (!n)
		return;
	json_member_add(b, member, "{");
	for (unsigned i = 0; i < n; i++) {
		size_t len = strcspn(list[i], "=");
		const char *value = list[i][len] ? list[i] + len + 1 : own ? getenv(list[i]) : "";
		char *name = xstrndup(list[i], len);
		bool again = false;

		for (unsigned k = i + 1; k < n; k++)
			again |= !strncmp(list[k], list[i], len) && strcspn(list[k], "=") == len &&
				 (list[k][len] || !own || getenv(list[k]));
		if (!again)
			json_member_text(b, name, value);
		free(name);
	}
	buf_add_text(b, "}");
}

static void restart_add(struct buf *b, const char *text)
{
	const char *colon = text ? strchr(text, ':') : NULL;
	char *policy;

	if (!text)
		return;
	policy = xstrndup(text, strcspn(text, ":"));
	json_member_add(b, "restart", "{");
	/* One that was stopped is not started again in any case. */
	json_member_text(b, "policy", strcmp(policy, "unless-stopped") ? policy : "always");
	if (colon)
		json_member_add(b, "max", colon + 1);
	buf_add_text(b, "}");
	free(policy);
}

static void time_add(struct buf *b, const char *name, const char *text)
{
	int64_t ns = 0;

	/* It was looked at when the options were. */
	if (text && (value_duration(text, &ns) || !strcmp(text, "0")))
		json_member_seconds(b, name, ns);
}

static void words_add(struct buf *b, const char *name, char **words)
{
	json_member_add(b, name, "[");
	for (; words && *words; words++)
		json_member_text(b, NULL, *words);
	buf_add_text(b, "]");
}

static void health_add(struct buf *b, const struct run_health *h)
{
	static char sh[] = "/bin/sh", c[] = "-c";
	char *words[] = { sh, c, (char *)(uintptr_t)h->command, NULL };

	if (!h->command)
		return;
	json_member_add(b, "health", "{");
	words_add(b, "command", words);
	time_add(b, "interval", h->interval);
	time_add(b, "timeout", h->timeout);
	time_add(b, "start_period", h->start_period);
	number_member(b, "retries", h->retries);
	buf_add_text(b, "}");
}

/* run: a cell of that name gets the specification. idle: no command at all, it waits for what exec brings. */
static int spec_write(struct buf *b, const struct run_options *o, bool run, bool idle)
{
	buf_add_text(b, "{");
	json_member_text(b, "name", o->name);
	if (o->name && run)
		json_member_add(b, "update", "true");
	json_member_text(b, "image", o->image);
	/* None at all: the image's, of which vivd is told by an empty list. */
	if (!idle)
		words_add(b, "command", o->argv);
	json_member_text(b, "entrypoint", o->entrypoint);
	pairs_add(b, "env", o->env_given, o->nenv_given, true);
	json_member_text(b, "workdir", o->workdir);
	json_member_text(b, "user", o->user_text);
	if (strcmp(o->hostname, "cell"))
		json_member_text(b, "hostname", o->hostname);
	if (o->tty)
		json_member_add(b, "tty", "true");
	if (o->interactive)
		json_member_add(b, "stdin_open", "true");
	json_member_text(b, "binfmt_wasm", o->wasm);
	json_member_text(b, "s3_endpoint", o->s3_endpoint);
	if (o->fast)
		json_member_text(b, "fast", run_fast_name(o->fast));
	pairs_add(b, "labels", o->labels, o->nlabels, false);
	limits_add(b, o);
	restart_add(b, o->restart);
	health_add(b, &o->health);
	if (o->timeout_ns)
		json_member_seconds(b, "timeout", o->timeout_ns);
	time_add(b, "stop_grace", o->stop_timeout);
	time_add(b, "idle_timeout", o->idle_timeout);
	if (mounts_add(b, o))
		return EXIT_OWN;
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

static int cell_make(struct viv_client *c, const struct run_options *o, bool run, bool idle,
		     struct json_doc *ret)
{
	struct buf b = { 0 };
	int status = spec_write(&b, o, run, idle);

	if (!status)
		status = vivd_ask(c, "POST", "/v1/cells", (char *)b.p, ret);
	buf_free(&b);
	return status;
}

/* It did not start: why, as run says it, and 126 or 127 when it was the command's fault. */
static int start_failed(struct viv_client *c, const char *id)
{
	struct json_doc d = { 0 };
	int status = vivd_ask(c, "GET", cell_path(id, "").str, NULL, &d);
	int code = atoi(json_show(d.root, "exit_code"));
	const char *detail = json_show(d.root, "detail");

	if (!status)
		fail("%s", *detail ? detail : "the cell could not start");
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
		return fail("%s", error.text);
	if (reply.status == 422) {
		status = start_failed(c, id);
	} else if (reply.status >= 300) {
		vivd_refused(&reply);
		status = EXIT_OWN;
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
	for (unsigned i = 0; i < o->nenv_given; i++) {
		const char *text = o->env_given[i], *value = getenv(text);

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
		return fail("a cell with an s3:// mount, or words that are no UTF-8, is not kept "
			    "by vivd; leave --%s out",
			    run_vivds_option(o));
	if (keep_spawn(words, &hello, &status, &e) < 0) {
		if (e.text[0])
			fail("%s", e.text);
		return status;
	}
	if (o->json)
		printf("{\"id\":\"%s\",\"name\":\"%s\"}\n", hello.id, hello.name);
	else
		printf("%s\n", hello.name[0] ? hello.name : hello.id);
	return 0;
}

int detached_run(const struct run_options *o, char **words)
{
	struct viv_client *c;
	struct json_doc d = { 0 };
	int status;

	if (!is_sayable(o, words))
		return keeper_start(o, words);
	if (!o->argv && (!o->image || !strcmp(o->image, "host")) && !o->name)
		return fail("no command given; for a shell: viv run -- /bin/bash");
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
	int status = run_options_parse(&o, argc, argv);

	if (status < 0) {
		verb_help(verb_now);
		return ARGS_HELP;
	}
	if (status)
		return ERR_USAGE;
	for (int i = 1; i < argc; i++)
		if (!text_is_utf8(argv[i], strlen(argv[i])))
			return fail_as(ERR_USAGE, "'%s' is no UTF-8, which vivd needs", argv[i]);
	if (env_unsayable(&o))
		return fail_as(ERR_USAGE, "the variable '%.*s' is no UTF-8, which vivd needs",
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
