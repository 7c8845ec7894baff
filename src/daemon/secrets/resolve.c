/* See secrets.h: where values come from, and the lines for a keeper. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "client/paths.h"
#include "daemon/secrets/secrets.h"
#include "daemon/state/fields.h"
#include "gate/secret.h"
#include "store/files.h"

#define COMMAND_MS 30000

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static _Noreturn void command_exec(const char *command, int out)
{
	int null = open("/dev/null", O_RDWR);

	setpgid(0, 0);
	dup2(null, 0);
	dup2(out, 1);
	dup2(null, 2);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

/* What it prints, up to the largest value and one byte; -1: it took too long. */
static ssize_t output_read(int fd, char *to, size_t size)
{
	int64_t end = now_ms() + COMMAND_MS;
	size_t n = 0;

	while (n < size) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		int64_t left = end - now_ms();
		ssize_t got;

		if (left <= 0 || (poll(&p, 1, (int)left) < 0 && errno != EINTR))
			return -1;
		if (!p.revents)
			continue;
		got = read(fd, to + n, size - n);
		if (got <= 0)
			break;
		n += (size_t)got;
	}
	return (ssize_t)n;
}

static int command_run(const char *name, const char *command, char *to, size_t size, size_t *ret,
		       struct err *e)
{
	int out[2], status = 0;
	ssize_t n;
	pid_t pid;

	if (pipe2(out, O_CLOEXEC) < 0)
		return err_set(e, ERR_FAILED, "cannot run the command of secret '%s'", name);
	pid = fork();
	if (pid == 0)
		command_exec(command, out[1]);
	close(out[1]);
	n = pid > 0 ? output_read(out[0], to, size) : -1;
	close(out[0]);
	if (pid > 0 && n < 0)
		kill(-pid, SIGKILL);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	*ret = n < 0 ? 0 : (size_t)n;
	if (pid < 0)
		return err_set(e, ERR_FAILED, "cannot run the command of secret '%s'", name);
	if (n < 0)
		return err_set(e, ERR_FAILED, "the command of secret '%s' takes longer than %d s",
			       name, COMMAND_MS / 1000);
	if (status)
		return err_set(e, ERR_FAILED, "the command of secret '%s' failed (status %d)", name,
			       WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	return 0;
}

static int file_take(const char *name, const char *path, char *to, size_t size, size_t *ret,
		     struct err *e)
{
	char *text = NULL;
	size_t n = 0;
	int err = file_read_all(AT_FDCWD, path, size, &text, &n);

	if (err)
		return err_set(e, ERR_FAILED, "cannot read '%s' for secret '%s': %s", path, name,
			       strerror(-err));
	memcpy(to, text, n);
	explicit_bzero(text, n);
	free(text);
	*ret = n;
	return 0;
}

int secret_resolve(const json_t *secret, char **ret, struct err *e)
{
	const char *source = json_text(secret, "source"), *from = json_text(secret, "from");
	const char *name = json_text(secret, "name"), *value = json_text(secret, "value");
	char text[SECRET_VALUE_MAX + 2] = "";
	size_t n = 0;
	int r = 0;

	if (source && from && !strcmp(source, "file"))
		r = file_take(name, from, text, sizeof(text) - 1, &n, e);
	else if (source && from && !strcmp(source, "command"))
		r = command_run(name, from, text, sizeof(text) - 1, &n, e);
	else if (value && strlen(value) < sizeof(text))
		n = strlen(strcpy(text, value));
	else
		r = err_set(e, ERR_FAILED, "secret '%s' has no value", name);
	if (!r && n && text[n - 1] == '\n')
		n--;
	if (!r && n && text[n - 1] == '\r')
		n--;
	if (!r && secret_value_check(text, n, e) < 0)
		r = err_wrap(e, "secret '%s' cannot be used", name);
	if (!r)
		*ret = xstrndup(text, n);
	explicit_bzero(text, sizeof(text));
	return r;
}

/* ---- for a keeper ---- */

/* A secret by the name of a variable of the environment that is known to be one. */
static json_t *from_environment(const char *name)
{
	const char *value = getenv(name);
	json_t *s;

	if (!value || !*value || !known_secret(name))
		return NULL;
	s = secret_new(name, NULL);
	json_object_set_new(s, "source", json_string("env"));
	json_object_set_new(s, "value", json_string(value));
	return s;
}

static int line_print(const json_t *secret, struct err *e)
{
	char *value, *line = NULL;
	json_t *o;

	if (secret_resolve(secret, &value, e) < 0)
		return -1;
	o = json_pack("{s:O,s:O,s:O,s:O,s:O,s:s}", "name", json_object_get(secret, "name"), "env",
		      json_object_get(secret, "env"), "placeholder",
		      json_object_get(secret, "placeholder"), "hosts",
		      json_object_get(secret, "hosts"), "places", json_object_get(secret, "places"),
		      "value", value);
	/* One that is kept can change. */
	if (o && json_object_get(secret, "changed"))
		json_object_set(o, "changed", json_object_get(secret, "changed"));
	line = o ? json_dumps(o, JSON_COMPACT) : NULL;
	json_decref(o);
	explicit_bzero(value, strlen(value));
	free(value);
	if (!line || printf("%s\n", line) < 0)
		err_note(e, ERR_FAILED, "cannot print secret '%s'", json_text(secret, "name"));
	if (line)
		explicit_bzero(line, strlen(line));
	free(line);
	return line ? 0 : -1;
}

static int secret_print(const char *state, const char *name, bool environment, bool refresh,
			struct err *e)
{
	json_t *s = NULL;
	int r;

	if (secret_load(state, name, &s, e) < 0) {
		if (e->kind != ERR_NOT_FOUND)
			return -1;
		if (environment)
			s = from_environment(name);
		if (!s)
			return refresh ? 0 : -1;
	}
	r = line_print(s, e);
	json_decref(s);
	return r;
}

int secrets_print(char **names, bool environment, bool refresh)
{
	struct err e = { 0 };
	struct buf b = { 0 };
	char state[4096];

	prctl(PR_SET_DUMPABLE, 0);
	/* Memory that the keeper has made, not a terminal, a file or a pipe of anybody. */
	if (fcntl(STDOUT_FILENO, F_GET_SEALS) < 0) {
		fprintf(stderr, "vivd: --secrets is for keepers of cells\n");
		return 2;
	}
	if (path_state(state, sizeof(state), &e) == 0) {
		for (; *names; names++)
			if (secret_print(state, *names, environment, refresh, &e) < 0)
				break;
		if (!*names && fflush(stdout) == 0)
			return 0;
	}
	/* The last line says why. */
	err_json(&e, &b);
	printf("{\"error\":%s}\n", (char *)b.p);
	buf_free(&b);
	return fflush(stdout) == 0 ? err_exit(&e) : 1;
}
