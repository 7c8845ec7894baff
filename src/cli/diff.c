/* viv diff, verify and commit: what a disk holds, as a kernel tells it (tell.h, told.h).
 *
 * Two trees are compared with what they both stand on: the image, or the layers that the chains of both begin with. A kernel for each
 * tells the differences to that, in one order, and they are merged here path by path. Where one of them is itself what both stand on, the
 * other's differences are the answer. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/utf8.h"
#include "cli/args.h"
#include "cli/patch.h"
#include "cli/told.h"

enum form { FORM_LIST, FORM_JSON, FORM_PATCH };

/* ---- a list ---- */

/* A name is the guest's: no byte of it can steer a terminal, or make a line of its own. */
static void name_print(const char *path)
{
	const char *end = path + strlen(path);
	unsigned n;

	for (; path < end; path += n ? n : 1) {
		n = text_printable(path, (size_t)(end - path));
		if (n)
			fwrite(path, 1, n, stdout);
		else
			printf("\\x%02x", (unsigned char)*path);
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

static bool side_is_same(const struct told_side *a, const struct told_side *b)
{
	return a->type == b->type && a->mode == b->mode && a->uid == b->uid && a->gid == b->gid &&
	       a->size == b->size && !strcmp(a->id, b->id) &&
	       (a->type == 'd' || !strcmp(a->when, b->when));
}

/* ---- merging ---- */

struct merge {
	struct told_stream streams[2];
	bool open[2], ended[2];
	struct told next[2]; /* path NULL: to be read */
	enum form form;
	char *leaf[2]; /* the last path that is no directory, on each side of what is printed */
	char *gone; /* the last directory that is none any more */
};

static int nonsense(struct err *e)
{
	return err_set(e, ERR_FAILED, "what the disk's kernel says makes no sense");
}

static bool keep(char **where, const char *path)
{
	free(*where);
	*where = strdup(path);
	return *where;
}

/* Nothing is below what is no directory: a patch that says so would be led elsewhere by a link. */
static int leaf_check(struct merge *m, unsigned i, const char *path, const struct told_side *s,
		      struct err *e)
{
	if (!s->type)
		return 0;
	if (m->leaf[i] && told_path_is_below(path, m->leaf[i]))
		return nonsense(e);
	if (s->type != 'd' && !keep(&m->leaf[i], path))
		return err_set(e, ERR_FAILED, "out of memory");
	return 0;
}

static int change_print(struct merge *m, const char *path, const struct told_side *old,
			const struct told_side *new, struct err *e)
{
	if (leaf_check(m, 0, path, old, e) < 0 || leaf_check(m, 1, path, new, e) < 0)
		return -1;
	if (!old->type && !new->type)
		return 0;
	if (m->form == FORM_PATCH) {
		if ((old->content == '=') != (new->content == '='))
			return nonsense(e);
		return patch_print(path, old, new) ? 0 : err_set(e, ERR_FAILED, "out of memory");
	}
	/* What goes with its directory is not listed. */
	if (!new->type && m->gone &&told_path_is_below(path, m->gone))
		return 0;
	if (old->type == 'd' && new->type != 'd' && !keep(&m->gone, path))
		return err_set(e, ERR_FAILED, "out of memory");
	line_print(!old->type ? 'A' : !new->type ? 'D' : 'C', path, m->form == FORM_JSON);
	return 0;
}

/* A content that is the base's is given by the other one, if at all: it tells the base's when it has another. */
static struct told_side content_find(const struct told_side *s, const struct told_side *other,
				     const struct told_side *base)
{
	struct told_side ret = *s;

	if (s->content == '=' && other->content != '=' && base->type == 'f') {
		ret.content = base->content;
		ret.size = base->size;
		ret.data = base->data;
	}
	return ret;
}

/* One path: told by the first, the second, or both. */
static int merge_one(struct merge *m, const struct told *a, const struct told *b, struct err *e)
{
	struct told_side old, new;

	if (!a)
		return change_print(m, b->path, &b->base, &b->tree, e);
	if (!b)
		return change_print(m, a->path, &a->tree, &a->base, e);
	if (side_is_same(&a->tree, &b->tree))
		return 0;
	old = content_find(&a->tree, &b->tree, &b->base);
	new = content_find(&b->tree, &a->tree, &a->base);
	return change_print(m, a->path, &old, &new, e);
}

static int merge_fetch(struct merge *m, unsigned i, struct err *e)
{
	int r;

	if (!m->open[i] || m->ended[i] || m->next[i].path)
		return 0;
	r = told_next(&m->streams[i], &m->next[i], e);
	m->ended[i] = r == 0;
	return r < 0 ? -1 : 0;
}

static int merge_run(struct merge *m, struct err *e)
{
	struct told *a = &m->next[0], *b = &m->next[1];

	for (;;) {
		int order, r;

		if (merge_fetch(m, 0, e) < 0 || merge_fetch(m, 1, e) < 0)
			return -1;
		if (!a->path && !b->path)
			return 0;
		order = !a->path ? 1 : !b->path ? -1 : told_path_compare(a->path, b->path);
		r = merge_one(m, order <= 0 ? a : NULL, order >= 0 ? b : NULL, e);
		if (order <= 0)
			told_fini(a);
		if (order >= 0)
			told_fini(b);
		if (r < 0)
			return -1;
	}
}

/* ---- the verbs ---- */

/* How many layers both chains begin with. */
static uint32_t common_layers(const struct view *from, const struct view *to)
{
	const struct disk_chain *a = &from->place.chain, *b = &to->place.chain;
	uint32_t n = 0;

	while (n < a->n && n < b->n && !strcmp(a->links[n].ref.disk, b->links[n].ref.disk) &&
	       a->links[n].ref.n == b->links[n].ref.n)
		n++;
	return n;
}

static int diff_views(struct view *from, struct view *to, enum form form, struct err *e)
{
	struct view *views[2] = { from, to };
	uint32_t common = from ? common_layers(from, to) : 0;
	struct merge m = { .form = form };
	int ret = 0;

	if (from && strcmp(from->place.cell.image, to->place.cell.image))
		return err_set(e, ERR_CONFLICT, "cells '%s' and '%s' have different images",
			       from->place.cell.name, to->place.cell.name);
	for (unsigned i = 0; i < 2 && ret == 0; i++) {
		if (!views[i] || views[i]->place.chain.n == common)
			continue;
		ret = told_open(&m.streams[i], views[i], common, form == FORM_PATCH, e);
		m.open[i] = ret == 0;
	}
	if (ret == 0)
		ret = merge_run(&m, e);
	for (unsigned i = 0; i < 2; i++) {
		told_fini(&m.next[i]);
		if (m.open[i])
			told_close(&m.streams[i]);
		free(m.leaf[i]);
	}
	free(m.gone);
	if (ret == 0 && (fflush(stdout) || ferror(stdout)))
		ret = err_set(e, ERR_FAILED, "cannot write the differences: %s", strerror(errno));
	return ret;
}

static int diff_do(const struct store *s, const char *first, const char *second, enum form form,
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
	if (view_open(&b, s, &to, DISK_PEEK, e) < 0)
		return -1;
	/* One cell without a snapshot: since its image. */
	if (!second && !from.snapshot[0]) {
		ret = diff_views(NULL, &b, form, e);
	} else {
		ret = view_open(&a, s, &from, DISK_PEEK, e);
		if (ret == 0) {
			ret = diff_views(&a, &b, form, e);
			view_close(&a);
		}
	}
	view_close(&b);
	return ret;
}

int diff_main(int argc, char **argv)
{
	struct args a;
	int status = args_take(&a, argc, argv), lock;
	enum form form;
	struct store s;
	struct err e;

	if (status)
		return status;
	form = arg_is_on(&a, "patch") ? FORM_PATCH : a.json ? FORM_JSON : FORM_LIST;
	if (form == FORM_PATCH && a.json)
		return args_wrong(a.verb, "--patch is no JSON");
	if (store_open(&s, &e) < 0)
		return report(&e);
	/* Nothing that is read here is collected meanwhile. */
	lock = store_lock(&s, false, NULL, &e);
	if (lock < 0 || diff_do(&s, a.words[0], a.words[1], form, &e) < 0)
		status = report(&e);
	if (lock >= 0)
		close(lock);
	store_close(&s);
	return status;
}

int verify_main(int argc, char **argv)
{
	const struct run_tell what = { .mode = MODE_CHECK };
	static struct view v;
	struct cell_ref ref;
	struct args a;
	struct store s;
	struct teller t;
	struct err e;
	int status = args_take(&a, argc, argv), lock;

	if (status)
		return status;
	if (store_open(&s, &e) < 0)
		return report(&e);
	/* Nothing that is read here is collected meanwhile. */
	lock = store_lock(&s, false, NULL, &e);
	if (lock < 0 || cell_ref_parse(a.words[0], &ref, &e) < 0 ||
	    view_open(&v, &s, &ref, DISK_PEEK, &e) < 0) {
		status = report(&e);
	} else {
		/* What is missing is a line of the kernel's, which the supervisor prints. */
		if (teller_start(&v.place, &what, &t, &e) < 0 || teller_end(&t, &e))
			status = report(&e);
		view_close(&v);
		if (a.json)
			printf("{\"cell\":\"%s\",\"sound\":%s}\n", ref.name,
			       status ? "false" : "true");
	}
	if (lock >= 0)
		close(lock);
	store_close(&s);
	return status;
}

/* The tar stream of the tree goes straight into the importer. */
static int import_run(int in, const char *tag, const char *image, bool quiet, bool json)
{
	const char *words[] = { "image", "import", "-",	 "--tag", tag,	"--format",
				"tar",	 NULL,	   NULL, NULL,	  NULL, NULL };
	unsigned n = 7;
	int status;
	pid_t pid;

	if (strcmp(image, "host")) {
		words[n++] = "--base";
		words[n++] = image;
	}
	if (quiet)
		words[n++] = "-q";
	if (json)
		words[n++] = "--json";
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		dup2(in, 0);
		_exit(program_run("viv-store", (char **)(uintptr_t)words));
	}
	close(in);
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return ERR_FAILED;
	return WIFEXITED(status) ? WEXITSTATUS(status) : ERR_FAILED;
}

/* The tree has to stand still: the cell is sealed first. One that cannot be, as there are too many layers, is held instead, if it
 * does not run. */
static int commit_view(struct view *v, const struct store *s, const struct cell_ref *ref,
		       struct err *e)
{
	struct layer_ref sealed;
	struct err other;
	int err;

	if (ref->snapshot[0])
		return view_open(v, s, ref, DISK_PEEK, e);
	if (cell_seal(s, ref->name, "", &sealed, e) < 0)
		return e->kind == ERR_FAILED && view_open(v, s, ref, DISK_SHARED, &other) == 0 ? 0
											       : -1;
	if (view_open(v, s, ref, DISK_PEEK, e) < 0)
		return -1;
	disk_chain_close(&v->place.chain);
	err = disk_chain_with(s->fd, &v->place.disk, sealed.n, &v->place.chain);
	if (err) {
		view_close(v);
		return err_set(e, ERR_FAILED, "the disk of cell '%s' cannot be read: %s", ref->name,
			       strerror(-err));
	}
	return 0;
}

static int commit_do(const struct store *s, const char *cell, const char *tag, bool quiet,
		     bool json, struct err *e)
{
	static struct view v;
	struct run_tell what = { .mode = MODE_TAR, .whole = true };
	struct cell_ref ref;
	struct teller t;
	int status, told;

	/* The importer would say so too, but after others have begun to talk to it. */
	if (!tag_is_valid(tag))
		return tag_set(s, tag, "", e);
	if (cell_ref_parse(cell, &ref, e) < 0 || commit_view(&v, s, &ref, e) < 0)
		return -1;
	what.objects = v.place.stored;
	if (teller_start(&v.place, &what, &t, e) < 0) {
		view_close(&v);
		return -1;
	}
	status = import_run(t.fd, tag, v.place.cell.image, quiet, json);
	t.fd = -1;
	told = teller_end(&t, e);
	view_close(&v);
	if (status) /* it has said why */
		return err_set(e, status > 0 && status <= 5 ? (enum err_kind)status : ERR_FAILED,
			       "no image was made of cell '%s'", ref.name);
	return told ? err_wrap(e, "no image was made of cell '%s'", ref.name) : 0;
}

int commit_main(int argc, char **argv)
{
	struct args a;
	int status = args_take(&a, argc, argv), lock;
	const char *tag;
	struct store s;
	struct err e;

	if (status)
		return status;
	tag = arg_value(&a, "tag");
	if (!tag || !*tag)
		return args_wrong(a.verb, "--tag is missing");
	if (store_open(&s, &e) < 0)
		return report(&e);
	lock = store_lock(&s, false, NULL, &e);
	if (lock < 0 || commit_do(&s, a.words[0], tag, arg_is_on(&a, "quiet"), a.json, &e) < 0)
		status = report(&e);
	if (lock >= 0)
		close(lock);
	store_close(&s);
	return status;
}
