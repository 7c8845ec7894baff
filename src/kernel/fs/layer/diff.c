/* The difference of two layers above the same image, path by path.
 *
 * Both trees are walked together, with a stack of our own. Where both show the same directory of
 * the image in its place, only the names that one of them has changed are looked at, so that the
 * image is not walked, unless a changed file may have further names there; elsewhere all of both.
 * Names are sorted, so the same trees give the same order. */
#include "kernel/fs/layer/diff.h"

#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "kernel/fs/layer/store.h"
#include "kernel/vfs/dir.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/fs.h"
#include "kernel/vfs/inode.h"
#include "kernel/vfs/path.h"

struct names {
	struct dirsink sink; /* first */
	char *buf; /* blob: length byte, name, again */
	size_t len, cap;
	uint32_t *at; /* blob of offsets */
	uint32_t n, at_cap;
	bool failed;
};

struct level {
	struct inode *from, *to; /* counted; one may be NULL */
	bool same; /* both are the same directory of the image */
	struct names names;
	uint32_t next;
	uint32_t path_len;
};

struct diff {
	struct fs *from, *to;
	/* what was changed may have names that only the image has, so all of it is walked */
	bool whole;
	int (*fn)(void *arg, const struct tree_visit *v);
	void *arg;
	struct level *levels; /* blob of TREE_DEPTH_MAX */
	uint32_t depth;
	char *path; /* blob of TREE_PATH_MAX */
	int closed; /* directories that could not be read */
};

/* ---- names ---- */

static bool names_add(struct names *ns, const char *name, size_t len)
{
	if (ns->len + 1 + len > ns->cap) {
		size_t cap = ns->cap ? ns->cap * 2 : 4096;
		char *p = blob_resize(ns->buf, ns->cap, cap);

		if (!p)
			return false;
		ns->buf = p;
		ns->cap = cap;
	}
	if (ns->n == ns->at_cap) {
		uint32_t cap = ns->at_cap ? ns->at_cap * 2 : 256;
		uint32_t *p = blob_resize(ns->at, ns->at_cap * sizeof(*p), cap * sizeof(*p));

		if (!p)
			return false;
		ns->at = p;
		ns->at_cap = cap;
	}
	ns->at[ns->n++] = (uint32_t)ns->len;
	ns->buf[ns->len] = (char)len;
	memcpy(ns->buf + ns->len + 1, name, len);
	ns->len += 1 + len;
	return true;
}

static bool names_emit(struct dirsink *s, const char *name, size_t len, uint64_t ino,
		       unsigned dtype, int64_t next)
{
	struct names *ns = (struct names *)s;

	(void)ino, (void)dtype, (void)next;
	if (name[0] == '.' && (len == 1 || (len == 2 && name[1] == '.')))
		return true;
	if (!names_add(ns, name, len))
		ns->failed = true;
	return !ns->failed;
}

static int names_cmp(const struct names *ns, uint32_t a, uint32_t b)
{
	const char *x = ns->buf + a, *y = ns->buf + b;
	size_t xl = (uint8_t)*x, yl = (uint8_t)*y;
	int r = memcmp(x + 1, y + 1, MIN(xl, yl));

	return r ? r : xl < yl ? -1 : xl > yl;
}

static void sift(struct names *ns, uint32_t i, uint32_t n)
{
	for (uint32_t child; (child = 2 * i + 1) < n; i = child) {
		uint32_t tmp;

		if (child + 1 < n && names_cmp(ns, ns->at[child], ns->at[child + 1]) < 0)
			child++;
		if (names_cmp(ns, ns->at[i], ns->at[child]) >= 0)
			return;
		tmp = ns->at[i];
		ns->at[i] = ns->at[child];
		ns->at[child] = tmp;
	}
}

/* Sorted, each once. In place, and without the C library, whose sort takes memory of its own. */
static void names_sort(struct names *ns)
{
	uint32_t n = ns->n, out = 0;

	for (uint32_t i = n / 2; i-- > 0;)
		sift(ns, i, n);
	while (n > 1) {
		uint32_t tmp = ns->at[0];

		ns->at[0] = ns->at[--n];
		ns->at[n] = tmp;
		sift(ns, 0, n);
	}
	for (uint32_t i = 0; i < ns->n; i++)
		if (!out || names_cmp(ns, ns->at[out - 1], ns->at[i]))
			ns->at[out++] = ns->at[i];
	ns->n = out;
}

static void names_fini(struct names *ns)
{
	if (ns->buf)
		blob_free(ns->buf, ns->cap);
	if (ns->at)
		blob_free(ns->at, ns->at_cap * sizeof(*ns->at));
	memset(ns, 0, sizeof(*ns));
}

static int names_all(struct names *ns, struct inode *dir)
{
	struct file f = { .ops = dir->fops, .inode = dir, .mode = FMODE_READ };
	int r = f.ops->iterate(&f, &ns->sink);

	f.ops->release(&f);
	return ns->failed ? -ENOMEM : r;
}

static int names_changed(struct names *ns, struct inode *dir)
{
	struct lentry *e;

	list_for_each(e, &lnode_of(dir)->table.order, order)
		if (e->kind != ENTRY_MIRROR && !names_add(ns, e->str, e->len))
			return -ENOMEM;
	return 0;
}

static int names_collect(struct diff *d, struct level *lv)
{
	struct names *ns = &lv->names;
	int r = 0;

	ns->sink.emit = names_emit;
	if (lv->from)
		r = lv->same && !d->whole ? names_changed(ns, lv->from) : names_all(ns, lv->from);
	/* A directory of the host that not everybody may read: that much is told of it as can
	 * be. */
	if (r == -EACCES)
		r = 0;
	if (r == 0 && lv->to)
		r = lv->same && !d->whole ? names_changed(ns, lv->to) : names_all(ns, lv->to);
	if (r == -EACCES) {
		d->closed++;
		r = 0;
	}
	if (r == 0)
		names_sort(ns);
	return r;
}

/* ---- comparing ---- */

struct content_id layer_content_id(struct inode *ino)
{
	struct lnode *n = lnode_of(ino);
	struct layer *l = layer_of(n);
	int64_t object = -1;

	if (n->own_content)
		return n->scratch ? (struct content_id){ (int32_t)n->content.where, n->scratch }
				  : (struct content_id){ -2, 0 };
	if (l->lower && n->lower && l->lower->ops->object)
		object = CHECKED(l->lower->ops)->object(l->lower, n->lower);
	return (struct content_id){ -1, (uint64_t)object };
}

static bool time_is_same(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

static bool is_same_text(struct inode *a, struct inode *b)
{
	static char x[PATH_MAX_LEN], y[PATH_MAX_LEN];
	int xl = CHECKED(a->ops)->readlink(a, NULL, x, sizeof(x));
	int yl = CHECKED(b->ops)->readlink(b, NULL, y, sizeof(y));

	return xl >= 0 && xl == yl && memcmp(x, y, (size_t)xl) == 0;
}

static bool is_same_xattrs(struct inode *a, struct inode *b)
{
	static char names[XATTR_BYTES_MAX], other[XATTR_BYTES_MAX];
	static char x[XATTR_BYTES_MAX], y[XATTR_BYTES_MAX];
	int n = layer_listxattr(a, names, sizeof(names));

	if (n != layer_listxattr(b, other, sizeof(other)))
		return false;
	for (int at = 0; at < n; at += (int)strlen(names + at) + 1) {
		int xl = layer_getxattr(a, names + at, x, sizeof(x));
		int yl = layer_getxattr(b, names + at, y, sizeof(y));

		if (xl != yl || (xl > 0 && memcmp(x, y, (size_t)xl)))
			return false;
	}
	return true;
}

bool layer_content_is_same(struct inode *a, struct inode *b)
{
	struct content_id x = layer_content_id(a), y = layer_content_id(b);

	if (x.layer != y.layer || x.number != y.number)
		return false;
	/* The image's own: in both the same path of it, or not told apart by what is cheap to
	 * ask. */
	return x.layer != -1 || x.number != UINT64_MAX || (a->ino == b->ino && a->size == b->size);
}

static bool is_changed(struct inode *a, struct inode *b)
{
	if (a->mode != b->mode || a->uid != b->uid || a->gid != b->gid || a->rdev != b->rdev)
		return true;
	if (inode_is_lnk(a) && !is_same_text(a, b))
		return true;
	if (inode_is_reg(a) &&
	    (!layer_content_is_same(a, b) || !time_is_same(&a->mtime, &b->mtime)))
		return true;
	return !is_same_xattrs(a, b);
}

/* Neither has touched it: both only show what the image has. */
static bool is_untouched(struct inode *a, struct inode *b)
{
	return lnode_of(a)->home && lnode_of(b)->home;
}

/* ---- walking ---- */

static int lookup(struct inode *dir, const char *name, size_t len, struct inode **ret_)
{
	int r = dir ? CHECKED(dir->ops)->lookup(dir, name, len, ret_) : -ENOENT;

	if (r < 0)
		*ret_ = NULL;
	if (r == 0 && inode_is_reg(*ret_))
		r = lnode_load(lnode_of(*ret_));
	return r == -ENOENT || r == -EACCES ? 0 : r;
}

/* Takes both references. */
static int level_push(struct diff *d, struct inode *from, struct inode *to, bool same,
		      uint32_t path_len)
{
	struct level *lv = &d->levels[d->depth];
	int r = -ENAMETOOLONG;

	if (d->depth < TREE_DEPTH_MAX) {
		*lv = (struct level){ .from = from, .to = to, .same = same, .path_len = path_len };
		r = names_collect(d, lv);
		if (r == 0) {
			d->depth++;
			return 0;
		}
		names_fini(&lv->names);
	}
	inode_put(from);
	inode_put(to);
	return r;
}

static void level_pop(struct diff *d)
{
	struct level *lv = &d->levels[--d->depth];

	names_fini(&lv->names);
	inode_put(lv->from);
	inode_put(lv->to);
}

/* One name of the level on top. Takes the references. */
static int visit(struct diff *d, const struct level *lv, uint32_t path_len, struct inode *from,
		 struct inode *to)
{
	struct tree_visit v = { .path = d->path,
				.path_len = path_len,
				.inode = to ? to : from,
				.from = from,
				.nested = !to && !lv->to };
	bool same = lv->same && from && to && lnode_of(from)->lower && lnode_of(to)->lower &&
		    !lnode_of(from)->moved && !lnode_of(to)->moved;
	int r = 0;

	if (from && to && same && is_untouched(from, to) && !(d->whole && inode_is_dir(to))) {
		inode_put(from);
		inode_put(to);
		return 0;
	}
	if (!to)
		v.kind = from ? 'D' : 0;
	else
		v.kind = !from ? 'A' : is_changed(from, to) ? 'C' : 0;
	if (v.kind)
		r = d->fn(d->arg, &v);
	if (from && !inode_is_dir(from)) {
		inode_put(from);
		from = NULL;
	}
	if (to && !inode_is_dir(to)) {
		inode_put(to);
		to = NULL;
	}
	if (r == 0 && (from || to))
		return level_push(d, from, to, same && from && to, path_len);
	inode_put(from);
	inode_put(to);
	return r;
}

static int step(struct diff *d)
{
	struct level *lv = &d->levels[d->depth - 1];
	struct inode *from, *to;
	const char *name;
	size_t len, at = lv->path_len;
	int r;

	if (lv->next == lv->names.n) {
		level_pop(d);
		return 0;
	}
	name = lv->names.buf + lv->names.at[lv->next++];
	len = (uint8_t)*name++;
	if (at + 1 + len + 1 > TREE_PATH_MAX)
		return -ENAMETOOLONG;
	if (at)
		d->path[at++] = '/';
	memcpy(d->path + at, name, len);
	d->path[at + len] = '\0';
	r = lookup(lv->from, name, len, &from);
	if (r == 0) {
		r = lookup(lv->to, name, len, &to);
		if (r < 0)
			inode_put(from);
	}
	return r ? r : visit(d, lv, (uint32_t)(at + len), from, to);
}

/* The host's own files are too many to be walked: of those, the names by which a file was changed
 * are told. */
static bool has_loose(struct fs *fs)
{
	const struct layer *l = (const struct layer *)fs;

	return fs && l->lower && !l->lower->guarded && links_have_loose(l);
}

int tree_diff(struct fs *from, struct fs *to, int (*fn)(void *arg, const struct tree_visit *v),
	      void *arg)
{
	struct diff d = { .from = from, .to = to, .fn = fn, .arg = arg };
	int r = -ENOMEM;

	d.whole = has_loose(from) || has_loose(to);
	d.levels = blob_new(TREE_DEPTH_MAX * sizeof(*d.levels));
	d.path = blob_new(TREE_PATH_MAX);
	if (d.levels && d.path) {
		struct tree_visit v = { .kind = from ? 'C' : 'A',
					.path = "",
					.inode = to->root,
					.from = from ? from->root : NULL };

		r = !from || is_changed(from->root, to->root) ? fn(arg, &v) : 0;
	}
	if (r == 0)
		r = level_push(&d, from ? inode_get(from->root) : NULL, inode_get(to->root),
			       from != NULL, 0);
	while (r == 0 && d.depth)
		r = step(&d);
	while (d.depth)
		level_pop(&d);
	if (d.levels)
		blob_free(d.levels, TREE_DEPTH_MAX * sizeof(*d.levels));
	if (d.path)
		blob_free(d.path, TREE_PATH_MAX);
	return r < 0 ? r : d.closed;
}

/* ---- whether all is there ---- */

int64_t layer_check(struct fs *fs, void (*fn)(void *arg, uint32_t layer, uint64_t number),
		    void *arg)
{
	struct layer *l = (struct layer *)fs;
	struct lstore *s = l->store;
	int64_t bad = 0;
	struct lnode *n;
	struct stat st;

	list_for_each(n, &l->nodes, all_link) {
		const struct lcontent *c = &n->content;
		int r;

		if (!s || !n->own_content || !n->scratch)
			continue;
		r = store_content_stat(s, c->where, n->scratch, &st);
		if (r == 0 && (c->before == CONTENT_NONE || (uint64_t)st.st_size >= c->hint))
			continue;
		if (r < 0 && r != -ENOENT && r != -EIO)
			return r;
		fn(arg, s->chain[c->where].number, n->scratch);
		bad++;
	}
	return bad;
}
