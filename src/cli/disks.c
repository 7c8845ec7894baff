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
#include "cli/vivd.h"

/* ---- diff ---- */

/* A name is the guest's: no byte of it can steer a terminal, or make a line of its own. */
static void hidden_print(const char *p, size_t len, const char *allowed)
{
	const char *end = p + len;
	unsigned n;

	for (; p < end; p += n ? n : 1) {
		n = text_printable(p, (size_t)(end - p));
		if (n || (*p && strchr(allowed, *p)))
			fwrite(p, 1, n ? n : 1, stdout);
		else
			printf("\\x%02x", (unsigned char)*p);
	}
}

struct listing {
	bool json;
	int status;
};

static void change_print(const struct json *change)
{
	const char *path = json_show(change, "path"), *coded = json_show(change, "path_base64");
	size_t n = strlen(coded);
	char *bytes;
	ssize_t len;

	printf("%s ", json_show(change, "kind"));
	if (*path) {
		hidden_print(path, strlen(path), "");
	} else {
		bytes = xalloc(n + 1);
		len = base64_decode(bytes, coded, n);
		hidden_print(bytes, (size_t)MAX(len, 0), "");
		free(bytes);
	}
	putchar('\n');
}

static int change_line(void *arg, const char *line, size_t size)
{
	struct listing *l = arg;
	struct json_doc d;
	struct err e;

	if (json_parse(&d, line, size, &e) < 0)
		return 0;
	if (!strcmp(json_show(d.root, "type"), "error"))
		l->status = refused_print(d.root);
	else if (l->json)
		printf("%.*s\n", (int)size, line);
	else
		change_print(d.root);
	json_free(&d);
	return ferror(stdout) ? 1 : 0;
}

static int list_ask(struct viv_client *c, const char *path, bool json)
{
	struct listing l = { .json = json };
	struct viv_error error;
	struct viv_reply reply;
	int r = viv_stream(c, "GET", path, NULL, change_line, &l, &reply, &error);

	if (r < 0)
		l.status = report_viv(&error);
	else if (reply.status != 200)
		l.status = vivd_refused(&reply);
	viv_reply_free(&reply);
	return l.status;
}

/* Contents are printed as they are for a program; a terminal gets nothing of them that could steer
 * it. */
static int patch_ask(struct viv_client *c, const char *path)
{
	bool terminal = isatty(STDOUT_FILENO);
	struct viv_error error;
	struct viv_reply reply;
	char data[65536];
	size_t kept = 0;
	long n;
	int status = 0;

	if (viv_get_begin(c, path, &reply, &error) < 0)
		return report_viv(&error);
	if (reply.status != 200)
		status = vivd_refused(&reply);
	viv_reply_free(&reply);
	while (!status && (n = viv_get_data(c, data + kept, sizeof(data) - kept, &error)) > 0) {
		size_t all = kept + (size_t)n;

		/* A character that is cut off waits for its rest. */
		kept = terminal ? text_utf8_tail(data, all) : 0;
		if (terminal)
			hidden_print(data, all - kept, "\n\t");
		else
			fwrite(data, 1, all, stdout);
		memmove(data, data + all - kept, kept);
		if (ferror(stdout))
			return 0;
	}
	hidden_print(data, kept, "");
	return !status && n < 0 ? fail(ERR_FAILED, "%s; the patch is not whole", error.text)
				: status;
}

int diff_main(int argc, char **argv)
{
	struct viv_client *c;
	struct cell_ref from, to;
	struct buf path = { 0 };
	struct args a;
	struct err e;
	int status = args_take(&a, argc, argv);
	bool patch;

	if (status)
		return status;
	patch = arg_is_on(&a, "patch");
	if (patch && a.json)
		return args_wrong(a.verb, "--patch cannot be combined with --json");
	if (cell_ref_parse(a.words[0], &from, &e) < 0 ||
	    (a.words[1] && cell_ref_parse(a.words[1], &to, &e) < 0))
		return report(&e);
	status = vivd_connect(&c);
	if (status)
		return status;
	buf_add_text(&path, cell_path(from.name, "/diff").str);
	query_add(&path, "format", patch ? "patch" : "list");
	query_add(&path, "snapshot", from.snapshot[0] ? from.snapshot : NULL);
	query_add(&path, "to", a.words[1] ? to.name : NULL);
	query_add(&path, "to_snapshot", a.words[1] && to.snapshot[0] ? to.snapshot : NULL);
	status = patch ? patch_ask(c, (char *)path.p) : list_ask(c, (char *)path.p, a.json);
	if (!status && (fflush(stdout) || ferror(stdout)))
		status = fail(ERR_FAILED, "cannot write the differences");
	buf_free(&path);
	viv_close(c);
	return status;
}

/* ---- verify and commit ---- */

/* What both begin with: the cell, and an object with the snapshot. 0: c is open; else what the verb
 * returns. */
static int ref_begin(const struct args *a, struct cell_ref *ref, struct buf *body,
		     struct viv_client **c)
{
	struct err e;
	int status;

	if (cell_ref_parse(a->words[0], ref, &e) < 0)
		return report(&e);
	status = vivd_connect(c);
	if (status)
		return status;
	buf_add_text(body, "{");
	json_member_text(body, "snapshot", ref->snapshot[0] ? ref->snapshot : NULL);
	return 0;
}

int verify_main(int argc, char **argv)
{
	struct viv_client *c;
	struct buf body = { 0 };
	struct json_doc d = { 0 };
	const struct json *problems;
	struct cell_ref ref;
	struct args a;
	bool sound;
	int status = args_take(&a, argc, argv);

	status = status ? status : ref_begin(&a, &ref, &body, &c);
	if (status)
		return status;
	buf_add(&body, "}", 2);
	status = vivd_ask(c, "POST", cell_path(ref.name, "/verify").str, (char *)body.p, &d);
	if (!status) {
		sound = !strcmp(json_show(d.root, "sound"), "true");
		problems = json_get(d.root, "problems", JSON_LIST);
		for (const struct json *p = problems ? problems->first : NULL; p; p = p->next)
			fail(ERR_FAILED, "%s", p->text ? p->text : "");
		if (a.json)
			printf("{\"cell\":\"%s\",\"sound\":%s}\n", ref.name,
			       sound ? "true" : "false");
		status = sound ? 0 : ERR_FAILED;
	}
	json_free(&d);
	buf_free(&body);
	viv_close(c);
	return status;
}

int commit_main(int argc, char **argv)
{
	struct viv_client *c;
	struct buf body = { 0 };
	struct json_doc d = { 0 };
	struct cell_ref ref;
	struct args a;
	const char *tag;
	int status = args_take(&a, argc, argv);

	if (status)
		return status;
	tag = arg_value(&a, "tag");
	if (!tag || !*tag)
		return args_wrong(a.verb, "missing option: --tag NAME");
	status = ref_begin(&a, &ref, &body, &c);
	if (status)
		return status;
	json_member_text(&body, "tag", tag);
	status = vivd_work(c, cell_path(ref.name, "/commit").str, &body, "commit",
			   arg_is_on(&a, "quiet"), &d);
	if (!status) {
		warnings_print(d.root);
		image_print(&a, d.root);
	}
	json_free(&d);
	buf_free(&body);
	viv_close(c);
	return status;
}
