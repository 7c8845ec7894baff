/* viv tool: programs and MCP servers of the host that cells can call. */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/list.h"
#include "cli/vivd.h"
#include "spec/options.h"
#include "spec/values.h"

#define SCHEMA_MAX (256u << 10)

/* ---- add ---- */

/* The program as an absolute path, as a shell here would find it: tools run without PATH. */
static int program_find(const char *name, char path[PATH_MAX], struct err *e)
{
	const char *dirs = getenv("PATH");

	if (strchr(name, '/')) {
		if (realpath(name, path) && access(path, X_OK) == 0)
			return 0;
		return err_set(e, ERR_NOT_FOUND, "cannot run '%s': %s", name, strerror(errno));
	}
	for (const char *d = dirs ? dirs : "/usr/bin:/bin"; *d; d += strspn(d, ":")) {
		char at[PATH_MAX];
		size_t n = strcspn(d, ":");
		struct stat st;

		snprintf(at, sizeof(at), "%.*s/%s", (int)n, d, name);
		d += n;
		if (at[0] != '/' || access(at, X_OK) < 0 || stat(at, &st) < 0 ||
		    !S_ISREG(st.st_mode))
			continue;
		/* Not where a link leads: many programs look at the name that they have. */
		snprintf(path, PATH_MAX, "%s", at);
		return 0;
	}
	return err_set(e, ERR_NOT_FOUND, "there is no program '%s'" REMEDY "give its path", name);
}

/* One word of a line with quotes, as sh has them, without anything else of sh; at its end. */
static int word_take(const char **at, struct buf *ret, struct err *e)
{
	const char *s = *at;
	char quote = 0;

	for (; *s && (quote || !isspace((unsigned char)*s)); s++) {
		if (quote && *s == quote) {
			quote = 0;
		} else if (!quote && (*s == '\'' || *s == '"')) {
			quote = *s;
		} else {
			if (*s == '\\' && quote != '\'' && s[1])
				s++;
			buf_add(ret, s, 1);
		}
	}
	*at = s;
	buf_add_text(ret, "");
	return quote ? err_set(e, ERR_USAGE, "--from-mcp: a quote is not closed") : 0;
}

/* A list of words in JSON; the first is a program. */
static int words_add(struct buf *list, const char *word, struct err *e)
{
	char path[PATH_MAX];

	if (!list->len) {
		if (program_find(word, path, e) < 0)
			return -1;
		word = path;
	}
	buf_add_text(list, list->len ? "," : "[");
	json_text_add(list, word);
	return 0;
}

static int line_split(const char *line, struct buf *list, struct err *e)
{
	for (;;) {
		struct buf word = { 0 };
		int r;

		while (isspace((unsigned char)*line))
			line++;
		if (!*line)
			break;
		r = word_take(&line, &word, e);
		if (r == 0)
			r = words_add(list, (char *)word.p, e);
		buf_free(&word);
		if (r < 0)
			return -1;
	}
	return list->len ? 0 : err_set(e, ERR_USAGE, "--from-mcp: the command is empty");
}

static int schema_read(const char *path, struct buf *body, struct err *e)
{
	FILE *f = strcmp(path, "-") ? fopen(path, "re") : stdin;
	struct buf text = { 0 };
	struct json_doc d = { 0 };
	char chunk[4096];
	size_t n;
	int r = 0;

	if (!f)
		return err_set(e, ERR_NOT_FOUND, "cannot read the schema '%s': %s", path,
			       strerror(errno));
	while ((n = fread(chunk, 1, sizeof(chunk), f)) > 0 && text.len <= SCHEMA_MAX)
		buf_add(&text, chunk, n);
	if (f != stdin)
		fclose(f);
	buf_add_text(&text, "");
	if (text.len > SCHEMA_MAX)
		r = err_set(e, ERR_INVALID_FILE, "the schema '%s' is larger than %u bytes", path,
			    SCHEMA_MAX);
	else if (json_parse(&d, (char *)text.p, text.len, e) < 0) {
		e->kind = ERR_INVALID_FILE;
		r = err_wrap(e, "the schema '%s' is not JSON", path);
	} else
		json_member_add(body, "schema", (char *)text.p);
	json_free(&d);
	buf_free(&text);
	return r;
}

static int limits_add(const struct args *a, struct buf *body, struct err *e)
{
	const char *bytes = arg_value(a, "max-output");
	int64_t timeout = 0;
	uint64_t n;

	if (arg_time(a, "timeout", &timeout, e) < 0)
		return -1;
	if (timeout)
		json_member_number(body, "timeout", (uint64_t)(timeout + 999999999) / 1000000000u);
	if (bytes && !value_size(bytes, &n))
		return err_set(e, ERR_USAGE,
			       "--max-output '%s' is not a size" REMEDY
			       "write a number, with K, M or G behind it",
			       bytes);
	if (bytes)
		json_member_number(body, "max_output", n);
	return 0;
}

static int body_make(const struct args *a, struct buf *body, struct err *e)
{
	const char *program = arg_value(a, "command"), *mcp = arg_value(a, "from-mcp"),
		   *schema = arg_value(a, "schema");
	struct buf list = { 0 };
	int r;

	if (!program == !mcp)
		return args_wrong(a, e, "give one of --command and --from-mcp");
	if (mcp && (schema || a->n > 1))
		return args_wrong(a, e,
				  "an MCP server has schemas of its own, and its arguments "
				  "are part of --from-mcp");
	if (program && !schema)
		return args_wrong(a, e, "--command needs --schema");
	if (!tool_name_is_valid(a->words[0]))
		return err_set(e, ERR_USAGE,
			       "'%s' is not a name for a tool" REMEDY
			       "it has up to %d lower-case letters, digits, '-' and '_'",
			       a->words[0], TOOL_NAME_MAX);
	buf_add_text(body, "{");
	r = mcp ? line_split(mcp, &list, e) : words_add(&list, program, e);
	for (int i = 1; r == 0 && i < a->n; i++)
		r = words_add(&list, a->words[i], e);
	if (r == 0) {
		buf_add_text(&list, "]");
		json_member_add(body, mcp ? "mcp" : "command", (char *)list.p);
		json_member_text(body, "description", arg_value(a, "description"));
		r = limits_add(a, body, e);
	}
	if (r == 0 && schema)
		r = schema_read(schema, body, e);
	buf_free(&list);
	buf_add_text(body, "}");
	return r;
}

static void skipped_print(const struct json *tool)
{
	const struct json *list = json_get(tool, "skipped", JSON_LIST);

	for (const struct json *s = list ? list->first : NULL; s; s = s->next)
		warn("subcommand '%s' cannot be used: %s", json_show(s, "name"),
		     json_show(s, "reason"));
}

int tool_add_main(struct args *a, struct err *e)
{
	struct buf body = { 0 };
	struct json_doc d = { 0 };
	int r = body_make(a, &body, e);

	if (r == 0)
		r = vivd_ask("PUT", vivd_path("/v1/tools/", a->words[0], "").str, (char *)body.p,
			     &d, e);
	if (r == 0) {
		skipped_print(d.root);
		if (a->json)
			json_line_print(d.root, false);
		else
			printf("%s\n", a->words[0]);
	}
	json_free(&d);
	buf_free(&body);
	return r;
}

/* ---- the others ---- */

static void heading_print(void)
{
	printf("%-20s %-8s %-40s %s\n", "NAME", "KIND", "COMMAND", "DESCRIPTION");
}

static void row_print(const struct json *t)
{
	const struct json *words = json_get(t, "command", JSON_LIST),
			  *subs = json_get(t, "subcommands", JSON_LIST);
	unsigned n = 0;

	printf("%-20s %-8s ", json_show(t, "name"), json_show(t, "kind"));
	for (const struct json *w = words ? words->first : NULL; w && n < 40; w = w->next) {
		n += text_print(stdout, w->text, 40 - n);
		n += n < 40 ? (unsigned)printf(" ") : 0;
	}
	for (; n < 41; n++)
		printf(" ");
	text_print(stdout, json_show(t, "description"), 60);
	for (const struct json *s = subs ? subs->first : NULL; s; s = s->next)
		printf("%s%s", s == subs->first ? "" : ", ", json_show(s, "name"));
	printf("\n");
}

static const char *tool_shown(const struct json *t)
{
	return json_show(t, "name");
}

int tool_ls_main(struct args *a, struct err *e)
{
	static const struct listing tools = { .path = "/v1/tools",
					      .member = "tools",
					      .heading = heading_print,
					      .row = row_print,
					      .name = tool_shown };

	return list_show(a, &tools, e);
}

int tool_show_main(struct args *a, struct err *e)
{
	struct json_doc d = { 0 };
	int r = vivd_ask("GET", vivd_path("/v1/tools/", a->words[0], "").str, NULL, &d, e);

	if (r == 0)
		json_line_print(d.root, !a->json);
	json_free(&d);
	return r;
}

static int tool_remove(const struct args *a, const char *name, void *arg, struct err *e)
{
	(void)arg;
	if (vivd_ask("DELETE", vivd_path("/v1/tools/", name, "").str, NULL, NULL, e) < 0)
		return -1;
	printf(a->json ? "{\"name\":\"%s\"}\n" : "%s\n", name);
	return 0;
}

int tool_rm_main(struct args *a, struct err *e)
{
	return words_each(a, tool_remove, NULL, e);
}
