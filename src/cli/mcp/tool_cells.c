/* Tools about cells: create, list, look at, start, stop and remove them; see mcp.h. What a new cell
 * may reach of the host or the network is the operator's to say (the options after "--" of viv
 * mcp): a client chooses names, images and, within the operator's, limits. */
#include <stdlib.h>
#include <string.h>

#include "base/jsontext.h"
#include "cli/list.h"
#include "cli/mcp/mcp.h"
#include "cli/vivd.h"

#define LIST_MAX 500 /* cells */
#define SHOWN_MAX 100000 /* bytes of one that are shown */

#define CELL_ARG                                                                  \
	{                                                                         \
		"cell", ARG_TEXT, true, 0, 256, .about = "name or id of the cell" \
	}

/* ---- what is shown ---- */

/* The members that matter, as an object. */
static void cell_write(FILE *to, const struct json *cell)
{
	static const char *const members[] = { "id",	    "name",    "state",	 "image",
					       "created",   "started", "ended",	 "reason",
					       "exit_code", "detail",  "command" };
	const char *comma = "";

	fputc('{', to);
	for (unsigned i = 0; i < ARRAY_LEN(members); i++)
		for (const struct json *m = cell->first; m; m = m->next) {
			if (strcmp(m->key, members[i]) || m->type == JSON_NULL)
				continue;
			fprintf(to, "%s\"%s\":", comma, m->key);
			json_value_print(to, m, false);
			comma = ",";
		}
	fputc('}', to);
}

static void cell_line(FILE *to, const struct json *cell)
{
	fprintf(to, "%s  %s", cell_shown(cell), json_show(cell, "state"));
	if (*json_show(cell, "image"))
		fprintf(to, "  image %s", json_show(cell, "image"));
	if (*json_show(cell, "detail"))
		fprintf(to, "  (%s)", json_show(cell, "detail"));
	fputc('\n', to);
}

static void cell_tell(struct answer *a, const struct json *cell)
{
	cell_line(a->text, cell);
	cell_write(a->data, cell);
}

/* ---- create ---- */

static const struct tool_arg create_args[] = {
	{ "name", ARG_TEXT, false, 0, 64,
	  .about = "name of the cell, which keeps its files until it is removed; without one they "
		   "are gone "
		   "when it stops" },
	{ "image", ARG_TEXT, false, 0, 512, .about = "image of its root file system" },
	{ "memory", ARG_TEXT, false, 0, 32, .about = "memory limit, such as 512M or 2G" },
	{ "cpus", ARG_NUMBER, false, 0.01, 4096, .about = "processors, such as 2 or 0.5" },
	{ "disk", ARG_TEXT, false, 0, 32, .about = "limit of its files, such as 100M or 10G" },
	{ "idle_timeout", ARG_NUMBER, false, 1, 31536000,
	  .about = "stop the cell when no process has run in it for so many seconds" },
	{ "env", ARG_MAP, false, 0, 0, .about = "environment variables of its processes" },
};

static int size_limit(struct buf *b, const struct json *args, const char *name, uint64_t most,
		      struct err *e)
{
	const char *text = json_get_text(args, name);
	uint64_t n;

	if (!text)
		return 0;
	if (!value_size(text, &n) || !n)
		return err_set(e, ERR_INVALID, "'%s' must be a size such as 512M or 2G", name);
	if (most && n > most)
		return err_set(e, ERR_DENIED, "'%s' is more than the operator allows", name);
	json_member_number(b, name, n);
	return 0;
}

static int limits_add(struct buf *b, const struct json *args, struct err *e)
{
	const struct run_options *o = mcp.create;
	const struct json *cpus = json_get(args, "cpus", JSON_NUMBER);

	json_member_add(b, "limits", "{");
	if (size_limit(b, args, "memory", o->given[SET_MEMORY] ? o->memory : 0, e) < 0 ||
	    size_limit(b, args, "disk", o->given[SET_DISK] ? o->disk_bytes : 0, e) < 0)
		return -1;
	if (cpus && o->given[SET_CPUS] && o->cpu_milli &&
	    strtod(cpus->text, NULL) * 1000 > o->cpu_milli)
		return err_set(e, ERR_DENIED, "'cpus' is more than the operator allows");
	if (cpus)
		json_member_add(b, "cpus", cpus->text);
	buf_add_text(b, "}");
	return 0;
}

/* What the client said, as the API has it. */
static int wishes_write(struct buf *b, const struct json *args, struct err *e)
{
	const struct json *env = json_get(args, "env", JSON_OBJECT),
			  *idle = json_get(args, "idle_timeout", JSON_NUMBER);

	buf_add_text(b, "{");
	json_member_text(b, "name", json_get_text(args, "name"));
	json_member_text(b, "image", json_get_text(args, "image"));
	if (idle)
		json_member_add(b, "idle_timeout", idle->text);
	if (limits_add(b, args, e) < 0)
		return -1;
	if (env) {
		json_member_add(b, "env", "{");
		for (const struct json *m = env->first; m; m = m->next)
			json_member_text(b, m->key, m->text);
		buf_add_text(b, "}");
	}
	buf_add(b, "}", 2);
	return 0;
}

static int create_run(struct task *t, const struct json *args, struct answer *a, struct err *e)
{
	struct buf wishes = { 0 }, body = { 0 };
	struct json_doc d = { 0 };

	task_tell(t, "creating the cell", 17, true);
	if (wishes_write(&wishes, args, e) < 0 ||
	    run_options_read(mcp.create, (char *)wishes.p, wishes.len - 1, e) < 0)
		return -1;
	buf_add_text(&body, "{");
	run_options_write(mcp.create, 0, &body);
	json_member_add(&body, "start", "true");
	buf_add(&body, "}", 2);
	if (vivd_ask("POST", "/v1/cells", (char *)body.p, &d, e) < 0)
		return -1;
	cell_tell(a, d.root);
	json_free(&d);
	return 0;
}

/* ---- list and inspect ---- */

static int list_run(struct task *t, const struct json *args, struct answer *a, struct err *e)
{
	struct json_doc d = { 0 };
	const struct json *list;
	char path[64];

	(void)t;
	(void)args;
	snprintf(path, sizeof(path), "/v1/cells?limit=%d", LIST_MAX);
	if (vivd_ask("GET", path, NULL, &d, e) < 0)
		return -1;
	list = json_get(d.root, "cells", JSON_LIST);
	fputs("{\"cells\":[", a->data);
	for (const struct json *c = list ? list->first : NULL; c; c = c->next) {
		cell_line(a->text, c);
		cell_write(a->data, c);
		fputs(c->next ? "," : "", a->data);
	}
	fprintf(a->data, "],\"more\":%s}", *json_show(d.root, "next") ? "true" : "false");
	if (!list || !list->first)
		fputs("there are no cells; cell_create makes one\n", a->text);
	if (*json_show(d.root, "next"))
		fprintf(a->text, "[only the first %d are listed]\n", LIST_MAX);
	json_free(&d);
	return 0;
}

static const struct tool_arg cell_args[] = { CELL_ARG };

static int inspect_run(struct task *t, const struct json *args, struct answer *a, struct err *e)
{
	struct json_doc d = { 0 };
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	(void)t;
	if (!f || vivd_ask("GET", cell_path(arg_cell(args), "").str, NULL, &d, e) < 0)
		return -1;
	json_value_print(f, d.root, true);
	fclose(f);
	fwrite(text, 1, MIN(size, (size_t)SHOWN_MAX), a->text);
	if (size > SHOWN_MAX)
		fputs("\n[the rest is left out]", a->text);
	else
		json_value_print(a->data, d.root, false);
	free(text);
	json_free(&d);
	return 0;
}

/* ---- start, stop, remove ---- */

static int post(const struct json *args, const char *tail, const char *body, struct answer *a,
		struct err *e)
{
	struct json_doc d = { 0 };

	if (vivd_ask("POST", cell_path(arg_cell(args), tail).str, body, &d, e) < 0)
		return -1;
	cell_tell(a, d.root);
	json_free(&d);
	return 0;
}

static int start_run(struct task *t, const struct json *args, struct answer *a, struct err *e)
{
	(void)t;
	return post(args, "/start", NULL, a, e);
}

static int stop_run(struct task *t, const struct json *args, struct answer *a, struct err *e)
{
	task_tell(t, "stopping the cell", 17, true);
	return post(args, "/stop", NULL, a, e);
}

static const struct tool_arg remove_args[] = {
	CELL_ARG,
	{ "force", ARG_BOOL, false, 0, 0,
	  .about = "also when it runs: its processes are killed first" },
};

static int remove_run(struct task *t, const struct json *args, struct answer *a, struct err *e)
{
	const char *tail = arg_flag(args, "force") ? "?force=1" : "";

	(void)t;
	if (vivd_ask("DELETE", cell_path(arg_cell(args), tail).str, NULL, NULL, e) < 0)
		return -1;
	fprintf(a->text, "removed %s\n", arg_cell(args));
	fputs("{\"removed\":", a->data);
	json_quoted(a->data, arg_cell(args));
	fputc('}', a->data);
	return 0;
}

#define ARGS(list) .args = list, .nargs = ARRAY_LEN(list)

const struct tool cell_tools[] = {
	{ "cell_create", "Create a cell",
	  "Creates a cell and starts it. It runs no command of its own: exec runs commands in it.",
	  create_run, ARGS(create_args), TOOL_WRITES | TOOL_CELLS },
	{ "cell_list", "List cells", "Lists the cells of this machine with their states.", list_run,
	  .flags = TOOL_CELLS | TOOL_REPEATABLE },
	{ "cell_inspect", "Inspect a cell",
	  "Shows state, settings, limits, mounts, ports and usage of a cell as JSON.", inspect_run,
	  ARGS(cell_args), TOOL_REPEATABLE },
	{ "cell_start", "Start a cell", "Starts a cell that is stopped.", start_run,
	  ARGS(cell_args), TOOL_WRITES },
	{ "cell_stop", "Stop a cell",
	  "Ends all processes of a cell. The files of a cell with a name stay.", stop_run,
	  ARGS(cell_args), TOOL_WRITES | TOOL_DESTROYS },
	{ "cell_remove", "Remove a cell", "Removes a cell with its files and snapshots.",
	  remove_run, ARGS(remove_args), TOOL_WRITES | TOOL_CELLS | TOOL_DESTROYS },
};
const unsigned ncell_tools = ARRAY_LEN(cell_tools);
