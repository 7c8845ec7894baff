/* viv diff, verify and commit: vivd has the work done, whether the cell runs or not
 * (api/disks.c). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/jsontext.h"
#include "base/utf8.h"
#include "cli/args.h"
#include "cli/cells.h"
#include "base/safetext.h"
#include "cli/vivd.h"

/* ---- diff ---- */

/* A name is the guest's: no byte of it can steer a terminal, or make a line of its own. */
static void change_print(const struct json *change)
{
	const char *path = json_show(change, "path"), *coded = json_show(change, "path_base64");
	size_t n = strlen(coded);
	char *bytes;
	ssize_t len;

	printf("%s ", json_show(change, "kind"));
	if (*path) {
		safe_bytes(stdout, path, strlen(path), "");
	} else {
		bytes = xalloc(n + 1);
		len = base64_decode(bytes, coded, n);
		safe_bytes(stdout, bytes, (size_t)MAX(len, 0), "");
		free(bytes);
	}
	putchar('\n');
}

static int change_line(void *arg, const char *line, size_t size)
{
	const bool *json = arg;
	struct json_doc d;
	struct err e;

	if (*json) {
		printf("%.*s\n", (int)size, line);
	} else if (json_parse(&d, line, size, &e) == 0) {
		change_print(d.root);
		json_free(&d);
	}
	return ferror(stdout) ? 1 : 0;
}

/* Contents are printed as they are for a program; a terminal gets nothing of them that could steer
 * it. */
static int patch_ask(const char *path, struct err *e)
{
	bool terminal = isatty(STDOUT_FILENO);
	struct viv_client *c;
	struct viv_error error;
	char data[65536];
	size_t kept = 0;
	long n;

	if (vivd_get(path, &c, e) < 0)
		return -1;
	while ((n = viv_get_data(c, data + kept, sizeof(data) - kept, &error)) > 0) {
		size_t all = kept + (size_t)n;

		/* A character that is cut off waits for its rest. */
		kept = terminal ? text_utf8_tail(data, all) : 0;
		if (terminal)
			safe_bytes(stdout, data, all - kept, "\n\t");
		else
			fwrite(data, 1, all, stdout);
		memmove(data, data + all - kept, kept);
		if (ferror(stdout))
			return 0;
	}
	safe_bytes(stdout, data, kept, "");
	if (n == 0)
		return 0;
	viv_error_get(&error, e);
	return err_wrap(e, "the patch is not whole");
}

int diff_main(struct args *a, struct err *e)
{
	bool patch = arg_is_on(a, "patch");
	struct cell_ref from, to;
	struct buf path = { 0 };
	int r;

	if (patch && a->json)
		return args_wrong(a, e, "--patch cannot be combined with --json");
	if (cell_ref_parse(a->words[0], &from, e) < 0 ||
	    (a->words[1] && cell_ref_parse(a->words[1], &to, e) < 0))
		return -1;
	buf_add_text(&path, cell_path(from.name, "/diff").str);
	query_add(&path, "format", patch ? "patch" : "list");
	query_add(&path, "snapshot", from.snapshot[0] ? from.snapshot : NULL);
	query_add(&path, "to", a->words[1] ? to.name : NULL);
	query_add(&path, "to_snapshot", a->words[1] && to.snapshot[0] ? to.snapshot : NULL);
	r = patch ? patch_ask((char *)path.p, e)
		  : vivd_stream("GET", (char *)path.p, NULL, change_line, &a->json, e);
	if (!r && (fflush(stdout) || ferror(stdout)))
		r = err_set(e, ERR_FAILED, "cannot write the differences");
	buf_free(&path);
	return r;
}

/* ---- verify and commit ---- */

/* What both begin with: the cell, and an object with the snapshot, still open. */
static int ref_begin(const struct args *a, struct cell_ref *ref, struct buf *body, struct err *e)
{
	if (cell_ref_parse(a->words[0], ref, e) < 0)
		return -1;
	buf_add_text(body, "{");
	json_member_text(body, "snapshot", ref->snapshot[0] ? ref->snapshot : NULL);
	return 0;
}

int verify_main(struct args *a, struct err *e)
{
	struct buf body = { 0 };
	struct json_doc d = { 0 };
	const struct json *problems;
	struct cell_ref ref;
	bool sound;
	int r;

	if (ref_begin(a, &ref, &body, e) < 0)
		return -1;
	buf_add(&body, "}", 2);
	r = vivd_ask("POST", cell_path(ref.name, "/verify").str, (char *)body.p, &d, e);
	buf_free(&body);
	if (r < 0)
		return -1;
	sound = !strcmp(json_show(d.root, "sound"), "true");
	problems = json_get(d.root, "problems", JSON_LIST);
	for (const struct json *p = problems ? problems->first : NULL; p; p = p->next)
		fail(ERR_FAILED, "%s", p->text ? p->text : "");
	if (a->json)
		printf("{\"cell\":\"%s\",\"sound\":%s}\n", ref.name, sound ? "true" : "false");
	json_free(&d);
	return sound ? 0 : ERR_FAILED;
}

int commit_main(struct args *a, struct err *e)
{
	const char *tag = arg_value(a, "tag");
	struct buf body = { 0 };
	struct json_doc d = { 0 };
	struct cell_ref ref;
	int r;

	if (!tag || !*tag)
		return args_wrong(a, e, "missing option: --tag NAME");
	if (ref_begin(a, &ref, &body, e) < 0)
		return -1;
	json_member_text(&body, "tag", tag);
	r = vivd_work(cell_path(ref.name, "/commit").str, &body, "commit", arg_is_on(a, "quiet"),
		      &d, e);
	if (!r) {
		warnings_print(d.root);
		image_print(a, d.root);
	}
	json_free(&d);
	buf_free(&body);
	return r;
}
