/* The tree of an image while it is made; see tree.h. */
#include "import/tree.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PATH_BYTES_MAX 4096
#define LINKS_MAX 40 /* as Linux */
#define TABLE_MIN 4096

static struct tree_entry *entry(const struct tree *t, uint32_t i)
{
	return BUF_ITEM(&t->entries, struct tree_entry, i);
}

static const char *text(const struct tree *t, uint64_t at)
{
	return (const char *)t->text.p + at;
}

static uint32_t node_new(struct tree *t)
{
	uint32_t n = (uint32_t)BUF_COUNT(&t->nodes, struct tree_node);
	struct tree_node *node = buf_more(&t->nodes, sizeof(*node));

	node->first = TREE_NONE;
	return n;
}

void tree_init(struct tree *t, uint64_t max_nodes)
{
	*t = (struct tree){ .max_nodes = MIN(max_nodes, UINT32_MAX - 16), .table_size = TABLE_MIN };
	t->table = xalloc(TABLE_MIN * sizeof(uint32_t));
	memset(t->table, 0xff, TABLE_MIN * sizeof(uint32_t));
	node_new(t);
	tree_reset_root(t);
}

void tree_reset_root(struct tree *t)
{
	struct tree_node *root = tree_node(t, TREE_ROOT);

	root->mode = S_IFDIR | 0755;
	root->uid = root->gid = 0;
	root->xattr = 0;
}

void tree_fini(struct tree *t)
{
	buf_free(&t->nodes);
	buf_free(&t->entries);
	buf_free(&t->text);
	buf_free(&t->xattrs);
	free(t->table);
	free(t->order);
	free(t->sorted);
}

/* ---- names ---- */

/* FNV-1a with a last mix. An attacker who makes names collide slows down his own import, which can
 * be interrupted; the key of the table is random all the same. */
static uint32_t name_hash(const struct tree *t, uint32_t dir, const char *name, size_t len)
{
	uint64_t h =
		0xcbf29ce484222325u ^ (uint64_t)(uintptr_t)t->table ^ dir * 0x9e3779b97f4a7c15u;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (uint8_t)name[i]) * 0x100000001b3u;
	h ^= h >> 32;
	h *= 0xd6e8feb86659fd93u;
	return (uint32_t)(h >> 32) & (t->table_size - 1);
}

static void table_grow(struct tree *t)
{
	uint32_t n = (uint32_t)BUF_COUNT(&t->entries, struct tree_entry);

	if (n < t->table_size)
		return;
	free(t->table);
	t->table_size *= 2;
	t->table = xalloc(t->table_size * sizeof(uint32_t));
	memset(t->table, 0xff, t->table_size * sizeof(uint32_t));
	for (uint32_t i = 0; i < n; i++) {
		struct tree_entry *e = entry(t, i);
		uint32_t h = name_hash(t, e->dir, text(t, e->name), e->len);

		e->next_hash = t->table[h];
		t->table[h] = i;
	}
}

static uint32_t entry_find(const struct tree *t, uint32_t dir, const char *name, size_t len)
{
	uint32_t i = t->table[name_hash(t, dir, name, len)];

	while (i != TREE_NONE) {
		const struct tree_entry *e = entry(t, i);

		if (e->dir == dir && e->len == len && !memcmp(text(t, e->name), name, len))
			return i;
		i = e->next_hash;
	}
	return TREE_NONE;
}

static int text_check(const struct tree *t, struct err *e)
{
	if (t->text.len + t->xattrs.len <= TREE_TEXT_MAX)
		return 0;
	return err_set(e, ERR_FAILED, "more than %llu MiB of names and attributes",
		       TREE_TEXT_MAX >> 20);
}

/* The entry of that name, dead or alive, or a new dead one. */
static uint32_t entry_get(struct tree *t, uint32_t dir, const char *name, size_t len)
{
	uint32_t i = entry_find(t, dir, name, len), h, at;
	struct tree_entry *e;

	if (i != TREE_NONE)
		return i;
	table_grow(t);
	at = (uint32_t)buf_add(&t->text, name, len);
	i = (uint32_t)BUF_COUNT(&t->entries, struct tree_entry);
	h = name_hash(t, dir, text(t, at), len);
	e = buf_more(&t->entries, sizeof(*e));
	*e = (struct tree_entry){ .dir = dir,
				  .node = TREE_NONE,
				  .next_hash = t->table[h],
				  .next_sibling = tree_node(t, dir)->first,
				  .name = at,
				  .len = (uint16_t)len };
	t->table[h] = i;
	tree_node(t, dir)->first = i;
	return i;
}

uint32_t tree_find(const struct tree *t, uint32_t dir, const char *name, size_t len)
{
	uint32_t i = entry_find(t, dir, name, len);

	return i == TREE_NONE ? TREE_NONE : entry(t, i)->node;
}

static int name_check(const char *name, size_t len, struct err *e)
{
	if (len > INDEX_NAME_MAX)
		return err_set(e, ERR_FAILED,
			       "a name of %zu bytes, '%.40s...': files have names of at most %d",
			       len, name, INDEX_NAME_MAX);
	if (len && !memchr(name, '/', len) && !memchr(name, '\0', len) &&
	    !(name[0] == '.' && (len == 1 || (len == 2 && name[1] == '.'))))
		return 0;
	return err_set(e, ERR_FAILED, "'%.*s' cannot be a file's name", (int)MIN(len, 100), name);
}

uint32_t tree_put(struct tree *t, uint32_t dir, const char *name, size_t len,
		  const struct tree_attr *attr, struct err *e)
{
	size_t link_len = attr->link ? strlen(attr->link) : 0;
	struct tree_node *node;
	uint32_t i, n, link_at = 0;

	if (name_check(name, len, e) < 0 || text_check(t, e) < 0)
		return TREE_NONE;
	if (S_ISLNK(attr->mode) && (!link_len || link_len > INDEX_LINK_MAX)) {
		err_set(e, ERR_FAILED,
			"the symbolic link '%.*s' has a text of %zu bytes; 1 to %d are possible",
			(int)len, name, link_len, INDEX_LINK_MAX);
		return TREE_NONE;
	}
	if (BUF_COUNT(&t->nodes, struct tree_node) >= t->max_nodes) {
		err_set(e, ERR_FAILED, "more than %llu files" REMEDY "--max-entries N allows more",
			(unsigned long long)t->max_nodes);
		return TREE_NONE;
	}
	if (link_len)
		link_at = (uint32_t)buf_add(&t->text, attr->link, link_len);
	i = entry_get(t, dir, name, len);
	n = entry(t, i)->node;
	entry(t, i)->layer = t->layer;
	/* A directory over a directory changes what it is, not what is in it. */
	if (n == TREE_NONE || !S_ISDIR(attr->mode) || !S_ISDIR(tree_node(t, n)->mode)) {
		n = node_new(t);
		entry(t, i)->node = n;
	}
	node = tree_node(t, n);
	node->mode = attr->mode & (S_IFMT | 07777);
	node->uid = attr->uid;
	node->gid = attr->gid;
	node->mtime = attr->mtime;
	node->xattr = 0;
	if (S_ISDIR(node->mode))
		node->parent = dir;
	if (S_ISLNK(node->mode)) {
		node->mode = S_IFLNK | 0777;
		node->a = link_at;
		node->b = (uint32_t)link_len;
		node->size = link_len;
	}
	if (S_ISCHR(node->mode) || S_ISBLK(node->mode))
		node->a = attr->rdev;
	return n;
}

int tree_link(struct tree *t, uint32_t dir, const char *name, size_t len, uint32_t node,
	      struct err *e)
{
	uint32_t i;

	if (name_check(name, len, e) < 0 || text_check(t, e) < 0)
		return -1;
	if (S_ISDIR(tree_node(t, node)->mode))
		return err_set(e, ERR_FAILED, "'%.*s' is a hard link to a directory", (int)len,
			       name);
	if (BUF_COUNT(&t->entries, struct tree_entry) >= t->max_nodes)
		return err_set(e, ERR_FAILED,
			       "more than %llu files" REMEDY "--max-entries N allows more",
			       (unsigned long long)t->max_nodes);
	i = entry_get(t, dir, name, len);
	entry(t, i)->node = node;
	entry(t, i)->layer = t->layer;
	return 0;
}

/* What a whiteout takes from an earlier layer, and what of this layer keeps: its own names. */
static bool entry_drop(struct tree *t, struct tree_entry *e)
{
	if (e->node == TREE_NONE)
		return false;
	if (e->layer == t->layer)
		return S_ISDIR(tree_node(t, e->node)->mode);
	e->node = TREE_NONE;
	return false;
}

void tree_drop_below(struct tree *t, uint32_t dir)
{
	struct buf todo = { 0 };

	buf_add(&todo, &dir, sizeof(dir));
	while (todo.len) {
		uint32_t i;

		todo.len -= sizeof(dir);
		memcpy(&dir, todo.p + todo.len, sizeof(dir));
		for (i = tree_node(t, dir)->first; i != TREE_NONE; i = entry(t, i)->next_sibling)
			if (entry_drop(t, entry(t, i)))
				buf_add(&todo, &entry(t, i)->node, sizeof(dir));
	}
	buf_free(&todo);
}

void tree_drop(struct tree *t, uint32_t dir, const char *name, size_t len)
{
	uint32_t i = entry_find(t, dir, name, len);

	if (i != TREE_NONE && entry_drop(t, entry(t, i)))
		tree_drop_below(t, entry(t, i)->node);
}

/* ---- paths ---- */

/* What is left of a path to walk; links put their text in front of it. */
struct walk {
	char path[16384];
	size_t at, len;
	unsigned links;
};

static bool walk_next(struct walk *w, const char **name, size_t *len)
{
	while (w->at < w->len && w->path[w->at] == '/')
		w->at++;
	*name = w->path + w->at;
	for (*len = 0; w->at < w->len && w->path[w->at] != '/'; w->at++)
		++*len;
	return *len > 0;
}

static bool walk_is_at_end(const struct walk *w)
{
	for (size_t i = w->at; i < w->len; i++)
		if (w->path[i] != '/')
			return false;
	return true;
}

static bool walk_link(struct walk *w, const struct tree *t, const struct tree_node *link)
{
	size_t rest = w->len - w->at;

	if (++w->links > LINKS_MAX || link->b + 1 + rest > sizeof(w->path))
		return false;
	memmove(w->path + link->b + 1, w->path + w->at, rest);
	memcpy(w->path, text(t, link->a), link->b);
	w->path[link->b] = '/';
	w->at = 0;
	w->len = link->b + 1 + rest;
	return true;
}

/* Walks all but the last name; make: what is missing on the way. */
static int walk_run(struct tree *t, struct walk *w, bool make, uint32_t *ret_dir,
		    const char **ret_name, size_t *ret_len, struct err *e)
{
	static const struct tree_attr plain = { .mode = S_IFDIR | 0755 };
	uint32_t dir = TREE_ROOT;
	const char *name;
	size_t len;

	*ret_name = NULL;
	*ret_len = 0;
	while (walk_next(w, &name, &len)) {
		uint32_t n;

		if (len == 1 && name[0] == '.')
			continue;
		if (len == 2 && name[0] == '.' && name[1] == '.') {
			/* Only out of links: at the root it stays there. */
			dir = tree_node(t, dir)->parent;
			continue;
		}
		if (walk_is_at_end(w)) {
			*ret_name = name;
			*ret_len = len;
			break;
		}
		n = tree_find(t, dir, name, len);
		if (n != TREE_NONE && S_ISLNK(tree_node(t, n)->mode)) {
			if (tree_node(t, n)->b && text(t, tree_node(t, n)->a)[0] == '/')
				dir = TREE_ROOT;
			if (!walk_link(w, t, tree_node(t, n)))
				return err_set(e, ERR_FAILED, "too many symbolic links on the way");
			continue;
		}
		if (n != TREE_NONE && !S_ISDIR(tree_node(t, n)->mode)) {
			if (!make)
				return err_set(e, ERR_FAILED, "not a directory");
			n = TREE_NONE; /* a later entry makes it a directory */
		}
		if (n == TREE_NONE && make)
			n = tree_put(t, dir, name, len, &plain, e);
		if (n == TREE_NONE)
			return -1;
		if (make)
			entry(t, entry_find(t, dir, name, len))->layer = t->layer;
		dir = n;
	}
	*ret_dir = dir;
	return 0;
}

static void walk_start(struct walk *w, const char *path, size_t len)
{
	w->at = 0;
	w->links = 0;
	w->len = len; /* of a path that was checked */
	memcpy(w->path, path, len);
}

/* The names of a path as it was given: none may be '..' or too long. */
static int path_check(const char *path, size_t len, struct err *e)
{
	size_t at = 0;

	if (memchr(path, '\0', len))
		return err_set(e, ERR_FAILED, "a name with a zero byte in it");
	if (len > PATH_BYTES_MAX)
		return err_set(e, ERR_FAILED, "a path of %zu bytes, '%.40s...': %d are possible",
			       len, path, PATH_BYTES_MAX);
	while (at < len) {
		const char *slash = memchr(path + at, '/', len - at);
		size_t n = slash ? (size_t)(slash - path) - at : len - at;

		if (n == 2 && !memcmp(path + at, "..", 2))
			return err_set(e, ERR_FAILED,
				       "the name '%.*s' leads out of the tree with '..'",
				       (int)MIN(len, 200), path);
		if (n > INDEX_NAME_MAX)
			return name_check(path + at, n, e);
		at += n + 1;
	}
	return 0;
}

int tree_walk(struct tree *t, const char *path, size_t len, uint32_t *ret_dir,
	      const char **ret_name, size_t *ret_len, struct err *e)
{
	static struct walk w;

	if (path_check(path, len, e) < 0)
		return -1;
	walk_start(&w, path, len);
	if (walk_run(t, &w, true, ret_dir, ret_name, ret_len, e) < 0)
		return -1;
	/* The name stays in w, which lives until the next walk; callers use it before that. */
	return 0;
}

uint32_t tree_find_path(struct tree *t, const char *path, size_t len)
{
	static struct walk w;
	struct err e;
	uint32_t dir;
	const char *name;
	size_t n;

	if (path_check(path, len, &e) < 0)
		return TREE_NONE;
	walk_start(&w, path, len);
	if (walk_run(t, &w, false, &dir, &name, &n, &e) < 0)
		return TREE_NONE;
	return name ? tree_find(t, dir, name, n) : dir;
}
