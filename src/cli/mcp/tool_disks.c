/* Tools for snapshots, forks and differences; see mcp.h. They need a cell with a name. */
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/jsontext.h"
#include "base/utf8.h"
#include "cli/mcp/mcp.h"
#include "cli/vivd.h"

#define CHANGES_MAX 1000
#define PATCH_DEFAULT 60000
#define PATCH_MAX 262144

#define CELL_ARG                                                            \
	{                                                                   \
		"cell", ARG_TEXT, true, 0, 256, .about = "name of the cell" \
	}

/* POSTs {"KEY":TEXT,...}, which is still open. */
static int object_post(const struct json *args, const char *tail, struct buf *b,
		       struct json_doc *ret, struct err *e)
{
	buf_add(b, "}", 2);
	return vivd_ask("POST", cell_path(arg_cell(args), tail).str, (char *)b->p, ret, e);
}

/* ---- snapshots ---- */

static const struct tool_arg snapshot_args[] = {
	CELL_ARG,
	{ "name", ARG_TEXT, false, 0, 64, .about = "name of the snapshot (default: a new one)" },
};

static int snapshot_run(struct task *t, const struct json *args, struct answer *a, struct err *e)
{
	struct json_doc d = { 0 };
	struct buf b = { 0 };

	(void)t;
	buf_add_text(&b, "{");
	json_member_text(&b, "name", json_get_text(args, "name"));
	if (object_post(args, "/snapshots", &b, &d, e) < 0)
		return -1;
	fprintf(a->text, "snapshot %s\n", json_show(d.root, "name"));
	fputs("{\"snapshot\":", a->data);
	json_quoted(a->data, json_show(d.root, "name"));
	fputc('}', a->data);
	return 0;
}

static const struct tool_arg cell_args[] = { CELL_ARG };

static int snapshots_run(struct task *t, const struct json *args, struct answer *a, struct err *e)
{
	struct json_doc d = { 0 };
	const struct json *list;

	(void)t;
	if (vivd_ask("GET", cell_path(arg_cell(args), "/snapshots").str, NULL, &d, e) < 0)
		return -1;
	list = json_get(d.root, "snapshots", JSON_LIST);
	for (const struct json *s = list ? list->first : NULL; s; s = s->next)
		fprintf(a->text, "%s  %s\n", json_show(s, "name"), json_show(s, "created"));
	if (!list || !list->first)
		fputs("[none]\n", a->text);
	json_value_print(a->data, d.root, false);
	return 0;
}

static const struct tool_arg rollback_args[] = {
	CELL_ARG,
	{ "snapshot", ARG_TEXT, true, 0, 64, .about = "name of the snapshot" },
};

static int rollback_run(struct task *t, const struct json *args, struct answer *a, struct err *e)
{
	struct json_doc d = { 0 };
	struct buf b = { 0 };

	task_tell(t, "restoring the files", 19, true);
	buf_add_text(&b, "{");
	json_member_text(&b, "snapshot", json_get_text(args, "snapshot"));
	if (object_post(args, "/rollback", &b, &d, e) < 0)
		return -1;
	fprintf(a->text, "restored; the cell is %s\n", json_show(d.root, "state"));
	fputs("{\"state\":", a->data);
	json_quoted(a->data, json_show(d.root, "state"));
	fputc('}', a->data);
	return 0;
}

/* ---- fork ---- */

static const struct tool_arg fork_args[] = {
	CELL_ARG,
	{ "name", ARG_TEXT, true, 0, 64, .about = "name of the new cell" },
	{ "snapshot", ARG_TEXT, false, 0, 64,
	  .about = "with the files of this snapshot (default: of now)" },
	{ "start", ARG_BOOL, false, 0, 0, .about = "also start the new cell" },
};

static int fork_run(struct task *t, const struct json *args, struct answer *a, struct err *e)
{
	const char *name = json_get_text(args, "name");
	bool start = arg_flag(args, "start");
	struct buf b = { 0 };

	(void)t;
	buf_add_text(&b, "{");
	json_member_text(&b, "name", name);
	json_member_text(&b, "snapshot", json_get_text(args, "snapshot"));
	if (object_post(args, "/fork", &b, NULL, e) < 0)
		return -1;
	if (start && vivd_ask("POST", cell_path(name, "/start").str, NULL, NULL, e) < 0)
		return err_wrap(e, "the cell '%s' was created and cannot be started", name);
	fprintf(a->text, "cell %s was created%s\n", name, start ? " and started" : "");
	fputs("{\"name\":", a->data);
	json_quoted(a->data, name);
	fprintf(a->data, ",\"started\":%s}", start ? "true" : "false");
	return 0;
}

/* ---- differences ---- */

static const struct tool_arg diff_args[] = {
	CELL_ARG,
	{ "snapshot", ARG_TEXT, false, 0, 64,
	  .about = "what changed since this snapshot (default: since its image)" },
	{ "format", ARG_CHOICE, false, 0, 0,
	  .about = "list: which files (the default); patch: also how, for text files",
	  .choices = { "list", "patch" } },
	{ "max_output", ARG_COUNT, false, 100, PATCH_MAX,
	  .about = "bytes of a patch to return (default 60000)" },
};

struct changes_state {
	struct answer *a;
	unsigned n, left_out;
};

static void change_write(struct changes_state *s, const struct json *change)
{
	const char *path = json_show(change, "path"), *coded = json_show(change, "path_base64");
	char shown[2048], *bytes;
	ssize_t len;

	if (s->n++ >= CHANGES_MAX) {
		s->left_out++;
		return;
	}
	bytes = xalloc(strlen(coded) + 1);
	len = *path ? 0 : base64_decode(bytes, coded, strlen(coded));
	text_clean(*path ? path : bytes, *path ? strlen(path) : (size_t)MAX(len, 0), shown,
		   sizeof(shown));
	free(bytes);
	fprintf(s->a->text, "%s %s\n", json_show(change, "kind"), shown);
	fputs(s->n > 1 ? "," : "", s->a->data);
	json_value_print(s->a->data, change, false);
}

static int change_line(void *arg, const char *text, size_t size)
{
	struct changes_state *s = arg;
	struct json_doc d;
	struct err bad;

	if (json_parse(&d, text, size, &bad) < 0)
		return 0;
	change_write(s, d.root);
	json_free(&d);
	return 0;
}

static int changes_list(const char *path, struct answer *a, struct err *e)
{
	struct changes_state s = { .a = a };

	fputs("{\"changes\":[", a->data);
	if (vivd_stream("GET", path, NULL, change_line, &s, e) < 0)
		return -1;
	fprintf(a->data, "],\"left_out\":%u}", s.left_out);
	if (!s.n)
		fputs("[no differences]\n", a->text);
	if (s.left_out)
		fprintf(a->text, "[%u more are left out]\n", s.left_out);
	return 0;
}

static int patch_read(const char *path, size_t max, struct answer *a, struct err *e)
{
	struct buf b = { 0 };
	bool more;

	if (bytes_get(path, 0, max, &b, &more, e) < 0)
		return -1;
	fwrite(b.p, 1, b.len, a->text);
	if (!b.len)
		fputs("[no differences]\n", a->text);
	if (more)
		fputs("\n[the rest is left out]\n", a->text);
	fputs("{\"patch\":", a->data);
	json_bytes(a->data, (char *)b.p, b.len);
	fprintf(a->data, ",\"truncated\":%s}", more ? "true" : "false");
	return 0;
}

static int diff_run(struct task *t, const struct json *args, struct answer *a, struct err *e)
{
	const char *format = json_get_text(args, "format");
	struct buf path = { 0 };

	task_tell(t, "comparing", 9, true);
	buf_add_text(&path, cell_path(arg_cell(args), "/diff").str);
	query_add(&path, "format", format ? format : "list");
	query_add(&path, "snapshot", json_get_text(args, "snapshot"));
	if (format && !strcmp(format, "patch"))
		return patch_read((char *)path.p, arg_count(args, "max_output", PATCH_DEFAULT), a,
				  e);
	return changes_list((char *)path.p, a, e);
}

#define ARGS(list) .args = list, .nargs = ARRAY_LEN(list)

const struct tool disk_tools[] = {
	{ "snapshot", "Take a snapshot",
	  "Keeps the files of a cell as they are now, whether it runs or not. Nothing is copied.",
	  snapshot_run, ARGS(snapshot_args), TOOL_WRITES },
	{ "snapshot_list", "List snapshots", "Lists the snapshots of a cell.", snapshots_run,
	  ARGS(cell_args), TOOL_REPEATABLE },
	{ "rollback", "Restore a snapshot",
	  "Restores the files of a cell from a snapshot; later changes are lost. The processes of "
	  "a "
	  "running cell are ended, and the cell is started again.",
	  rollback_run, ARGS(rollback_args), TOOL_WRITES | TOOL_DESTROYS },
	{ "fork", "Fork a cell",
	  "Creates another cell with the files of this one; nothing is copied.", fork_run,
	  ARGS(fork_args), TOOL_WRITES | TOOL_CELLS },
	{ "diff", "Show changes",
	  "Shows what was added (A), changed (C) and deleted (D) in a cell since its image or a "
	  "snapshot.",
	  diff_run, ARGS(diff_args), TOOL_REPEATABLE },
};
const unsigned ndisk_tools = ARRAY_LEN(disk_tools);
