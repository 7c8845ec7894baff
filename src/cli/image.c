/* viv image. What only reads the store is done by viv-store, which links the libraries that viv
 * does without: the words are looked at here, as those of every verb, and then handed on as they
 * are. vivd makes all changes. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bar.h"
#include "base/jsontext.h"
#include "cli/args.h"
#include "cli/cells.h"
#include "cli/vivd.h"
#include "spec/values.h"

#define BLOCK (256u << 10)

/* argv[0] is the second word, 'ls' of 'image ls'. */
int image_main(int argc, char **argv)
{
	static char name[] = "image";
	char **words = calloc((size_t)argc + 2, sizeof(*words));
	struct args a;
	int status;

	if (!words)
		return fail(ERR_FAILED, "out of memory");
	words[0] = name;
	memcpy(words + 1, argv, (size_t)argc * sizeof(*words));
	status = args_take(&a, argc, argv);
	if (!status) {
		fflush(stdout);
		status = program_run("viv-store", words);
	}
	free(words);
	return status;
}

void image_print(const struct args *a, const struct json *image)
{
	if (!a->json) {
		printf("%s\n", json_show(image, "id"));
		return;
	}
	printf("{\"id\":\"%s\"", json_show(image, "id"));
	if (*json_show(image, "tag")) {
		printf(",\"tag\":");
		json_quoted(stdout, json_show(image, "tag"));
	}
	printf("}\n");
}

/* ---- import ---- */

static const struct {
	const char *option, *field;
	bool size;
} import_fields[] = {
	{ "tag", "tag", false },	  { "format", "format", false },
	{ "ref", "ref", false },	  { "owner", "owner", false },
	{ "max-size", "max_size", true }, { "max-entries", "max_entries", true },
};

/* The value of an option as vivd wants it: sizes as numbers. NULL: not given. */
static const char *field_value(const struct args *a, unsigned i, char number[24], int *status)
{
	const char *v = arg_value(a, import_fields[i].option);
	uint64_t n;

	if (!v || !import_fields[i].size)
		return v;
	if (!value_size(v, &n)) {
		*status = fail(ERR_USAGE, "--%s '%s': a number, such as 500M or 20G",
			       import_fields[i].option, v);
		return NULL;
	}
	snprintf(number, 24, "%llu", (unsigned long long)n);
	return number;
}

/* From a file or directory that vivd can open by itself. */
static int import_path(struct viv_client *c, const struct args *a, const char *path)
{
	struct buf body = { 0 };
	struct json_doc d = { 0 };
	char number[24];
	int status = 0;

	buf_add_text(&body, "{");
	json_member_text(&body, "path", path);
	for (unsigned i = 0; !status && i < ARRAY_LEN(import_fields); i++) {
		const char *v = field_value(a, i, number, &status);

		if (v && import_fields[i].size)
			json_member_add(&body, import_fields[i].field, v);
		else if (v)
			json_member_text(&body, import_fields[i].field, v);
	}
	if (!status)
		status = vivd_work(c, "/v1/images", &body, "import", arg_is_on(a, "quiet"), &d);
	if (!status && !arg_is_on(a, "quiet"))
		warnings_print(d.root);
	if (!status)
		image_print(a, d.root);
	json_free(&d);
	buf_free(&body);
	return status;
}

/* Sends all of fd. A failure to send is vivd's to explain. */
static int bytes_send(struct viv_client *c, int fd, const char *name, bool quiet)
{
	bool show = !quiet && isatty(STDERR_FILENO);
	int64_t began = bar_now(), shown = 0;
	struct viv_error error;
	char *data = xalloc(BLOCK);
	uint64_t done = 0;
	ssize_t n;

	while ((n = read(fd, data, BLOCK)) > 0 || (n < 0 && errno == EINTR)) {
		if (n > 0 && viv_put_data(c, data, (size_t)n, &error) < 0)
			break;
		done += (uint64_t)MAX(n, 0);
		if (show && bar_now() - shown > NSEC_PER_SEC / 10) {
			shown = bar_now();
			bar_print("import", 0, done, 0, 0, began);
		}
	}
	free(data);
	bar_clear();
	return n < 0 ? fail(ERR_FAILED, "cannot read '%s': %s", name, strerror(errno)) : 0;
}

static int import_bytes(struct viv_client *c, const struct args *a, int fd, const char *name)
{
	struct viv_reply reply = { 0 };
	struct viv_error error;
	struct json_doc d = { 0 };
	struct buf path = { 0 };
	char number[24];
	struct err e;
	int status = 0;

	interrupt_allow();
	buf_add_text(&path, "/v1/images");
	for (unsigned i = 0; !status && i < ARRAY_LEN(import_fields); i++)
		query_add(&path, import_fields[i].field, field_value(a, i, number, &status));
	if (!status && viv_put_begin(c, (char *)path.p, &error) < 0)
		status = report_viv(&error);
	status = status ? status : bytes_send(c, fd, name, arg_is_on(a, "quiet"));
	/* Without its end vivd drops what it has got. */
	if (!status && viv_put_end(c, &reply, &error) < 0)
		status = report_viv(&error);
	else if (!status && reply.status != 201)
		status = vivd_refused(&reply);
	if (!status && json_parse(&d, reply.body, reply.size, &e) == 0) {
		if (!arg_is_on(a, "quiet"))
			warnings_print(d.root);
		image_print(a, d.root);
		json_free(&d);
	}
	viv_reply_free(&reply);
	buf_free(&path);
	return status;
}

/* A pipe, or a file that only this process can open, is sent. */
static int import_begin(struct viv_client *c, const struct args *a)
{
	const char *src = a->words[0];
	char path[PATH_MAX];
	struct stat st;
	int fd = 0, status;

	if (strcmp(src, "-")) {
		fd = open(src, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			return fail(errno == ENOENT ? ERR_NOT_FOUND : ERR_FAILED,
				    "cannot open '%s': %s", src, strerror(errno));
		if (fstat(fd, &st) == 0 && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)) &&
		    realpath(src, path)) {
			close(fd);
			return import_path(c, a, path);
		}
	} else if (isatty(0)) {
		return fail(ERR_FAILED, "'-' reads a tar archive from standard input, "
					"which is a terminal (-)");
	}
	status = import_bytes(c, a, fd, src);
	if (fd)
		close(fd);
	return status;
}

/* What the changes begin with. 0: c is open; else what the verb returns. */
static int change_begin(struct args *a, int argc, char **argv, struct viv_client **c)
{
	int status = args_take(a, argc, argv);

	return status ? status : vivd_connect(c);
}

int image_import_main(int argc, char **argv)
{
	struct viv_client *c;
	struct args a;
	int status = change_begin(&a, argc, argv, &c);

	if (status)
		return status;
	status = import_begin(c, &a);
	viv_close(c);
	return status;
}

/* ---- tag, rm, gc ---- */

int image_tag_main(int argc, char **argv)
{
	struct viv_client *c;
	struct buf body = { 0 };
	struct json_doc d = { 0 };
	struct args a;
	int status = change_begin(&a, argc, argv, &c);

	if (status)
		return status;
	buf_add_text(&body, "{");
	json_member_text(&body, "tag", a.words[1]);
	buf_add(&body, "}", 2);
	status = vivd_ask(c, "POST", vivd_path("/v1/images/", a.words[0], "/tag").str,
			  (char *)body.p, &d);
	if (!status && a.json)
		image_print(&a, d.root);
	json_free(&d);
	buf_free(&body);
	viv_close(c);
	return status;
}

int image_rm_main(int argc, char **argv)
{
	struct viv_client *c;
	struct args a;
	int status = change_begin(&a, argc, argv, &c), r;

	if (status)
		return status;
	for (int i = 0; i < a.n; i++) {
		r = vivd_ask(c, "DELETE",
			     vivd_path("/v1/images/", a.words[i],
				       arg_is_on(&a, "force") ? "?force=1" : "")
				     .str,
			     NULL, NULL);
		if (!r && a.json) {
			printf("{\"image\":");
			json_quoted(stdout, a.words[i]);
			printf("}\n");
		}
		status = r ? r : status;
	}
	viv_close(c);
	return status;
}

/* 12.3 MB */
static const char *size_text(uint64_t size, char *to, size_t n)
{
	static const char *const units[] = { "B", "kB", "MB", "GB", "TB", "PB", "EB" };
	double number = (double)size;
	unsigned unit = 0;

	for (; number >= 999.5 && unit + 1 < ARRAY_LEN(units); unit++)
		number /= 1000;
	snprintf(to, n, unit && number < 99.95 ? "%.1f %s" : "%.0f %s", number, units[unit]);
	return to;
}

static const char *plural(const char *n)
{
	return strcmp(n, "1") ? "s" : "";
}

int image_gc_main(int argc, char **argv)
{
	struct viv_client *c;
	struct json_doc d = { 0 };
	struct args a;
	char text[32];
	uint64_t bytes = 0;
	int status = change_begin(&a, argc, argv, &c);
	bool untagged, quiet;

	if (status)
		return status;
	untagged = arg_is_on(&a, "untagged");
	quiet = arg_is_on(&a, "quiet");
	status = vivd_ask(c, "POST", "/v1/images/gc", untagged ? "{\"untagged\":true}" : "{}", &d);
	json_get_u64(d.root, "bytes", &bytes);
	if (!status && !quiet && !a.json)
		warnings_print(d.root);
	if (!status && a.json) {
		json_value_print(stdout, d.root, false);
		putchar('\n');
	} else if (!status && !quiet) {
		const char *images = json_show(d.root, "images"), *n = json_show(d.root, "objects"),
			   *stale = json_show(d.root, "abandoned");

		if (untagged)
			printf("removed %s image%s\n", images, plural(images));
		printf("removed %s object%s (%s) and %s abandoned import%s\n", n, plural(n),
		       size_text(bytes, text, sizeof(text)), stale, plural(stale));
	}
	json_free(&d);
	viv_close(c);
	return status;
}
