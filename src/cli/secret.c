/* viv secret: values that cells can use and never see. A value is read from a terminal, from
 * standard input, from a variable, a file or a command: never from the command line, which other
 * users can read. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "cli/list.h"
#include "cli/vivd.h"

#define VALUE_MOST 8192

/* ---- the value ---- */

/* Up to the end or, of a terminal, of the line. */
static ssize_t value_read(int fd, char *to, size_t size, bool line)
{
	size_t n = 0;

	while (n < size) {
		ssize_t got = read(fd, to + n, line ? 1 : size - n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (!got || (line && to[n] == '\n'))
			break;
		n += (size_t)got;
	}
	return (ssize_t)n;
}

static int value_prompt(const char *name, char *to, size_t size, struct err *e)
{
	struct termios before, quiet;
	int fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	ssize_t n;

	if (fd < 0 || tcgetattr(fd, &before) < 0) {
		if (fd >= 0)
			close(fd);
		return err_set(e, ERR_FAILED, "there is no terminal to read a value from");
	}
	quiet = before;
	quiet.c_lflag &= ~(tcflag_t)ECHO;
	/* Before the prompt: what is typed when that is seen is neither shown nor lost. */
	tcsetattr(fd, TCSAFLUSH, &quiet);
	dprintf(fd, "Value of %s: ", name);
	n = value_read(fd, to, size, true);
	tcsetattr(fd, TCSAFLUSH, &before);
	dprintf(fd, "\n");
	close(fd);
	return (int)n;
}

static int value_take(const struct args *a, const char *name, struct buf *body, struct err *e)
{
	const char *env = arg_value(a, "from-env"), *file = arg_value(a, "from-file");
	const char *command = arg_value(a, "from-command");
	char text[VALUE_MOST + 1] = "", *path;
	ssize_t n;

	if (!!env + !!file + !!command > 1)
		return args_wrong(a, e,
				  "--from-env, --from-file and --from-command exclude each other");
	if (command) {
		json_member_text(body, "command", command);
		return 0;
	}
	if (file) {
		path = realpath(file, NULL);
		if (!path)
			return err_set(e, ERR_FAILED, "cannot read '%s': %s", file,
				       strerror(errno));
		json_member_text(body, "file", path);
		free(path);
		return 0;
	}
	if (env) {
		if (!getenv(env))
			return err_set(e, ERR_FAILED, "the variable %s is not set", env);
		json_member_text(body, "value", getenv(env));
		json_member_text(body, "value_from", env);
		return 0;
	}
	if (isatty(0))
		n = value_prompt(name, text, VALUE_MOST, e);
	else
		n = value_read(0, text, VALUE_MOST, false);
	if (n < 0)
		return e->kind ? -1
			       : err_set(e, ERR_FAILED, "cannot read the value: %s",
					 strerror(errno));
	while (n && (text[n - 1] == '\n' || text[n - 1] == '\r'))
		n--;
	text[n] = '\0';
	if (!n)
		return err_set(
			e, ERR_USAGE,
			"no value was given for secret '%s'" REMEDY
			"type it, send it to standard input, or use --from-env, --from-file or "
			"--from-command",
			name);
	if (strlen(text) != (size_t)n)
		return err_set(e, ERR_USAGE, "a secret's value is one line of printable ASCII");
	json_member_text(body, "value", text);
	explicit_bzero(text, sizeof(text));
	return 0;
}

/* ---- set ---- */

static void places_add(const struct args *a, struct buf *body)
{
	static const char *const named[] = { "header", "query", "basic" };
	static const char *const plain[] = { "bearer", "anywhere", "body" };
	struct buf list = { 0 };
	const char *v;

	buf_add_text(&list, "[");
	for (unsigned i = 0; i < ARRAY_LEN(named); i++)
		for (unsigned at = 0; (v = arg_next(a, named[i], &at));) {
			char text[512];

			/* Basic authorization of any user. */
			snprintf(text, sizeof(text), i == 2 && !strcmp(v, "*") ? "%s" : "%s %s",
				 named[i], v);
			json_member_text(&list, NULL, text);
		}
	for (unsigned i = 0; i < ARRAY_LEN(plain); i++)
		if (arg_is_on(a, plain[i]))
			json_member_text(&list, NULL, plain[i]);
	buf_add_text(&list, "]");
	if (list.len > 2)
		json_member_add(body, "places", (char *)list.p);
	buf_free(&list);
}

static void hosts_add(const struct args *a, struct buf *body)
{
	struct buf list = { 0 };
	const char *host;

	buf_add_text(&list, "[");
	for (unsigned at = 0; (host = arg_next(a, "host", &at));)
		json_member_text(&list, NULL, host);
	buf_add_text(&list, "]");
	if (list.len > 2)
		json_member_add(body, "hosts", (char *)list.p);
	buf_free(&list);
}

static void list_print(const struct json *s, const char *key, const char *between)
{
	const struct json *list = json_get(s, key, JSON_LIST);

	for (const struct json *v = list ? list->first : NULL; v; v = v->next) {
		text_print(stdout, v->text, 200);
		if (v->next)
			fputs(between, stdout);
	}
}

static int put(const struct args *a, const char *name, struct buf *body, struct err *e)
{
	struct json_doc d = { 0 };
	int r;

	buf_add(body, "}", 2);
	r = vivd_ask("PUT", vivd_path("/v1/secrets/", name, "").str, (char *)body->p, &d, e);
	explicit_bzero(body->p, body->len);
	if (!r && a->json) {
		json_line_print(d.root, false);
	} else if (!r) {
		printf("%s: ", name);
		list_print(d.root, "places", ", ");
		printf(" of ");
		list_print(d.root, "hosts", ", ");
		printf("; %s holds the placeholder\n", json_show(d.root, "env"));
	}
	json_free(&d);
	return r;
}

int secret_set_main(struct args *a, struct err *e)
{
	struct buf body = { 0 };
	int r;

	buf_add_text(&body, "{");
	r = value_take(a, a->words[0], &body, e);
	if (!r) {
		hosts_add(a, &body);
		places_add(a, &body);
		json_member_text(&body, "env", arg_value(a, "env"));
		json_member_text(&body, "prefix", arg_value(a, "prefix"));
		r = put(a, a->words[0], &body, e);
	}
	buf_free(&body);
	return r;
}

static int refresh(const struct args *a, const char *name, void *arg, struct err *e)
{
	struct json_doc d = { 0 };
	struct buf body = { 0 };
	const char *from, *value;
	int r = vivd_ask("GET", vivd_path("/v1/secrets/", name, "").str, NULL, &d, e);

	(void)arg;
	if (r < 0)
		return -1;
	buf_add_text(&body, "{");
	from = json_get_text(d.root, "from");
	if (from && !strcmp(json_show(d.root, "source"), "env")) {
		value = getenv(from);
		if (value) {
			json_member_text(&body, "value", value);
			json_member_text(&body, "value_from", from);
		} else {
			r = err_set(e, ERR_FAILED, "the variable %s is not set", from);
		}
	}
	if (!r)
		r = put(a, name, &body, e);
	buf_free(&body);
	json_free(&d);
	return r;
}

int secret_refresh_main(struct args *a, struct err *e)
{
	return words_each(a, refresh, NULL, e);
}

/* ---- the others ---- */

static void heading_print(void)
{
	printf("%-24s %-24s %-8s %s\n", "NAME", "VARIABLE", "SOURCE", "HOSTS");
}

static void row_print(const struct json *s)
{
	printf("%-24s %-24s %-8s ", json_show(s, "name"), json_show(s, "env"),
	       json_get(s, "error", JSON_OBJECT) ? "damaged" : json_show(s, "source"));
	list_print(s, "hosts", ", ");
	printf("\n");
}

static const char *secret_shown(const struct json *s)
{
	return json_show(s, "name");
}

int secret_ls_main(struct args *a, struct err *e)
{
	static const struct listing secrets = { .path = "/v1/secrets",
						.member = "secrets",
						.heading = heading_print,
						.row = row_print,
						.name = secret_shown };

	return list_show(a, &secrets, e);
}

int secret_show_main(struct args *a, struct err *e)
{
	static const char *const rows[] = { "name",   "env",  "placeholder",
					    "source", "from", "changed" };
	struct json_doc d = { 0 };
	int r = vivd_ask("GET", vivd_path("/v1/secrets/", a->words[0], "").str, NULL, &d, e);

	if (!r && a->json) {
		json_line_print(d.root, true);
	} else if (!r) {
		for (unsigned i = 0; i < ARRAY_LEN(rows); i++)
			if (*json_show(d.root, rows[i]))
				printf("%-12s %s\n", rows[i], json_show(d.root, rows[i]));
		printf("%-12s ", "hosts");
		list_print(d.root, "hosts", ", ");
		printf("\n%-12s ", "places");
		list_print(d.root, "places", ", ");
		printf("\n");
	}
	json_free(&d);
	return r;
}

static int secret_remove(const struct args *a, const char *name, void *arg, struct err *e)
{
	(void)arg;
	if (vivd_ask("DELETE", vivd_path("/v1/secrets/", name, "").str, NULL, NULL, e) < 0)
		return -1;
	printf(a->json ? "{\"name\":\"%s\"}\n" : "%s\n", name);
	return 0;
}

int secret_rm_main(struct args *a, struct err *e)
{
	return words_each(a, secret_remove, NULL, e);
}
