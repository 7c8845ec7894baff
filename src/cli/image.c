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
#include "cli/image.h"
#include "cli/vivd.h"
#include "spec/values.h"

#define BLOCK (256u << 10)

/* argv[0] is the second word, 'ls' of 'image ls'. */
int image_main(struct args *a, struct err *e)
{
	static char name[] = "image";
	char **words = xalloc(((size_t)a->argc + 2) * sizeof(*words));

	words[0] = name;
	memcpy(words + 1, a->argv, (size_t)a->argc * sizeof(*words));
	fflush(stdout);
	return program_run("viv-store", words, e);
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

static const char *plural(const char *n)
{
	return strcmp(n, "1") ? "s" : "";
}

/* ---- import ---- */

static const struct {
	const char *option, *field;
	bool size;
} import_fields[] = {
	{ "command", "command", false },
	{ "tag", "tag", false },
	{ "format", "format", false },
	{ "ref", "ref", false },
	{ "owner", "owner", false },
	{ "max-size", "max_size", true },
	{ "max-entries", "max_entries", true },
};

/* The value of an option as vivd wants it: sizes as numbers. ret NULL: not given. */
static int field_value(const struct args *a, unsigned i, char number[24], const char **ret,
		       struct err *e)
{
	uint64_t n;

	*ret = arg_value(a, import_fields[i].option);
	if (!*ret || !import_fields[i].size)
		return 0;
	if (!value_size(*ret, &n))
		return err_set(e, ERR_USAGE, "--%s '%s': a number, such as 500M or 20G",
			       import_fields[i].option, *ret);
	snprintf(number, 24, "%llu", (unsigned long long)n);
	*ret = number;
	return 0;
}

static void imported_print(const struct args *a, const struct json *image)
{
	if (!arg_is_on(a, "quiet"))
		warnings_print(image);
	image_print(a, image);
}

/* From a file or directory that vivd can open by itself. */
static int import_path(const struct args *a, const char *path, struct err *e)
{
	struct buf body = { 0 };
	struct json_doc d = { 0 };
	char number[24];
	const char *v;
	int r = 0;

	buf_add_text(&body, "{");
	json_member_text(&body, "path", path);
	for (unsigned i = 0; !r && i < ARRAY_LEN(import_fields); i++) {
		r = field_value(a, i, number, &v, e);
		if (v && import_fields[i].size)
			json_member_add(&body, import_fields[i].field, v);
		else if (v)
			json_member_text(&body, import_fields[i].field, v);
	}
	if (!r)
		r = vivd_work("/v1/images", &body, "import", arg_is_on(a, "quiet"), &d, e);
	if (!r)
		imported_print(a, d.root);
	json_free(&d);
	buf_free(&body);
	return r;
}

/* Sends all of it. 1: it could not be sent, which is vivd's to explain. */
static int bytes_send(struct viv_client *c, const struct image_upload *u, struct err *e)
{
	bool show = !u->quiet && isatty(STDERR_FILENO);
	int64_t began = bar_now(), shown = 0;
	struct viv_error error;
	char *data = xalloc(BLOCK);
	uint64_t done = 0;
	ssize_t n;

	while ((n = read(u->fd, data, BLOCK)) > 0 || (n < 0 && errno == EINTR)) {
		if (n > 0 && viv_put_data(c, data, (size_t)n, &error) < 0)
			break;
		done += (uint64_t)MAX(n, 0);
		if (show && bar_now() - shown > NSEC_PER_SEC / 10) {
			shown = bar_now();
			bar_print("import", 0, done, 0, 0, began);
		}
	}
	free(data);
	if (show)
		bar_clear();
	if (n < 0)
		return err_set(e, ERR_FAILED, "cannot read '%s': %s", u->name, strerror(errno));
	return n > 0;
}

int image_put(const struct args *a, const char *path, const struct image_upload *u, struct err *e)
{
	struct viv_reply reply = { 0 };
	struct json_doc d = { 0 };
	struct viv_error error;
	struct viv_client *c;
	int r;

	if (vivd_connect(&c, e) < 0)
		return -1;
	if (viv_put_begin(c, path, &error) < 0)
		return viv_error_get(&error, e);
	/* Without its end vivd drops what it has got. */
	r = bytes_send(c, u, e);
	if (r < 0 || (r == 0 && u->whole && u->whole(u->arg, e) < 0))
		return -1;
	if (viv_put_end(c, &reply, &error) < 0)
		return viv_error_get(&error, e);
	r = reply.status != 201 ? vivd_refusal(&reply, e)
				: json_parse(&d, reply.body, reply.size, e);
	if (!r && !u->silent)
		imported_print(a, d.root);
	json_free(&d);
	viv_reply_free(&reply);
	return r;
}

static int import_bytes(const struct args *a, int fd, const char *name, struct err *e)
{
	const struct image_upload u = { .fd = fd, .name = name, .quiet = arg_is_on(a, "quiet") };
	struct buf path = { 0 };
	char number[24];
	const char *v;
	int r = 0;

	interrupt_allow();
	buf_add_text(&path, "/v1/images");
	for (unsigned i = 0; !r && i < ARRAY_LEN(import_fields); i++) {
		r = field_value(a, i, number, &v, e);
		query_add(&path, import_fields[i].field, v);
	}
	if (!r)
		r = image_put(a, (char *)path.p, &u, e);
	buf_free(&path);
	return r;
}

/* A pipe, or a file that only this process can open, is sent. */
int image_import_main(struct args *a, struct err *e)
{
	const char *src = a->words[0];
	char path[PATH_MAX];
	struct stat st;
	int fd = 0, r;

	if (strcmp(src, "-")) {
		fd = open(src, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			return err_set(e, errno == ENOENT ? ERR_NOT_FOUND : ERR_FAILED,
				       "cannot open '%s': %s", src, strerror(errno));
		if (fstat(fd, &st) == 0 && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)) &&
		    realpath(src, path)) {
			close(fd);
			return import_path(a, path, e);
		}
	} else if (isatty(0)) {
		return err_set(e, ERR_FAILED,
			       "'-' reads a tar archive from standard input, "
			       "which is a terminal (-)");
	}
	r = import_bytes(a, fd, src, e);
	if (fd)
		close(fd);
	return r;
}

/* ---- verify ---- */

static void texts_print(const struct json *result, const char *list, const char *word)
{
	const struct json *texts = json_get(result, list, JSON_LIST);

	for (const struct json *t = texts ? texts->first : NULL; t; t = t->next)
		if (t->text)
			printf("%s: %s\n", word, t->text);
}

static int repair(const struct args *a, const char *path, struct err *e)
{
	struct json_doc d = { 0 };
	struct buf body = { 0 };
	const char *images, *objects, *damaged;
	int status;

	buf_add_text(&body, "{");
	json_member_add(&body, "repair", "true");
	status = vivd_work(path, &body, "verify", arg_is_on(a, "quiet"), &d, e);
	buf_free(&body);
	if (status < 0)
		return -1;
	images = json_show(d.root, "images");
	objects = json_show(d.root, "objects");
	damaged = json_show(d.root, "damaged");
	if (a->json) {
		json_line_print(d.root, false);
	} else {
		texts_print(d.root, "repairs", "repaired");
		texts_print(d.root, "problems", "damaged");
	}
	if (!a->json && !arg_is_on(a, "quiet"))
		printf("%s image%s, %s object%s: %s damaged, %s repaired\n", images, plural(images),
		       objects, plural(objects), damaged, json_show(d.root, "repaired"));
	status = strcmp(damaged, "0") ? ERR_FAILED : 0;
	json_free(&d);
	return status;
}

static int image_repair(const struct args *a, const char *image, void *arg, struct err *e)
{
	int *status = arg, r = repair(a, vivd_path("/v1/images/", image, "/verify").str, e);

	*status = MAX(*status, r);
	return r < 0 ? -1 : 0;
}

/* What only reads is done here; vivd changes what is to be repaired. */
int image_verify_main(struct args *a, struct err *e)
{
	int damaged = 0, status;

	if (!arg_is_on(a, "repair"))
		return image_main(a, e);
	if (!a->n)
		return repair(a, "/v1/images/verify", e);
	status = words_each(a, image_repair, &damaged, e);
	return status ? status : damaged;
}

/* ---- tag, rm, gc ---- */

int image_tag_main(struct args *a, struct err *e)
{
	struct buf body = { 0 };
	struct json_doc d = { 0 };
	int r;

	buf_add_text(&body, "{");
	json_member_text(&body, "tag", a->words[1]);
	buf_add(&body, "}", 2);
	r = vivd_ask("POST", vivd_path("/v1/images/", a->words[0], "/tag").str, (char *)body.p, &d,
		     e);
	if (!r && a->json)
		image_print(a, d.root);
	json_free(&d);
	buf_free(&body);
	return r;
}

static int image_rm(const struct args *a, const char *image, void *arg, struct err *e)
{
	const char *force = arg_is_on(a, "force") ? "?force=1" : "";

	(void)arg;
	if (vivd_ask("DELETE", vivd_path("/v1/images/", image, force).str, NULL, NULL, e) < 0)
		return -1;
	if (a->json) {
		printf("{\"image\":");
		json_quoted(stdout, image);
		printf("}\n");
	}
	return 0;
}

int image_rm_main(struct args *a, struct err *e)
{
	return words_each(a, image_rm, NULL, e);
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

int image_gc_main(struct args *a, struct err *e)
{
	bool untagged = arg_is_on(a, "untagged"), quiet = arg_is_on(a, "quiet");
	const char *body = untagged ? "{\"untagged\":true}" : "{}", *images, *n, *stale;
	struct json_doc d = { 0 };
	char text[32];
	uint64_t bytes = 0;

	if (vivd_ask("POST", "/v1/images/gc", body, &d, e) < 0)
		return -1;
	json_get_u64(d.root, "bytes", &bytes);
	if (a->json) {
		json_line_print(d.root, false);
	} else if (!quiet) {
		images = json_show(d.root, "images");
		n = json_show(d.root, "objects");
		stale = json_show(d.root, "abandoned");
		warnings_print(d.root);
		if (untagged)
			printf("removed %s image%s\n", images, plural(images));
		printf("removed %s object%s (%s) and %s abandoned import%s\n", n, plural(n),
		       size_text(bytes, text, sizeof(text)), stale, plural(stale));
	}
	json_free(&d);
	return 0;
}
