/* viv up, apply, down: cells as vivarium.yaml says. vivd reads the file and does the work; sent are
 * its text and the values of those variables that it names, and no others. What is printed has no
 * values in it. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/utf8.h"
#include "cli/args.h"
#include "cli/plan.h"
#include "cli/vivd.h"

#define FILE_NAME "vivarium.yaml"
#define FILE_MAX (1u << 20)

struct asked {
	const char *file, *project;
	bool json, dry_run, remove_orphans, recreate, restart, apply, volumes, wait;
	int64_t wait_ns; /* 0: for ever */
	char **cells;
	int ncells;
};

/* ---- the file ---- */

static int descriptor_read(int fd, struct buf *b)
{
	ssize_t n;

	do {
		char *p = buf_more(b, 65536);

		n = read(fd, p, 65536);
		b->len -= 65536 - (size_t)MAX(n, 0);
	} while (n > 0 && b->len <= FILE_MAX);
	return n < 0 ? -errno : 0;
}

/* Its bytes, with a NUL that is not counted. */
static int file_load(const char *name, struct buf *b, struct err *e)
{
	bool input = !strcmp(name, "-");
	int fd = input ? 0 : open(name, O_RDONLY | O_CLOEXEC);
	int err = fd < 0 ? -errno : descriptor_read(fd, b);
	size_t good;

	if (!input && fd >= 0)
		close(fd);
	if (err) {
		err_set(e, err == -ENOENT ? ERR_NOT_FOUND : ERR_FAILED, "cannot read '%s': %s",
			name, strerror(-err));
		err_remedy(e, err == -ENOENT ? "-f names another file" : "");
		return -1;
	}
	buf_add(b, "", 1);
	b->len--;
	good = text_utf8_head((char *)b->p, b->len);
	if (b->len > FILE_MAX || good < b->len || strlen((char *)b->p) < b->len) {
		unsigned line = 1;

		for (size_t i = 0; i < good && i < b->len; i++)
			line += b->p[i] == '\n';
		if (b->len > FILE_MAX)
			return err_set(e, ERR_USAGE, "'%s' has more than 1 MiB", name);
		return err_set(e, ERR_USAGE, "%s:%u: not valid UTF-8", name, line);
	}
	return 0;
}

/* ---- the question ---- */

static const char name_chars[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";

/* The variables that the text names, as far as they are set. */
static int variables_add(struct buf *b, const char *text, struct err *e)
{
	struct buf v = { 0 };
	char name[256], *seen;
	int r = 0;

	buf_add_text(&v, "{");
	for (const char *p = text; !r && (p = strchr(p, '$')); p++) {
		const char *value;
		size_t n;

		if (p[1] == '$') {
			p++;
			continue;
		}
		n = p[1] == '{' ? strspn(p + 2, name_chars) : 0;
		if (!n || n >= sizeof(name) - 4)
			continue;
		snprintf(name, sizeof(name), "\"%.*s\":", (int)n, p + 2);
		buf_add(&v, "", 1);
		v.len--;
		seen = strstr((char *)v.p, name);
		snprintf(name, sizeof(name), "%.*s", (int)n, p + 2);
		value = getenv(name);
		if (!value || seen)
			continue;
		if (!text_is_utf8(value, strlen(value)))
			r = err_set(e, ERR_USAGE, "the variable %s is not valid UTF-8", name);
		json_member_text(&v, name, value);
	}
	buf_add(&v, "}", 2);
	json_member_add(b, "variables", (char *)v.p);
	buf_free(&v);
	return r;
}

/* A name for a project from that of a directory. */
static void name_make(const char *dir, char *name, size_t size)
{
	const char *slash = strrchr(dir, '/');

	snprintf(name, size, "%.64s", slash && slash[1] ? slash + 1 : "root");
	for (char *p = name; *p; p++)
		if (!strchr(name_chars, *p) && *p != '.' && *p != '-')
			*p = '-';
	if (strchr("._-", name[0]))
		name[0] = 'p';
}

/* What relative paths in the file are relative to, absolute; NULL with an error. The
 * caller's. */
static char *dir_of(const char *file, struct err *e)
{
	char *copy = xstrndup(file, strlen(file));
	char *dir = realpath(strcmp(file, "-") ? dirname(copy) : ".", NULL);

	free(copy);
	if (!dir)
		err_set(e, ERR_FAILED, "cannot find the directory of '%s': %s", file,
			strerror(errno));
	return dir;
}

static int file_add(struct buf *b, const char *file, struct err *e)
{
	struct buf text = { 0 };
	char name[80], *dir;
	int r = file_load(file, &text, e);

	if (!r && !(dir = dir_of(file, e)))
		r = -1;
	if (!r && text.p) {
		name_make(dir, name, sizeof(name));
		json_member_text(b, "yaml", (char *)text.p);
		json_member_text(b, "file", strcmp(file, "-") ? file : "standard input");
		json_member_text(b, "dir", dir);
		json_member_text(b, "fallback", name);
		r = variables_add(b, (char *)text.p, e);
		free(dir);
	}
	if (text.p)
		explicit_bzero(text.p, text.len);
	buf_free(&text);
	return r;
}

static int question_make(struct buf *b, const struct asked *a, bool down, struct err *e)
{
	int r = 0;

	buf_add_text(b, "{");
	json_member_text(b, "project", a->project);
	if (a->dry_run)
		json_member_add(b, "dry_run", "true");
	if (a->apply)
		json_member_add(b, "apply", "true");
	if (a->restart)
		json_member_add(b, "restart", "true");
	if (a->recreate)
		json_member_add(b, "recreate", "true");
	if (a->remove_orphans)
		json_member_add(b, "remove_orphans", "true");
	if (a->volumes)
		json_member_add(b, "volumes", "true");
	if (a->wait)
		json_member_add(b, "wait", "true");
	if (a->wait_ns)
		json_member_seconds(b, "wait_timeout", a->wait_ns);
	if (!down || !a->project || a->file)
		r = file_add(b, a->file ? a->file : FILE_NAME, e);
	if (a->ncells) {
		json_member_add(b, "cells", "[");
		for (int i = 0; i < a->ncells; i++)
			json_member_text(b, NULL, a->cells[i]);
		buf_add_text(b, "]");
	}
	buf_add(b, "}", 2);
	return r;
}

/* One try. *again: vivd went before it said anything, and asking once more does no harm. */
static int ask_once(const char *path, const char *question, struct plan_print *out, bool *again,
		    struct err *e)
{
	struct viv_client *c;
	struct viv_error error = { 0 };
	struct viv_reply reply = { 0 };
	int r = vivd_connect(&c, e);
	bool may = *again;

	*again = false;
	if (r < 0)
		return -1;
	if (viv_stream(c, "POST", path, question, plan_line, out, &reply, &error) < 0) {
		*again = may && !out->planned && (error.code == ECONNRESET || error.code == EPIPE);
		vivd_disconnect();
		return viv_error_get(&error, e);
	}
	r = reply.status != 200 ? vivd_refusal(&reply, e) : plan_print_end(out, e);
	viv_reply_free(&reply);
	return r;
}

static int ask(const struct asked *a, bool down, struct err *e)
{
	struct plan_print out;
	struct buf b = { 0 };
	int r = question_make(&b, a, down, e);
	bool again = !r;

	plan_print_init(&out, a->json, a->dry_run, down);
	for (int tries = 0; again; tries++) {
		again = tries < 3;
		r = ask_once(down ? "/v1/down" : "/v1/up", (char *)b.p, &out, &again, e);
	}
	if (down && !a->project && r < 0 && err_exit(e) == ERR_USAGE)
		err_remedy(e, "'viv down --project NAME' needs no file");
	explicit_bzero(b.p, b.len);
	buf_free(&b);
	return r;
}

/* ---- the verbs ---- */

static int project_run(const struct args *a, bool apply, bool down, struct err *e)
{
	struct asked x = { .file = arg_value(a, "file"),
			   .project = arg_value(a, "project"),
			   .json = a->json,
			   .dry_run = arg_is_on(a, "dry-run"),
			   .apply = apply,
			   .cells = a->words,
			   .ncells = a->n };

	if (down) {
		x.volumes = arg_is_on(a, "volumes");
	} else {
		x.remove_orphans = arg_is_on(a, "remove-orphans");
		x.recreate = arg_is_on(a, "recreate");
		x.restart = apply && arg_is_on(a, "restart");
	}
	if (!down && !apply) {
		if (arg_time(a, "wait-timeout", &x.wait_ns, e) < 0)
			return -1;
		x.wait = arg_is_on(a, "wait") || x.wait_ns;
	}
	return ask(&x, down, e);
}

int up_main(struct args *a, struct err *e)
{
	return project_run(a, false, false, e);
}

int apply_main(struct args *a, struct err *e)
{
	return project_run(a, true, false, e);
}

int down_main(struct args *a, struct err *e)
{
	return project_run(a, false, true, e);
}
