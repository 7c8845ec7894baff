/* viv-tools: a tool of the host as a command in a cell. The cell's kernel shows this program as
 * /run/viv/bin/viv-tools, and a link to it under the name of each tool. It asks vivd at the cell's
 * own socket for the tool's schema, makes arguments of its words, and has vivd call the tool
 * (wire/tools.h). It is hostile code like everything else in a cell: what it checks is checked
 * again outside.
 *
 *   NAME [SUBCOMMAND] --FLAG VALUE ...     calls the tool
 *   NAME --help, NAME SUBCOMMAND --help
 *   viv-tools                              lists the tools
 *   viv-tools NAME ...                     the same as NAME ... */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/jsontext.h"
#include "base/utf8.h"
#include "tools/door.h"
#include "tools/flags.h"
#include "wire/tools.h"

static void shown(const char *text, struct buf *to)
{
	buf_add_text(to, text ? text : "");
	text_hide_controls((char *)to->p);
}

/* ---- lists ---- */

static void entry_print(const struct json *entry, const char *prefix)
{
	const char *name = json_get_text(entry, "name");
	struct buf text = { 0 };
	char left[128];

	shown(json_get_text(entry, "description"), &text);
	snprintf(left, sizeof(left), "%s%s%s", prefix, *prefix ? " " : "", name ? name : "?");
	text_hide_controls(left);
	printf("%-28s %s\n", left, (char *)text.p);
	buf_free(&text);
}

static int list_line(void *arg, const struct json *line)
{
	const struct json *tools = json_get(line, "tools", JSON_LIST);

	(void)arg;
	if (!tools)
		return door_error(line);
	for (const struct json *t = tools->first; t; t = t->next) {
		const struct json *subs = json_get(t, "subcommands", JSON_LIST);
		const char *name = json_get_text(t, "name");

		if (!subs)
			entry_print(t, "");
		for (const struct json *s = subs ? subs->first : NULL; s; s = s->next)
			entry_print(s, name ? name : "?");
	}
	return 0;
}

static int tools_list(void)
{
	struct buf b = { 0 };
	int r;

	buf_add_text(&b, "{\"op\":\"list\"}\n");
	r = door_ask(&b, list_line, NULL);
	buf_free(&b);
	return r;
}

/* ---- calls ---- */

static bool piece_write(const struct json *line, const char *name, FILE *to)
{
	const char *text = json_get_text(line, name);
	size_t n = text ? strlen(text) : 0;
	char *bytes;
	ssize_t got;

	if (!text)
		return false;
	bytes = xalloc(n + 1);
	got = base64_decode(bytes, text, n);
	if (got > 0) {
		fwrite(bytes, 1, (size_t)got, to);
		fflush(to);
	}
	free(bytes);
	return true;
}

static int call_line(void *arg, const struct json *line)
{
	uint64_t n;

	(void)arg;
	if (json_get(line, "error", JSON_OBJECT))
		return door_error(line);
	if (json_get_u64(line, "waiting", &n)) {
		complain("waiting for approval %llu", (unsigned long long)n);
		return -1;
	}
	if (piece_write(line, "stdout", stdout) || piece_write(line, "stderr", stderr))
		return -1;
	return json_get_u64(line, "exit", &n) ? (int)(n & 255) : -1;
}

static int call(const char *tool, const char *sub, const struct buf *arguments)
{
	struct buf b = { 0 };
	int r;

	buf_add_text(&b, "{");
	json_member_text(&b, "op", "call");
	json_member_text(&b, "tool", tool);
	json_member_text(&b, "subcommand", sub);
	json_member_add(&b, "arguments", (const char *)arguments->p);
	buf_add_text(&b, "}\n");
	if (b.len > DOOR_REQUEST_MAX) {
		complain("the arguments are longer than %u bytes", DOOR_REQUEST_MAX);
		r = TOOL_EXIT_USAGE;
	} else {
		r = door_ask(&b, call_line, NULL);
	}
	buf_free(&b);
	return r;
}

/* ---- one tool ---- */

struct use {
	const char *tool;
	char **words;
	struct buf arguments; /* when it is to be called */
	const char *sub; /* one of words */
};

static bool wants_help(char **words)
{
	return words[0] && (!strcmp(words[0], "--help") || !strcmp(words[0], "-h"));
}

static void help_print(const struct use *u, const struct json *what, const char *sub)
{
	const struct json *subs = json_get(what, "subcommands", JSON_LIST);
	struct buf text = { 0 };

	shown(json_get_text(what, "description"), &text);
	printf("usage: %s%s%s %s\n", u->tool, sub ? " " : "", sub ? sub : "",
	       subs ? "SUBCOMMAND [--OPTION VALUE]..." : "[--OPTION VALUE]...");
	if (*(char *)text.p)
		printf("\n%s\n", (char *)text.p);
	printf("\n");
	buf_free(&text);
	for (const struct json *s = subs ? subs->first : NULL; s; s = s->next) {
		printf("  ");
		entry_print(s, "");
	}
	if (subs)
		printf("\n'%s SUBCOMMAND --help' shows its options.\n", u->tool);
	else
		flags_help(json_get(what, "schema", JSON_OBJECT));
}

/* The description of the tool: 0: it was enough; -2: call it now. Else an exit status. */
static int tool_line(void *arg, const struct json *line)
{
	const struct json *tool = json_get(line, "tool", JSON_OBJECT), *subs, *what = tool;
	struct use *u = arg;

	if (!tool)
		return door_error(line);
	subs = json_get(tool, "subcommands", JSON_LIST);
	if (subs && (!u->words[0] || wants_help(u->words))) {
		help_print(u, tool, NULL);
		return u->words[0] ? 0 : TOOL_EXIT_USAGE;
	}
	if (subs) {
		for (what = subs->first; what; what = what->next)
			if (json_get_text(what, "name") &&
			    !strcmp(json_get_text(what, "name"), u->words[0]))
				break;
		if (!what) {
			complain("there is no subcommand '%.100s'; '--help' lists them",
				 u->words[0]);
			return TOOL_EXIT_USAGE;
		}
		u->sub = *u->words++;
	}
	if (wants_help(u->words)) {
		help_print(u, what, u->sub);
		return 0;
	}
	return flags_read(json_get(what, "schema", JSON_OBJECT), u->words, &u->arguments) < 0
		       ? TOOL_EXIT_USAGE
		       : 0;
}

static int tool_use(const char *name, char **words)
{
	struct use u = { .tool = name, .words = words };
	struct buf b = { 0 };
	int r;

	command_name = name;
	buf_add_text(&b, "{");
	json_member_text(&b, "op", "show");
	json_member_text(&b, "tool", name);
	buf_add_text(&b, "}\n");
	r = door_ask(&b, tool_line, &u);
	buf_free(&b);
	if (r == 0 && u.arguments.len) {
		buf_add_text(&u.arguments, "");
		r = call(name, u.sub, &u.arguments);
	}
	buf_free(&u.arguments);
	return r;
}

int main(int argc, char **argv)
{
	const char *name = argc && strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1
			   : argc			 ? argv[0]
							 : "viv-tools";

	signal(SIGPIPE, SIG_DFL);
	if (strcmp(name, "viv-tools") != 0)
		return tool_use(name, argv + 1);
	if (argc < 2)
		return tools_list();
	if (wants_help(argv + 1)) {
		printf("usage: viv-tools                lists the tools of this cell\n"
		       "       viv-tools TOOL --help    explains one\n"
		       "       viv-tools TOOL ...       calls it, as the command TOOL does\n");
		return 0;
	}
	return tool_use(argv[1], argv + 2);
}
