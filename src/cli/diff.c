/* viv diff and viv commit: what a disk holds, as a kernel tells it (tell.h).
 *
 * A difference to the image, or to a snapshot that the other tree stands on, is the kernel's own. Of two trees that went
 * different ways, the differences of both to the image are compared here. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/tell.h"

#define RECORD_MAX (64 << 10)
#define RECORDS_MAX (4 << 20)
#define BYTES_MAX (1UL << 30) /* of all records */

/* One path. KIND TYPE MODE UID GID SIZE LAYER NUMBER TIME PATH, as the kernel writes it. */
struct record {
	char kind;
	char type;
	char *what; /* all else that can differ */
	char *path;
};

struct records {
	struct record *list;
	size_t n;
};

static void records_free(struct records *r)
{
	for (size_t i = 0; i < r->n; i++) {
		free(r->list[i].what);
		free(r->list[i].path);
	}
	free(r->list);
}

/* The chain's places mean nothing to another chain: the content gets the name of its layer. */
static bool record_parse(char *text, const struct disk_chain *chain, struct record *ret)
{
	unsigned mode, uid, gid;
	unsigned long long size;
	char number[24], when[40];
	int layer, at = -1;
	const char *of = "-";

	if (sscanf(text, "%c %c %o %u %u %llu %d %23s %39s %n", &ret->kind, &ret->type, &mode, &uid,
		   &gid, &size, &layer, number, when, &at) != 9 ||
	    at < 0 || !strchr("ACD", ret->kind) || text[at] != '/')
		return false;
	if (layer >= 0)
		of = (unsigned)layer < chain->n ? chain->links[layer].ref.disk : NULL;
	if (!of || asprintf(&ret->what, "%c %o %u %u %llu %s/%u/%s %s", ret->type, mode, uid, gid,
			    size, of, layer >= 0 ? chain->links[layer].ref.n : 0, number,
			    ret->type == 'd' ? "" : when) < 0)
		return false;
	ret->path = strdup(text + at);
	if (ret->path)
		return true;
	free(ret->what);
	return false;
}

/* The next one, without its NUL at the end. Its length; 0: there is none, -1: it is too long. */
static ssize_t record_get(FILE *f, char *buf, size_t size)
{
	size_t n = 0;
	int c;

	while ((c = getc(f)) > 0) {
		if (n == size - 1)
			return -1;
		buf[n++] = (char)c;
	}
	buf[n] = 0;
	return c == 0 && n == 0 ? -1 : (ssize_t)n;
}

static int records_read(struct view *v, uint32_t from_layers, struct records *r, struct err *e)
{
	const struct run_tell what = { .mode = MODE_LIST, .from_layers = from_layers };
	static char text[RECORD_MAX + 256];
	struct teller t;
	size_t cap = 0, bytes = 0;
	bool whole;
	ssize_t len = 0;
	FILE *f;
	int status;

	*r = (struct records){ 0 };
	if (teller_start(v, &what, &t, e) < 0)
		return -1;
	f = fdopen(t.fd, "r");
	if (f)
		t.fd = -1;
	while (f && (len = record_get(f, text, sizeof(text))) != 0) {
		struct record one, *more = r->list;

		if (r->n == cap) {
			cap = cap ? 2 * cap : 256;
			more = realloc(r->list, cap * sizeof(*more));
		}
		if (more)
			r->list = more;
		bytes += len > 0 ? (size_t)len : 0;
		if (!more || len < 0 || bytes > BYTES_MAX || r->n >= RECORDS_MAX ||
		    !record_parse(text, &v->place.chain, &one)) {
			err_set(e, ERR_FAILED, "what the disk's kernel says makes no sense");
			break;
		}
		r->list[r->n++] = one;
	}
	whole = f && len == 0 && feof(f);
	if (f)
		fclose(f);
	status = teller_end(&t);
	if (whole && status == 0)
		return 0;
	records_free(r);
	*r = (struct records){ 0 };
	if (whole || !f)
		err_set(e, ERR_FAILED, "the disk of cell '%s' cannot be read", v->place.cell.name);
	return -1;
}

/* ---- two lists ---- */

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct record *)a)->path, ((const struct record *)b)->path);
}

/* What became of a path that the image has (or not) and that is a in the first tree and b in the second; NULL: as the
 * image has it. 0: the same. */
static char kind_between(const struct record *a, const struct record *b)
{
	bool was = a ? a->kind != 'D' : b->kind != 'A';
	bool is = b ? b->kind != 'D' : a->kind != 'A';

	if (was != is)
		return is ? 'A' : 'D';
	if (!is)
		return 0;
	return a && b && !strcmp(a->what, b->what) ? 0 : 'C';
}

/* A name is the guest's: no byte of it can steer a terminal, or make a line of its own. */
static void name_print(const char *path)
{
	for (const unsigned char *p = (const unsigned char *)path; *p; p++) {
		if (*p < 0x20 || *p == 0x7f || (*p == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0))
			printf("\\x%02x", *p);
		else
			putchar(*p);
	}
}

static void line_print(char kind, const char *path, bool json)
{
	if (!json) {
		printf("%c ", kind);
		name_print(path);
		putchar('\n');
		return;
	}
	printf("{\"kind\":\"%c\",\"path\":\"", kind);
	for (const unsigned char *p = (const unsigned char *)path; *p; p++) {
		if (*p == '"' || *p == '\\')
			printf("\\%c", *p);
		else if (*p < 0x20 || *p == 0x7f)
			printf("\\u%04x", *p);
		else
			putchar(*p);
	}
	printf("\"}\n");
}

static void compare_print(struct records *a, struct records *b, bool json)
{
	size_t i = 0, j = 0;

	qsort(a->list, a->n, sizeof(*a->list), by_path);
	qsort(b->list, b->n, sizeof(*b->list), by_path);
	while (i < a->n || j < b->n) {
		int order = i == a->n	? 1
			    : j == b->n ? -1
					: strcmp(a->list[i].path, b->list[j].path);
		const struct record *x = order <= 0 ? &a->list[i++] : NULL;
		const struct record *y = order >= 0 ? &b->list[j++] : NULL;
		char kind = kind_between(x, y);

		if (kind)
			line_print(kind, x ? x->path : y->path, json);
	}
}

/* ---- the verbs ---- */

/* How many layers of to's chain are from's whole chain; -1: they went different ways. */
static long common_layers(const struct view *from, const struct view *to)
{
	const struct disk_chain *a = &from->place.chain, *b = &to->place.chain;

	if (a->n > b->n)
		return -1;
	for (unsigned i = 0; i < a->n; i++)
		if (strcmp(a->links[i].ref.disk, b->links[i].ref.disk) ||
		    a->links[i].ref.n != b->links[i].ref.n)
			return -1;
	return a->n;
}

static int diff_views(struct view *from, struct view *to, bool json, struct err *e)
{
	long common = from ? common_layers(from, to) : 0;
	struct records a = { 0 }, b;
	int ret = 0;

	if (from && strcmp(from->place.cell.image, to->place.cell.image))
		return err_set(e, ERR_CONFLICT, "cells '%s' and '%s' have different images",
			       from->place.cell.name, to->place.cell.name);
	if (records_read(to, common < 0 ? 0 : (uint32_t)common, &b, e) < 0)
		return -1;
	if (common < 0)
		ret = records_read(from, 0, &a, e);
	if (ret == 0 && common < 0)
		compare_print(&a, &b, json);
	else if (ret == 0)
		for (size_t i = 0; i < b.n; i++)
			line_print(b.list[i].kind, b.list[i].path, json);
	records_free(&a);
	records_free(&b);
	return ret;
}

static const char usage_diff[] = "viv diff [--json] CELL[@SNAPSHOT] [CELL[@SNAPSHOT]]";

static int diff_do(const struct store *s, const char *first, const char *second, bool json,
		   struct err *e)
{
	static struct view a, b;
	struct cell_ref from, to;
	int ret;

	if (cell_ref_parse(first, &from, e) < 0)
		return -1;
	to = from;
	if (second && cell_ref_parse(second, &to, e) < 0)
		return -1;
	if (!second)
		to.snapshot[0] = 0;
	if (view_open(&b, s, &to, e) < 0)
		return -1;
	/* One cell without a snapshot: since its image. */
	if (!second && !from.snapshot[0]) {
		ret = diff_views(NULL, &b, json, e);
	} else {
		ret = view_open(&a, s, &from, e);
		if (ret == 0) {
			ret = diff_views(&a, &b, json, e);
			view_close(&a);
		}
	}
	view_close(&b);
	return ret;
}

int diff_main(int argc, char **argv)
{
	bool json = argc > 1 && !strcmp(argv[1], "--json");
	int status = 0, lock, first = json ? 2 : 1;
	struct store s;
	struct err e;

	if (argc - first < 1 || argc - first > 2 || argv[first][0] == '-') {
		fail("usage: %s", usage_diff);
		return ERR_USAGE;
	}
	if (store_open(&s, &e) < 0)
		return verb_failed(&e);
	/* Nothing that is read here is collected meanwhile. */
	lock = store_lock(&s, false, NULL, &e);
	if (lock < 0 ||
	    diff_do(&s, argv[first], argc - first > 1 ? argv[first + 1] : NULL, json, &e) < 0)
		status = verb_failed(&e);
	if (lock >= 0)
		close(lock);
	store_close(&s);
	return status;
}

void diff_help(void)
{
	printf("Usage: %s\n\n"
	       "Lists what was added (A), changed (C) and deleted (D): in CELL since its image, in "
	       "CELL@SNAPSHOT since\nthat snapshot, or from the first to the second of two.\n",
	       usage_diff);
}

static const char usage_verify[] = "viv verify CELL[@SNAPSHOT]";

int verify_main(int argc, char **argv)
{
	const struct run_tell what = { .mode = MODE_CHECK };
	static struct view v;
	struct cell_ref ref;
	struct store s;
	struct teller t;
	struct err e;
	int status = ERR_USAGE;

	if (argc != 2 || argv[1][0] == '-') {
		fail("usage: %s", usage_verify);
		return status;
	}
	if (store_open(&s, &e) < 0)
		return verb_failed(&e);
	if (cell_ref_parse(argv[1], &ref, &e) < 0 || view_open(&v, &s, &ref, &e) < 0) {
		status = verb_failed(&e);
	} else {
		/* What is missing is a line of the kernel's, which the supervisor prints. */
		status = teller_start(&v, &what, &t, &e) < 0 ? verb_failed(&e) : teller_end(&t);
		view_close(&v);
	}
	store_close(&s);
	return status ? ERR_FAILED : 0;
}

void verify_help(void)
{
	printf("Usage: %s\n\nChecks that the logs of a cell's disk can be read and all contents "
	       "are "
	       "there.\n",
	       usage_verify);
}

static const char usage_commit[] = "viv commit CELL[@SNAPSHOT] --tag NAME [-q]";

/* The tar stream of the tree goes straight into the importer. */
static int import_run(int in, const char *tag, const char *image, bool quiet)
{
	const char *words[] = { "image", "import", "-",	 "--tag", tag, "--format",
				"tar",	 NULL,	   NULL, NULL,	  NULL };
	unsigned n = 7;
	int fd, status;
	pid_t pid;

	if (strcmp(image, "host")) {
		words[n++] = "--base";
		words[n++] = image;
	}
	if (quiet)
		words[n++] = "-q";
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		fd = program_open("viv-store");
		if (fd < 0 || dup2(in, 0) < 0)
			_exit(EXIT_OWN);
		fexecve(fd, (char **)(uintptr_t)words, environ);
		_exit(fail("cannot run viv-store: %s", strerror(errno)));
	}
	close(in);
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return ERR_FAILED;
	return WIFEXITED(status) ? WEXITSTATUS(status) : ERR_FAILED;
}

/* A running cell is sealed first, so that the tree stands still. */
static int commit_do(const struct store *s, const char *cell, const char *tag, bool quiet,
		     struct err *e)
{
	static struct view v;
	const struct run_tell what = { .mode = MODE_TAR, .whole = true };
	struct layer_ref sealed;
	struct cell_ref ref;
	struct teller t;
	int status, told, err;

	if (cell_ref_parse(cell, &ref, e) < 0 ||
	    (!ref.snapshot[0] && cell_seal(s, ref.name, "", &sealed, e) < 0) ||
	    view_open(&v, s, &ref, e) < 0)
		return -1;
	if (!ref.snapshot[0]) {
		disk_chain_close(&v.place.chain);
		err = disk_chain_with(s->fd, &v.place.disk, sealed.n, &v.place.chain);
		if (err) {
			view_close(&v);
			return err_set(e, ERR_FAILED, "the disk of cell '%s' cannot be read: %s",
				       ref.name, strerror(-err));
		}
	}
	if (teller_start(&v, &what, &t, e) < 0) {
		view_close(&v);
		return -1;
	}
	status = import_run(t.fd, tag, v.place.cell.image, quiet);
	t.fd = -1;
	told = teller_end(&t);
	view_close(&v);
	if (status || told)
		return err_set(e, status > 0 && status <= 5 ? (enum err_kind)status : ERR_FAILED,
			       "no image was made of cell '%s'", ref.name);
	return 0;
}

int commit_main(int argc, char **argv)
{
	const char *cell = NULL, *tag = NULL;
	bool quiet = false;
	int status = 0, lock;
	struct store s;
	struct err e;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "-q"))
			quiet = true;
		else if (!strcmp(argv[i], "--tag") && argv[i + 1])
			tag = argv[++i];
		else if (!strncmp(argv[i], "--tag=", 6))
			tag = argv[i] + 6;
		else if (argv[i][0] != '-' && !cell)
			cell = argv[i];
		else
			cell = tag = "";
	}
	if (!cell || !tag || !*cell || !*tag) {
		fail("usage: %s", usage_commit);
		return ERR_USAGE;
	}
	if (store_open(&s, &e) < 0)
		return verb_failed(&e);
	lock = store_lock(&s, false, NULL, &e);
	if (lock < 0 || commit_do(&s, cell, tag, quiet, &e) < 0)
		status = verb_failed(&e);
	if (lock >= 0)
		close(lock);
	store_close(&s);
	return status;
}

void commit_help(void)
{
	printf("Usage: %s\n\n"
	       "Makes an image of the files of a cell, as they are now or were at a snapshot, and "
	       "prints "
	       "its hash.\nOf a cell on the host image that is everything it shows of the host.\n",
	       usage_commit);
}
