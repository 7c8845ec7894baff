/* See secrets.h. */
#include "keeper/secrets.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/json.h"
#include "base/jsontext.h"
#include "keeper/channel.h"
#include "keeper/gate.h"
#include "keeper/keeper.h"
#include "keeper/run.h"

#define SECRETS_MOST 64
#define TEXT_MOST (1u << 20)
#define POLL_S 5

static struct secret_line {
	const char *name; /* as the options have it */
	char *json; /* NULL: it was removed since */
	bool stored; /* in vivd's store: it can change */
} list[SECRETS_MOST];
static unsigned count;

static struct source changes = { .fd = -1 }; /* inotify of the store's directory */
static struct source reader = { .fd = -1 }; /* the pidfd of a vivd that reads again */
static pid_t reader_pid;
static int reader_out = -1;
static bool again; /* there was another change meanwhile */
static char store[4096]; /* the directory of secrets */
static struct timespec seen; /* when it had changed last */
static bool polled; /* it is not watched, but looked at */

/* ---- the directory ---- */

/* Where it is, as client/paths.h and vivd have it. */
static void store_find(void)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");

	if (state && *state == '/')
		snprintf(store, sizeof(store), "%s/vivarium/secrets", state);
	else if (home && *home == '/')
		snprintf(store, sizeof(store), "%s/.local/state/vivarium/secrets", home);
	else
		snprintf(store, sizeof(store), "/var/lib/vivarium/state/secrets");
}

/* Since the last time that this was asked. */
static bool store_has_changed(void)
{
	struct stat st = { 0 };
	bool changed;

	(void)stat(store, &st);
	changed = st.st_mtim.tv_sec != seen.tv_sec || st.st_mtim.tv_nsec != seen.tv_nsec;
	seen = st.st_mtim;
	return changed;
}

/* ---- the program that reads them ---- */

static void line_forget(struct secret_line *l)
{
	if (l->json)
		explicit_bzero(l->json, strlen(l->json));
	free(l->json);
	l->json = NULL;
}

static void list_copy(struct buf *to, const struct json *v, const char *name)
{
	const struct json *texts = json_get(v, name, JSON_LIST);
	const char *between = "";

	json_member_add(to, name, NULL);
	buf_add_text(to, "[");
	for (const struct json *m = texts ? texts->first : NULL; m; m = m->next) {
		buf_add_text(to, between);
		json_text_add(to, m->text ? m->text : "");
		between = ",";
	}
	buf_add_text(to, "]");
}

/* The secret is gone. What remains lets the gate refuse its placeholder. */
static void line_lose(struct secret_line *l)
{
	struct buf b = { 0 };
	struct json_doc d;
	struct err e;

	if (!l->json || json_parse(&d, l->json, strlen(l->json), &e) < 0)
		return;
	buf_add_text(&b, "{");
	json_member_text(&b, "name", l->name);
	json_member_text(&b, "placeholder", json_get_text(d.root, "placeholder"));
	json_member_add(&b, "lost", "true");
	list_copy(&b, d.root, "hosts");
	list_copy(&b, d.root, "places");
	buf_add_text(&b, "}");
	explicit_bzero(d.bytes, strlen(l->json));
	json_free(&d);
	line_forget(l);
	l->json = xstrndup((const char *)b.p, b.len);
	buf_free(&b);
}

/* Its output goes to a memory file, *ret_out. */
static pid_t reader_start(bool refresh, int *ret_out, struct err *e)
{
	static char name[] = "vivd", secrets[] = "--secrets", fresh[] = "--refresh";
	static char environment[] = "--environment", end[] = "--";
	char *argv[SECRETS_MOST + 5] = { name, secrets };
	int n = 2, program = program_open("vivd", e);
	pid_t pid = -1;

	if (program < 0)
		return -1;
	if (refresh)
		argv[n++] = fresh;
	else if (!keeper.detached)
		argv[n++] = environment;
	argv[n++] = end;
	for (unsigned i = 0; i < count; i++)
		argv[n++] = (char *)(uintptr_t)list[i].name;
	*ret_out = memfd_create("secrets", MFD_CLOEXEC);
	if (*ret_out >= 0)
		pid = fork();
	if (pid == 0) {
		sigset_t none;

		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		if (dup2(*ret_out, STDOUT_FILENO) == STDOUT_FILENO)
			fexecve(program, argv, environ);
		_exit(126);
	}
	close(program);
	if (pid < 0) {
		if (*ret_out >= 0)
			close(*ret_out);
		err_note(e, ERR_FAILED, "cannot run vivd to read secrets: %s", strerror(errno));
	}
	return pid;
}

static void line_take(const struct json *v, const char *text, size_t n)
{
	const char *name = json_get_text(v, "name");

	for (unsigned i = 0; i < count && name; i++)
		if (!strcmp(list[i].name, name)) {
			line_forget(&list[i]);
			list[i].json = xstrndup(text, n);
			list[i].stored = json_get_text(v, "changed") != NULL;
		}
}

static int lines_take(char *text, size_t size, bool refresh, struct err *e)
{
	size_t n;

	/* What is not there any more is not to be used any more. */
	for (unsigned i = 0; i < count && refresh; i++)
		if (list[i].stored)
			line_lose(&list[i]);
	for (char *at = text; at < text + size; at += n + 1) {
		const struct json *error;
		struct json_doc d;

		n = strcspn(at, "\n");
		if (json_parse(&d, at, n, e) < 0)
			return err_set(e, ERR_FAILED, "vivd printed secrets that cannot be read");
		error = json_get(d.root, "error", JSON_OBJECT);
		if (error)
			json_get_err(error, 0, e);
		else
			line_take(d.root, at, n);
		explicit_bzero(d.bytes, n);
		json_free(&d);
		if (error)
			return -1;
	}
	return 0;
}

/* What a reader has printed, checked as a whole before any of it is used. */
static int output_take(int fd, int status, bool refresh, struct err *e)
{
	struct stat st;
	char *text;
	ssize_t n;
	int ret = -1;

	if (fstat(fd, &st) < 0 || st.st_size > TEXT_MOST)
		return err_set(e, ERR_FAILED, "vivd cannot read the cell's secrets");
	text = xalloc((size_t)st.st_size + 1);
	n = pread(fd, text, (size_t)st.st_size, 0);
	text[n < 0 ? 0 : n] = '\0';
	if (n > 0 && status) {
		/* Only why: its last line. */
		char *line = text + n - (text[n - 1] == '\n');

		*line = '\0';
		line = strrchr(text, '\n') ? strrchr(text, '\n') + 1 : text;
		ret = lines_take(line, strlen(line), false, e);
	} else if (n >= 0 && !status) {
		ret = lines_take(text, (size_t)n, refresh, e);
	}
	if (ret < 0 && !e->kind)
		err_note(e, ERR_FAILED, "vivd cannot read the cell's secrets");
	explicit_bzero(text, (size_t)st.st_size);
	free(text);
	return status ? -1 : ret;
}

/* ---- at the start ---- */

static void variable_set(struct run_options *o, const char *json)
{
	struct err e;
	struct json_doc d;
	const char *env, *placeholder;
	char *text;

	if (json_parse(&d, json, strlen(json), &e) < 0)
		return;
	env = json_get_text(d.root, "env");
	placeholder = json_get_text(d.root, "placeholder");
	if (env && placeholder && asprintf(&text, "%s=%s", env, placeholder) >= 0) {
		run_env_set(o, text);
		free(text);
	}
	explicit_bzero(d.bytes, strlen(json));
	json_free(&d);
}

int secrets_read(struct run_options *o, struct err *e)
{
	/* No core of us or of a gate, whether it would go to a file or to a program: a limit of one
	 * byte is less than any, and Linux takes it as a wish to have none where the limit does not
	 * count. */
	static const struct rlimit no_core = { 1, 1 };
	int out = -1, status = -1;
	pid_t pid;

	count = 0;
	for (char **s = o->secrets; s && *s && count < SECRETS_MOST; s++)
		list[count++].name = *s;
	if (!count || o->visit || o->tell.mode != MODE_RUN)
		return 0;
	(void)setrlimit(RLIMIT_CORE, &no_core);
	store_find();
	(void)store_has_changed();
	pid = reader_start(false, &out, e);
	if (pid < 0)
		return -1;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	status = output_take(out, status, false, e);
	close(out);
	for (unsigned i = 0; i < count && !status; i++) {
		if (!list[i].json)
			return err_set(e, ERR_FAILED, "secret '%s' cannot be read", list[i].name);
		variable_set(o, list[i].json);
	}
	return status;
}

bool secrets_are_there(void)
{
	return count && list[0].json;
}

void secrets_write(struct buf *to)
{
	for (unsigned i = 0; i < count; i++) {
		if (!list[i].json)
			continue;
		buf_add_text(to, "secret ");
		buf_add_text(to, list[i].json);
		buf_add_text(to, "\n");
	}
}

/* ---- later ---- */

static void reader_ended(struct source *s, uint32_t events);

static void reader_begin(void)
{
	struct err e = { 0 };
	int fd;

	again = reader.fd >= 0;
	if (again)
		return;
	reader_pid = reader_start(true, &reader_out, &e);
	fd = reader_pid > 0 ? (int)syscall(SYS_pidfd_open, reader_pid, 0) : -1;
	if (fd < 0 || source_add(&reader, fd, EPOLLIN, reader_ended) < 0)
		text_tell(false, "the secrets of the cell cannot be read again", 64);
}

static void reader_ended(struct source *s, uint32_t events)
{
	struct err e = { 0 };
	struct err_line line;
	int status = -1;

	(void)events;
	source_close(s);
	while (waitpid(reader_pid, &status, 0) < 0 && errno == EINTR)
		;
	if (output_take(reader_out, status, true, &e) < 0) {
		line = err_line(&e);
		text_tell(false, line.str, strlen(line.str));
	} else if (gatectl_settings() < 0) {
		gate_kill(); /* the next one has them */
	}
	close(reader_out);
	reader_out = -1;
	if (again)
		reader_begin();
}

/* By inotify: there is a change. By the clock: there may be one. */
static void changes_ready(struct source *s, uint32_t events)
{
	char buf[4096];

	(void)events;
	while (read(s->fd, buf, sizeof(buf)) > 0)
		;
	if (!polled || store_has_changed())
		reader_begin();
}

/* A host gives a user few of inotify; without one the store is looked at from time to time. */
static int changes_open(void)
{
	struct itimerspec every = { .it_value.tv_sec = POLL_S, .it_interval.tv_sec = POLL_S };
	int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);

	if (fd >= 0 && inotify_add_watch(fd, store, IN_MOVED_TO | IN_DELETE) >= 0)
		return fd;
	if (fd >= 0)
		close(fd);
	polled = true;
	fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (fd >= 0)
		(void)timerfd_settime(fd, 0, &every, NULL);
	return fd;
}

void secrets_follow(void)
{
	int fd;

	if (!secrets_are_there())
		return;
	fd = changes_open();
	if (fd < 0 || source_add(&changes, fd, EPOLLIN, changes_ready) < 0) {
		if (fd >= 0)
			close(fd);
		text_tell(false, "changes of secrets will not reach this cell", 64);
	}
	/* Since they were read. */
	if (store_has_changed())
		reader_begin();
}
