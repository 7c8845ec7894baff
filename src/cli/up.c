/* viv up, apply, down: cells as vivarium.yaml says. vivd reads the file and does the work; sent are its text and the values of those variables
 * that it names, and no others. What is printed has no values in it. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/utf8.h"
#include "cli/cli.h"
#include "cli/plan.h"
#include "cli/vivd.h"
#include "cli/words.h"

#define FILE_NAME "vivarium.yaml"
#define FILE_MAX (1u << 20)

static const char usage_up[] = "viv up [-f FILE] [-p PROJECT] [--dry-run] [--remove-orphans] "
			       "[--recreate] [--json] [CELL...]";
static const char usage_apply[] =
	"viv apply [-f FILE] [-p PROJECT] [--restart] [--dry-run] [--remove-orphans] [--recreate] "
	"[--json] [CELL...]";
static const char usage_down[] = "viv down [-f FILE] [-p PROJECT] [--volumes] [--dry-run] [--json]";

static const char help_file[] =
	"  -f, --file FILE      another file than " FILE_NAME " ('-': standard input)\n"
	"  -p, --project NAME   another name of the project than the file's, or its directory's\n"
	"  --dry-run            print the plan and change nothing\n"
	"  --json               one object for each line: the plan, what is done, the end\n";
static const char help_change[] =
	"  --remove-orphans     remove the project's cells that are not in the file any more\n"
	"  --recreate           make cells anew whose image changed; the files in them go\n";

void up_help(void)
{
	printf("Usage: %s\n\n"
	       "Makes and starts the cells of a file, changes those that differ from it (and "
	       "starts them again\nif it takes that), and leaves the others alone. With CELL, only "
	       "those and what they depend on.\n\n%s%s",
	       usage_up, help_file, help_change);
}

void apply_help(void)
{
	printf("Usage: %s\n\n"
	       "The same as 'viv up', but running cells go on: what can be changed while they run "
	       "is changed,\nand what needs a restart is told.\n\n"
	       "  --restart            restart those\n%s%s",
	       usage_apply, help_file, help_change);
}

void down_help(void)
{
	printf("Usage: %s\n\n"
	       "Stops and removes all cells of the project, those that depend on others first. "
	       "With --project, no file\nis needed.\n\n"
	       "  --volumes            remove the volumes that the project made, too\n%s",
	       usage_down, help_file);
}

struct asked {
	const char *file, *project;
	bool json, dry_run, remove_orphans, recreate, restart, apply, volumes;
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

/* Its bytes, with a NUL that is not counted. 0 or an exit status. */
static int file_load(const char *name, struct buf *b)
{
	bool input = !strcmp(name, "-");
	int fd = input ? 0 : open(name, O_RDONLY | O_CLOEXEC);
	int err = fd < 0 ? -errno : descriptor_read(fd, b);
	size_t good;

	if (!input && fd >= 0)
		close(fd);
	if (err) {
		fail("cannot read '%s': %s%s", name, strerror(-err),
		     err == -ENOENT ? "; -f names another file" : "");
		return err == -ENOENT ? ERR_NOT_FOUND : ERR_FAILED;
	}
	buf_add(b, "", 1);
	b->len--;
	good = text_utf8_head((char *)b->p, b->len);
	if (b->len > FILE_MAX || good < b->len || strlen((char *)b->p) < b->len) {
		unsigned line = 1;

		for (size_t i = 0; i < good && i < b->len; i++)
			line += b->p[i] == '\n';
		if (b->len > FILE_MAX)
			fail("'%s' has more than 1 MiB", name);
		else
			fail("%s:%u: this is no UTF-8", name, line);
		return ERR_USAGE;
	}
	return 0;
}

/* ---- the question ---- */

static void key_add(struct buf *b, const char *key)
{
	buf_add_text(b, b->len > 1 ? ",\"" : "\"");
	buf_add_text(b, key);
	buf_add_text(b, "\":");
}

static void text_add(struct buf *b, const char *key, const char *value)
{
	if (!value)
		return;
	key_add(b, key);
	json_text_add(b, value);
}

static void flag_add(struct buf *b, const char *key, bool on)
{
	if (!on)
		return;
	key_add(b, key);
	buf_add_text(b, "true");
}

static const char name_chars[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";

/* The variables that the text names, as far as they are set. 0 or an exit status. */
static int variables_add(struct buf *b, const char *text)
{
	struct buf v = { 0 };
	char name[256], *seen;
	int status = 0;

	buf_add_text(&v, "{");
	for (const char *p = text; !status && (p = strchr(p, '$')); p++) {
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
		if (!text_is_utf8(value, strlen(value))) {
			fail("the variable %s is no UTF-8", name);
			status = ERR_USAGE;
		}
		text_add(&v, name, value);
	}
	buf_add(&v, "}", 2);
	key_add(b, "variables");
	buf_add_text(b, (char *)v.p);
	buf_free(&v);
	return status;
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

/* What relative paths in the file are relative to, absolute; NULL with the message printed. The caller's. */
static char *dir_of(const char *file)
{
	char *copy = xstrndup(file, strlen(file));
	char *dir = realpath(strcmp(file, "-") ? dirname(copy) : ".", NULL);

	free(copy);
	if (!dir)
		fail("cannot find the directory of '%s': %s", file, strerror(errno));
	return dir;
}

static int file_add(struct buf *b, const char *file)
{
	struct buf text = { 0 };
	char name[80], *dir;
	int status = file_load(file, &text);

	if (!status && !(dir = dir_of(file)))
		status = ERR_FAILED;
	if (!status) {
		name_make(dir, name, sizeof(name));
		text_add(b, "yaml", (char *)text.p);
		text_add(b, "file", strcmp(file, "-") ? file : "standard input");
		text_add(b, "dir", dir);
		text_add(b, "fallback", name);
		status = variables_add(b, (char *)text.p);
		free(dir);
	}
	if (text.p)
		explicit_bzero(text.p, text.len);
	buf_free(&text);
	return status;
}

static int question_make(struct buf *b, const struct asked *a, bool down)
{
	int status = 0;

	buf_add_text(b, "{");
	text_add(b, "project", a->project);
	flag_add(b, "dry_run", a->dry_run);
	flag_add(b, "apply", a->apply);
	flag_add(b, "restart", a->restart);
	flag_add(b, "recreate", a->recreate);
	flag_add(b, "remove_orphans", a->remove_orphans);
	flag_add(b, "volumes", a->volumes);
	if (!down || !a->project || a->file)
		status = file_add(b, a->file ? a->file : FILE_NAME);
	if (a->ncells) {
		key_add(b, "cells");
		for (int i = 0; i < a->ncells; i++) {
			buf_add_text(b, i ? "," : "[");
			json_text_add(b, a->cells[i]);
		}
		buf_add_text(b, "]");
	}
	buf_add(b, "}", 2);
	return status;
}

/* One try. *again: vivd went before it said anything, and asking once more does no harm. */
static int ask_once(const char *path, const char *question, struct plan_print *out, bool *again)
{
	struct viv_client *c = vivd_open();
	struct viv_error error = { 0 };
	struct viv_reply reply = { 0 };
	int status = 0, r;

	if (!c)
		return ERR_FAILED;
	r = viv_stream(c, "POST", path, question, plan_line, out, &reply, &error);
	viv_close(c);
	if (r < 0 && !out->planned && *again && (error.code == ECONNRESET || error.code == EPIPE))
		return 0;
	*again = false;
	if (r < 0) {
		fail("%s", error.text);
		status = ERR_FAILED;
	} else if (reply.status != 200) {
		status = vivd_refused(&reply);
	} else {
		status = plan_print_end(out);
	}
	viv_reply_free(&reply);
	return status;
}

static int ask(const struct asked *a, bool down)
{
	struct plan_print out;
	struct buf b = { 0 };
	int status = question_make(&b, a, down);
	bool again = !status;

	plan_print_init(&out, a->json, a->dry_run, down);
	for (int tries = 0; again; tries++) {
		again = tries < 3;
		status = ask_once(down ? "/v1/down" : "/v1/up", (char *)b.p, &out, &again);
	}
	if (down && !a->project && status == ERR_USAGE)
		warn("'viv down --project NAME' needs no file");
	explicit_bzero(b.p, b.len);
	buf_free(&b);
	return status;
}

/* ---- the verbs ---- */

static int common_take(int *argc, char **argv, struct asked *a)
{
	int status = option_take(argc, argv, "-f", &a->file);

	status = status ? status : option_take(argc, argv, "--file", &a->file);
	status = status ? status : option_take(argc, argv, "-p", &a->project);
	status = status ? status : option_take(argc, argv, "--project", &a->project);
	a->json = flag_take(argc, argv, "--json");
	a->dry_run = flag_take(argc, argv, "--dry-run");
	return status;
}

static int change_main(int argc, char **argv, struct asked *a, const char *usage)
{
	int status = common_take(&argc, argv, a);

	a->remove_orphans = flag_take(&argc, argv, "--remove-orphans");
	a->recreate = flag_take(&argc, argv, "--recreate");
	status = status ? status : words_check(argc, argv, 0, argc, usage);
	if (status)
		return status;
	a->cells = argv + 1;
	a->ncells = argc - 1;
	return ask(a, false);
}

int up_main(int argc, char **argv)
{
	struct asked a = { 0 };

	return change_main(argc, argv, &a, usage_up);
}

int apply_main(int argc, char **argv)
{
	struct asked a = { .apply = true };

	a.restart = flag_take(&argc, argv, "--restart");
	return change_main(argc, argv, &a, usage_apply);
}

int down_main(int argc, char **argv)
{
	struct asked a = { 0 };
	int status;

	a.volumes = flag_take(&argc, argv, "--volumes") || flag_take(&argc, argv, "-v");
	status = common_take(&argc, argv, &a);
	status = status ? status : words_check(argc, argv, 0, 0, usage_down);
	return status ? status : ask(&a, true);
}
