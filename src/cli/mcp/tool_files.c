/* Tools for the files of a cell, whether it runs or not; see mcp.h. */
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/jsontext.h"
#include "base/utf8.h"
#include "cli/mcp/mcp.h"
#include "cli/vivd.h"

#define READ_DEFAULT 65536
#define READ_MAX 262144
#define LIST_MAX 1000

#define CELL_ARG                                                                  \
	{                                                                         \
		"cell", ARG_TEXT, true, 0, 256, .about = "name or id of the cell" \
	}
#define PATH_ARG(what)                                         \
	{                                                      \
		"path", ARG_TEXT, true, 0, 4096, .about = what \
	}

static char *request(const struct json *args, const char *what, const char *path)
{
	struct buf b = { 0 };

	buf_add_text(&b, cell_path(arg_cell(args), what).str);
	query_add(&b, "path", path);
	return (char *)b.p; /* buf_add_text ends it */
}

static int path_check(const char *path, struct err *e)
{
	return path[0] == '/'
		       ? 0
		       : err_set(e, ERR_INVALID, "'path' must be absolute, such as /root/%s", path);
}

/* ---- read ---- */

static const struct tool_arg read_args[] = {
	CELL_ARG,
	PATH_ARG("the file, an absolute path in the cell"),
	{ "offset", ARG_COUNT, false, 0, 1e15, .about = "byte to begin with (default 0)" },
	{ "limit", ARG_COUNT, false, 1, READ_MAX, .about = "bytes to return (default 65536)" },
};

static void content_write(struct answer *a, const struct buf *b)
{
	bool text = text_is_utf8((char *)b->p, b->len) && !memchr(b->p, 0, b->len);
	char *coded;

	if (text) {
		fwrite(b->p, 1, b->len, a->text);
		fputs(",\"text\":", a->data);
		json_bytes(a->data, (char *)b->p, b->len);
		return;
	}
	coded = xalloc(BASE64_SIZE(b->len) + 1);
	base64_encode(coded, b->p, b->len);
	fprintf(a->text, "[%zu bytes that are not text, as base64]\n%s", b->len, coded);
	fprintf(a->data, ",\"base64\":\"%s\"", coded);
	free(coded);
}

static int read_run(struct task *t, const struct json *args, struct answer *a, struct err *e)
{
	uint64_t offset = arg_count(args, "offset", 0);
	size_t limit = arg_count(args, "limit", READ_DEFAULT);
	const char *path = json_get_text(args, "path");
	struct buf b = { 0 };
	bool more;
	char *ask;

	(void)t;
	if (path_check(path, e) < 0)
		return -1;
	ask = request(args, "/files", path);
	if (bytes_get(ask, offset, limit, &b, &more, e) < 0) {
		if (e->kind == ERR_IS_DIRECTORY)
			snprintf(e->remedy, sizeof(e->remedy), "file_list lists it");
		return -1;
	}
	/* A character that is cut off comes with the next piece. */
	if (more && b.len > 4 &&
	    text_is_utf8((char *)b.p, b.len - text_utf8_tail((char *)b.p, b.len)))
		b.len -= text_utf8_tail((char *)b.p, b.len);
	fprintf(a->data, "{\"bytes\":%zu", b.len);
	content_write(a, &b);
	if (more)
		fprintf(a->text, "\n[more follows at offset %llu]\n",
			(unsigned long long)(offset + b.len));
	if (more)
		fprintf(a->data, ",\"next_offset\":%llu", (unsigned long long)(offset + b.len));
	fputc('}', a->data);
	free(ask);
	buf_free(&b);
	return 0;
}

/* ---- write ---- */

static const struct tool_arg write_args[] = {
	CELL_ARG,
	PATH_ARG("the file, an absolute path in the cell; missing directories are created"),
	{ "text", ARG_TEXT, false, 0, 0, .about = "its new content" },
	{ "base64", ARG_TEXT, false, 0, 0, .about = "instead of 'text': content that is not text" },
	{ "executable", ARG_BOOL, false, 0, 0, .about = "give it the mode 0755" },
};

static int content_take(const struct json *args, struct buf *b, struct err *e)
{
	const char *text = json_get_text(args, "text"), *coded = json_get_text(args, "base64");
	size_t n = coded ? strlen(coded) : 0;
	ssize_t len;

	if (!text == !coded)
		return err_set(e, ERR_INVALID, "give either 'text' or 'base64'");
	if (text) {
		buf_add(b, text, strlen(text));
		return 0;
	}
	len = base64_decode(buf_more(b, n / 4 * 3 + 3), coded, n);
	if (len < 0)
		return err_set(e, ERR_INVALID, "'base64' is not base64");
	b->len = (size_t)len;
	return 0;
}

static int content_put(const char *path, const struct buf *b, struct err *e)
{
	struct viv_error error;
	struct viv_client *c;
	struct viv_reply reply;
	int r;

	if (vivd_connect(&c, e) < 0)
		return -1;
	if (viv_put_begin(c, path, &error) < 0)
		return viv_error_get(&error, e);
	/* Why it fails is in the answer. */
	(void)!viv_put_data(c, b->p, b->len, &error);
	if (viv_put_end(c, &reply, &error) < 0)
		return viv_error_get(&error, e);
	r = reply.status >= 300 ? vivd_refusal(&reply, e) : 0;
	viv_reply_free(&reply);
	return r;
}

static int write_run(struct task *t, const struct json *args, struct answer *a, struct err *e)
{
	const char *path = json_get_text(args, "path");
	struct buf b = { 0 }, ask = { 0 };

	(void)t;
	if (path_check(path, e) < 0 || content_take(args, &b, e) < 0)
		return -1;
	buf_add_text(&ask, cell_path(arg_cell(args), "/files").str);
	query_add(&ask, "path", path);
	query_add(&ask, "parents", "1");
	query_add(&ask, "mode", arg_flag(args, "executable") ? "0755" : NULL);
	if (content_put((char *)ask.p, &b, e) < 0)
		return -1;
	fprintf(a->text, "wrote %zu bytes to %s\n", b.len, path);
	fprintf(a->data, "{\"bytes\":%zu}", b.len);
	return 0;
}

/* ---- list ---- */

static const struct tool_arg list_args[] = {
	CELL_ARG,
	PATH_ARG("the directory, an absolute path in the cell"),
};

struct listing_state {
	struct answer *a;
	unsigned n, left_out;
};

/* A name is the guest's: in the text it is one line. */
static void entry_line(FILE *to, const struct json *entry, const char *path)
{
	char shown[1024];

	text_clean(path, strlen(path), shown, sizeof(shown));
	fprintf(to, "%-10s %10s  %s", json_show(entry, "type"), json_show(entry, "size"), shown);
	if (*json_show(entry, "target")) {
		text_clean(json_show(entry, "target"), strlen(json_show(entry, "target")), shown,
			   sizeof(shown));
		fprintf(to, " -> %s", shown);
	}
	fputc('\n', to);
}

static void entry_write(struct listing_state *l, const struct json *entry)
{
	const char *path = json_show(entry, "path"), *slash = strrchr(path, '/');

	if (l->n++ >= LIST_MAX) {
		l->left_out++;
		return;
	}
	if (*path)
		entry_line(l->a->text, entry, slash && slash[1] ? slash + 1 : path);
	else
		fputs("[a name that is not UTF-8]\n", l->a->text);
	fputs(l->n > 1 ? "," : "", l->a->data);
	json_value_print(l->a->data, entry, false);
}

static int list_line(void *arg, const char *text, size_t size)
{
	struct listing_state *l = arg;
	struct json_doc d;
	struct err bad;

	if (json_parse(&d, text, size, &bad) < 0)
		return 0;
	entry_write(l, d.root);
	json_free(&d);
	return 0;
}

static int list_run(struct task *t, const struct json *args, struct answer *a, struct err *e)
{
	struct listing_state l = { .a = a };
	const char *path = json_get_text(args, "path");

	(void)t;
	if (path_check(path, e) < 0)
		return -1;
	fputs("{\"entries\":[", a->data);
	if (vivd_stream("GET", request(args, "/files/list", path), NULL, list_line, &l, e) < 0)
		return -1;
	fprintf(a->data, "],\"left_out\":%u}", l.left_out);
	if (!l.n)
		fputs("[empty]\n", a->text);
	if (l.left_out)
		fprintf(a->text, "[%u more are left out]\n", l.left_out);
	return 0;
}

#define ARGS(list) .args = list, .nargs = ARRAY_LEN(list)

const struct tool file_tools[] = {
	{ "file_read", "Read a file",
	  "Returns the content of a file of a cell, which need not run: text, or base64.", read_run,
	  ARGS(read_args), TOOL_REPEATABLE },
	{ "file_write", "Write a file", "Creates or replaces a file of a cell, as a whole.",
	  write_run, ARGS(write_args), TOOL_WRITES | TOOL_DESTROYS | TOOL_REPEATABLE },
	{ "file_list", "List a directory", "Lists a directory of a cell with types and sizes.",
	  list_run, ARGS(list_args), TOOL_REPEATABLE },
};
const unsigned nfile_tools = ARRAY_LEN(file_tools);
