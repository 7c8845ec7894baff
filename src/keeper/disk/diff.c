/* Differences between two trees of disks, as kernels tell them (changes.h).
 *
 * Two trees are compared with what they both stand on: the image, or the layers that the chains of
 * both begin with. A kernel for each tells the differences to that, in one order, and they are
 * merged here path by path. Where one of them is itself what both stand on, the other's differences
 * are the answer. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/jsontext.h"
#include "base/utf8.h"
#include "keeper/disk/patch.h"
#include "keeper/disk/tool.h"

/* ---- a list ---- */

/* A name is the guest's, and JSON is UTF-8. */
static bool line_print(char kind, const char *path)
{
	size_t n = strlen(path);
	char *coded;

	printf("{\"kind\":\"%c\",", kind);
	if (text_is_utf8(path, n)) {
		printf("\"path\":");
		json_quoted(stdout, path);
	} else {
		coded = malloc(BASE64_SIZE(n));
		if (!coded)
			return false;
		base64_encode(coded, path, n);
		printf("\"path_base64\":\"%.*s\"", (int)BASE64_SIZE(n), coded);
		free(coded);
	}
	printf("}\n");
	return true;
}

static bool side_is_same(const struct change_side *a, const struct change_side *b)
{
	return a->type == b->type && a->mode == b->mode && a->uid == b->uid && a->gid == b->gid &&
	       a->size == b->size && !strcmp(a->id, b->id) &&
	       (a->type == 'd' || !strcmp(a->when, b->when));
}

/* ---- merging ---- */

struct merge {
	struct change_stream streams[2];
	bool open[2], ended[2];
	struct change next[2]; /* path NULL: to be read */
	enum diff_form form;
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
static int leaf_check(struct merge *m, unsigned i, const char *path, const struct change_side *s,
		      struct err *e)
{
	if (!s->type)
		return 0;
	if (m->leaf[i] && change_path_is_below(path, m->leaf[i]))
		return nonsense(e);
	if (s->type != 'd' && !keep(&m->leaf[i], path))
		return err_set(e, ERR_FAILED, "out of memory");
	return 0;
}

static int change_print(struct merge *m, const char *path, const struct change_side *old,
			const struct change_side *new, struct err *e)
{
	if (leaf_check(m, 0, path, old, e) < 0 || leaf_check(m, 1, path, new, e) < 0)
		return -1;
	if (!old->type && !new->type)
		return 0;
	if (m->form == DIFF_PATCH) {
		if ((old->content == '=') != (new->content == '='))
			return nonsense(e);
		return patch_print(path, old, new) ? 0 : err_set(e, ERR_FAILED, "out of memory");
	}
	/* What goes with its directory is not listed. */
	if (!new->type && m->gone &&change_path_is_below(path, m->gone))
		return 0;
	if (old->type == 'd' && new->type != 'd' && !keep(&m->gone, path))
		return err_set(e, ERR_FAILED, "out of memory");
	if (!line_print(!old->type ? 'A' : !new->type ? 'D' : 'C', path))
		return err_set(e, ERR_FAILED, "out of memory");
	return 0;
}

/* A content that is the base's is given by the other one, if at all: it tells the base's when it
 * has another. */
static struct change_side content_find(const struct change_side *s, const struct change_side *other,
				       const struct change_side *base)
{
	struct change_side ret = *s;

	if (s->content == '=' && other->content != '=' && base->type == 'f') {
		ret.content = base->content;
		ret.size = base->size;
		ret.data = base->data;
	}
	return ret;
}

/* One path: told by the first, the second, or both. */
static int merge_one(struct merge *m, const struct change *a, const struct change *b, struct err *e)
{
	struct change_side old, new;

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
	r = changes_next(&m->streams[i], &m->next[i], e);
	m->ended[i] = r == 0;
	return r < 0 ? -1 : 0;
}

static int merge_run(struct merge *m, struct err *e)
{
	struct change *a = &m->next[0], *b = &m->next[1];

	for (;;) {
		int order, r;

		if (merge_fetch(m, 0, e) < 0 || merge_fetch(m, 1, e) < 0)
			return -1;
		if (!a->path && !b->path)
			return 0;
		order = !a->path ? 1 : !b->path ? -1 : change_path_compare(a->path, b->path);
		r = merge_one(m, order <= 0 ? a : NULL, order >= 0 ? b : NULL, e);
		if (order <= 0)
			change_fini(a);
		if (order >= 0)
			change_fini(b);
		if (r < 0)
			return -1;
	}
}

/* ---- two trees ---- */

/* How many layers both chains begin with. */
static uint32_t common_layers(const struct view *from, const struct view *to)
{
	const struct disk_chain *a = &from->rootfs.chain, *b = &to->rootfs.chain;
	uint32_t n = 0;

	while (n < a->n && n < b->n && !strcmp(a->links[n].ref.disk, b->links[n].ref.disk) &&
	       a->links[n].ref.n == b->links[n].ref.n)
		n++;
	return n;
}

static int diff_views(struct view *from, struct view *to, enum diff_form form, struct err *e)
{
	struct view *views[2] = { from, to };
	uint32_t common = from ? common_layers(from, to) : 0;
	struct merge m = { .form = form };
	int ret = 0;

	if (from && strcmp(from->rootfs.cell.image, to->rootfs.cell.image))
		return err_set(e, ERR_CONFLICT, "cells '%s' and '%s' have different images",
			       from->rootfs.cell.name, to->rootfs.cell.name);
	for (unsigned i = 0; i < 2 && ret == 0; i++) {
		if (!views[i] || views[i]->rootfs.chain.n == common)
			continue;
		ret = changes_open(&m.streams[i], views[i], common, form == DIFF_PATCH, e);
		m.open[i] = ret == 0;
	}
	if (ret == 0)
		ret = merge_run(&m, e);
	for (unsigned i = 0; i < 2; i++) {
		change_fini(&m.next[i]);
		if (m.open[i])
			changes_close(&m.streams[i]);
		free(m.leaf[i]);
	}
	free(m.gone);
	if (ret == 0 && (fflush(stdout) || ferror(stdout)))
		ret = err_set(e, ERR_FAILED, "cannot write the differences: %s", strerror(errno));
	return ret;
}

int diff_print(const struct store *s, const struct cell_ref *from, const struct cell_ref *to,
	       enum diff_form form, struct err *e)
{
	static struct view a, b;
	int ret;

	if (view_open(&b, s, to, DISK_PEEK, e) < 0)
		return -1;
	if (!from) {
		ret = diff_views(NULL, &b, form, e);
	} else {
		ret = view_open(&a, s, from, DISK_PEEK, e);
		if (ret == 0) {
			ret = diff_views(&a, &b, form, e);
			view_close(&a);
		}
	}
	view_close(&b);
	return ret;
}
