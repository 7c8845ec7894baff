/* Reading an index; the format and the rules are in index.h. Every number is copied out of the map
 * once and checked before it is used, so that not even a map that changes leads outside of it. */
#include "store/index.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
	       "an index is read as it lies in the file");

static bool table_is_inside(const struct index_table *t, uint64_t item, uint64_t size)
{
	return t->offset >= sizeof(struct index_header) && t->offset % 8 == 0 &&
	       t->offset <= size && t->count <= (size - t->offset) / item;
}

int index_open(const void *map, size_t size, struct index *ix)
{
	struct index_header *h = &ix->h;

	if (size < sizeof(*h))
		return -EBADMSG;
	memcpy(h, map, sizeof(*h));
	if (memcmp(h->magic, INDEX_MAGIC, sizeof(h->magic)) || h->version != INDEX_VERSION ||
	    h->flags || h->file_size != size)
		return -EBADMSG;
	if (!table_is_inside(&h->nodes, sizeof(struct index_node), size) ||
	    !table_is_inside(&h->dirents, sizeof(struct index_dirent), size) ||
	    !table_is_inside(&h->objects, sizeof(struct index_object), size) ||
	    !table_is_inside(&h->strings, 1, size) || !table_is_inside(&h->xattrs, 1, size) ||
	    !table_is_inside(&h->config, 1, size))
		return -EBADMSG;
	if (!h->nodes.count || h->nodes.count > UINT32_MAX || h->dirents.count > UINT32_MAX ||
	    h->objects.count > UINT32_MAX || h->strings.count > UINT32_MAX)
		return -EBADMSG;
	/* A time that no clock of a guest can show is a mistake. */
	if (h->time < 0 || h->time > UINT32_MAX)
		return -EBADMSG;
	ix->map = map;
	ix->size = size;
	return 0;
}

int index_object(const struct index *ix, uint64_t n, struct index_object *ret)
{
	if (n >= ix->h.objects.count)
		return -EBADMSG;
	memcpy(ret, ix->map + ix->h.objects.offset + n * sizeof(*ret), sizeof(*ret));
	return ret->size && ret->size <= INT64_MAX ? 0 : -EBADMSG;
}

static bool node_is_sound(const struct index *ix, const struct index_node *node)
{
	const struct index_header *h = &ix->h;
	struct index_object object;

	if (node->mode & ~(uint32_t)(S_IFMT | 07777) || node->reserved || !node->nlink ||
	    node->uid == UINT32_MAX || node->gid == UINT32_MAX)
		return false;
	if (node->xattr && ((uint64_t)node->xattr - 1) * 8 >= h->xattrs.count)
		return false;
	if (!S_ISDIR(node->mode) && node->parent)
		return false;
	switch (node->mode & S_IFMT) {
	case S_IFREG:
		if (node->b)
			return false;
		if (!node->a)
			return !node->size;
		return !index_object(ix, node->a - 1, &object) && object.size == node->size;
	case S_IFDIR:
		return !node->size && node->a <= h->dirents.count &&
		       node->b <= h->dirents.count - node->a && node->parent < h->nodes.count;
	case S_IFLNK:
		return node->b && node->b <= INDEX_LINK_MAX && node->size == node->b &&
		       node->a <= h->strings.count && node->b <= h->strings.count - node->a;
	case S_IFCHR:
	case S_IFBLK:
		return !node->b && !node->size && node->a <= UINT32_MAX;
	case S_IFIFO:
		return !node->b && !node->size && !node->a;
	default:
		return false;
	}
}

int index_node(const struct index *ix, uint32_t n, struct index_node *ret)
{
	if (n >= ix->h.nodes.count)
		return -EBADMSG;
	memcpy(ret, ix->map + ix->h.nodes.offset + (uint64_t)n * sizeof(*ret), sizeof(*ret));
	if (!node_is_sound(ix, ret))
		return -EBADMSG;
	if (!S_ISDIR(ret->mode))
		return n ? 0 : -EBADMSG;
	/* The root is its own parent; any other directory comes after its parent. */
	return n ? (ret->parent < n ? 0 : -EBADMSG) : (ret->parent ? -EBADMSG : 0);
}

static int dir_node(const struct index *ix, uint32_t dir, struct index_node *ret)
{
	int err = index_node(ix, dir, ret);

	if (err)
		return err;
	return S_ISDIR(ret->mode) ? 0 : -ENOTDIR;
}

/* The name of an entry; its bytes are not looked at here. i is inside of the table. */
static int entry_name(const struct index *ix, uint64_t i, struct index_dirent *d, const char **ret)
{
	memcpy(d, ix->map + ix->h.dirents.offset + i * sizeof(*d), sizeof(*d));
	if (!d->len || d->len > INDEX_NAME_MAX || d->reserved || d->name > ix->h.strings.count ||
	    d->len > ix->h.strings.count - d->name)
		return -EBADMSG;
	*ret = (const char *)ix->map + ix->h.strings.offset + d->name;
	return 0;
}

static bool name_is_sound(const char *name, uint32_t len)
{
	if (memchr(name, '/', len) || memchr(name, '\0', len))
		return false;
	return !(name[0] == '.' && (len == 1 || (len == 2 && name[1] == '.')));
}

/* What an entry of directory dir leads to. */
static int entry_target(const struct index *ix, uint32_t dir, const struct index_dirent *d)
{
	struct index_node child;
	int err = index_node(ix, d->node, &child);

	if (err)
		return err;
	if (!d->node || d->dtype != child.mode >> 12)
		return -EBADMSG;
	if (S_ISDIR(child.mode) && (d->node <= dir || child.parent != dir))
		return -EBADMSG;
	return 0;
}

int index_entry(const struct index *ix, uint32_t dir, uint32_t i, struct index_entry *ret)
{
	struct index_node node;
	struct index_dirent d;
	int err = dir_node(ix, dir, &node);

	if (err)
		return err;
	if (i >= node.b)
		return -ENOENT;
	err = entry_name(ix, node.a + i, &d, &ret->name);
	if (!err)
		err = entry_target(ix, dir, &d);
	if (err)
		return err;
	ret->len = d.len;
	ret->dtype = d.dtype;
	ret->node = d.node;
	return name_is_sound(ret->name, d.len) ? 0 : -EBADMSG;
}

static int name_compare(const char *a, size_t alen, const char *b, size_t blen)
{
	int c = memcmp(a, b, MIN(alen, blen));

	return c ? c : (alen > blen) - (alen < blen);
}

int index_lookup(const struct index *ix, uint32_t dir, const char *name, size_t len,
		 uint32_t *ret_node, uint32_t *ret_i)
{
	struct index_node node;
	uint32_t low = 0, high;
	int err = dir_node(ix, dir, &node);

	if (err)
		return err;
	if (!len || len > INDEX_NAME_MAX || !name_is_sound(name, (uint32_t)len))
		return -ENOENT;
	high = node.b;
	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		struct index_dirent d;
		const char *other;
		int c;

		err = entry_name(ix, node.a + mid, &d, &other);
		if (err)
			return err;
		c = name_compare(name, len, other, d.len);
		if (!c) {
			err = entry_target(ix, dir, &d);
			if (err)
				return err;
			*ret_node = d.node;
			if (ret_i)
				*ret_i = mid;
			return 0;
		}
		if (c < 0)
			high = mid;
		else
			low = mid + 1;
	}
	return -ENOENT;
}

int index_link_text(const struct index *ix, uint32_t n, const char **ret, uint32_t *len)
{
	struct index_node node;
	int err = index_node(ix, n, &node);

	if (err)
		return err;
	if (!S_ISLNK(node.mode))
		return -EINVAL;
	*ret = (const char *)ix->map + ix->h.strings.offset + node.a;
	*len = node.b;
	return memchr(*ret, '\0', node.b) ? -EBADMSG : 0;
}

int index_xattr(const struct index *ix, uint32_t n, struct index_xattr *x)
{
	const uint8_t *table = ix->map + ix->h.xattrs.offset;
	uint64_t size = ix->h.xattrs.count;
	uint16_t name_len;
	uint32_t value_len;

	if (!x->end) {
		struct index_node node;
		uint64_t at;
		uint32_t total;
		int err = index_node(ix, n, &node);

		if (err)
			return err;
		if (!node.xattr)
			return -ENOENT;
		at = ((uint64_t)node.xattr - 1) * 8;
		if (size < sizeof(total) || at > size - sizeof(total))
			return -EBADMSG;
		memcpy(&total, table + at, sizeof(total));
		at += sizeof(total);
		if (!total || total > INDEX_XATTRS_MAX || total > size - at)
			return -EBADMSG;
		x->next = at;
		x->end = at + total;
	}
	if (x->next == x->end)
		return -ENOENT;
	if (x->next > x->end || x->end > size || x->end - x->next < 6)
		return -EBADMSG;
	memcpy(&name_len, table + x->next, 2);
	memcpy(&value_len, table + x->next + 2, 4);
	x->next += 6;
	if (!name_len || name_len > INDEX_XATTR_NAME_MAX || value_len > INDEX_XATTR_VALUE_MAX ||
	    (uint64_t)name_len + value_len > x->end - x->next)
		return -EBADMSG;
	x->name = (const char *)table + x->next;
	x->name_len = name_len;
	x->value = table + x->next + name_len;
	x->value_len = value_len;
	x->next += (uint64_t)name_len + value_len;
	return memchr(x->name, '\0', name_len) ? -EBADMSG : 0;
}

const void *index_config(const struct index *ix, size_t *len)
{
	*len = ix->h.config.count;
	return ix->map + ix->h.config.offset;
}

void index_object_path(uint64_t n, char path[INDEX_OBJECT_PATH])
{
	static const char digits[] = "0123456789abcdef";
	char *p = path;
	int shift = 60;

	*p++ = 'o';
	*p++ = '/';
	*p++ = digits[n >> 4 & 15];
	*p++ = digits[n & 15];
	*p++ = '/';
	while (shift && !(n >> shift))
		shift -= 4;
	for (; shift >= 0; shift -= 4)
		*p++ = digits[n >> shift & 15];
	*p = '\0';
}

/* ---- the whole file ---- */

struct checker {
	const struct index *ix;
	uint32_t *scratch; /* directory: the next entry to visit; other: how often it was met */
	uint64_t next; /* the number that the next new node must have */
	uint64_t dirent, object; /* likewise */
	const char *why;
};

static int wrong(struct checker *c, const char *why)
{
	c->why = why;
	return -EBADMSG;
}

/* Tables lie behind each other without gaps; what fills up to a multiple of 8 is zero. */
static int check_layout(struct checker *c)
{
	const struct index *ix = c->ix;
	const struct {
		const struct index_table *t;
		uint64_t item;
	} tables[] = { { &ix->h.nodes, sizeof(struct index_node) },
		       { &ix->h.dirents, sizeof(struct index_dirent) },
		       { &ix->h.objects, sizeof(struct index_object) },
		       { &ix->h.strings, 1 },
		       { &ix->h.xattrs, 1 },
		       { &ix->h.config, 1 } };
	uint64_t at = sizeof(struct index_header);

	for (unsigned i = 0; i < ARRAY_LEN(tables); i++) {
		uint64_t end = at + tables[i].t->count * tables[i].item;

		if (tables[i].t->offset != at)
			return wrong(c, "a table is not where it belongs");
		for (at = end; at % 8; at++)
			if (at >= ix->size || ix->map[at])
				return wrong(c, "the space between tables is not zero");
	}
	return at == ix->size ? 0 : wrong(c, "there is more behind the last table");
}

static int check_xattrs(struct checker *c, uint32_t n)
{
	struct index_xattr x = { 0 };
	const char *last = NULL;
	uint32_t last_len = 0;
	int err;

	while (!(err = index_xattr(c->ix, n, &x))) {
		if (last && name_compare(last, last_len, x.name, x.name_len) >= 0)
			return wrong(c, "attributes are not sorted");
		last = x.name;
		last_len = x.name_len;
	}
	return err == -ENOENT ? 0 : wrong(c, "broken attributes");
}

/* A node that the walk meets for the first time. */
static int check_new(struct checker *c, uint32_t n, const struct index_node *node)
{
	const char *text;
	uint32_t len;

	c->next++;
	if (S_ISDIR(node->mode)) {
		if (node->a != c->dirent)
			return wrong(c, "the entries of a directory are not where they belong");
		c->dirent += node->b;
	}
	if (S_ISREG(node->mode) && node->a) {
		if (node->a - 1 > c->object)
			return wrong(c, "objects are not in the order of first use");
		if (node->a - 1 == c->object)
			c->object++;
	}
	if (S_ISLNK(node->mode) && index_link_text(c->ix, n, &text, &len))
		return wrong(c, "broken symbolic link");
	return check_xattrs(c, n);
}

static int check_entry(struct checker *c, uint32_t dir, uint32_t i, struct index_entry *e)
{
	struct index_entry before;
	struct index_node node;

	if (index_entry(c->ix, dir, i, e))
		return wrong(c, "broken entry");
	if (i && (index_entry(c->ix, dir, i - 1, &before) ||
		  name_compare(before.name, before.len, e->name, e->len) >= 0))
		return wrong(c, "the names of a directory are not sorted");
	if (index_node(c->ix, e->node, &node))
		return wrong(c, "broken node");
	if (e->node > c->next || (e->node < c->next && S_ISDIR(node.mode)))
		return wrong(c, "nodes are not numbered in the order of the walk");
	if (e->node == c->next) {
		if (check_new(c, e->node, &node))
			return -EBADMSG;
		c->scratch[e->node] = 0;
	}
	if (!S_ISDIR(node.mode) && ++c->scratch[e->node] > node.nlink)
		return wrong(c, "a file has more names than links");
	return 0;
}

/* A walk without a stack: a directory's parent is in its node, its position in scratch. */
static int check_tree(struct checker *c)
{
	struct index_node node;
	uint32_t dir = 0;

	if (index_node(c->ix, 0, &node) || check_new(c, 0, &node))
		return c->why ? -EBADMSG : wrong(c, "broken root");
	c->scratch[0] = 0;
	for (;;) {
		struct index_entry e;

		if (index_node(c->ix, dir, &node))
			return wrong(c, "broken node");
		if (c->scratch[dir] < node.b) {
			if (check_entry(c, dir, c->scratch[dir]++, &e))
				return -EBADMSG;
			if (e.dtype == S_IFDIR >> 12)
				dir = e.node;
			continue;
		}
		if (!dir)
			return 0;
		dir = node.parent;
	}
}

/* Every node was met, as often as it says; a directory has a link for itself, one for its name and
 * one for each directory in it. */
static int check_links(struct checker *c)
{
	struct index_node node;

	for (uint32_t n = 0; n < c->ix->h.nodes.count; n++) {
		if (index_node(c->ix, n, &node))
			return wrong(c, "broken node");
		if (S_ISDIR(node.mode))
			c->scratch[n] = 2;
		if (S_ISDIR(node.mode) && n)
			c->scratch[node.parent]++;
	}
	for (uint32_t n = 0; n < c->ix->h.nodes.count; n++)
		if (index_node(c->ix, n, &node) || node.nlink != c->scratch[n])
			return wrong(c, "a count of links is wrong");
	return 0;
}

int index_check(const struct index *ix, uint32_t *scratch, const char **why)
{
	struct checker c = { .ix = ix, .scratch = scratch };
	int err = check_layout(&c);

	if (!err)
		err = check_tree(&c);
	if (!err && (c.next != ix->h.nodes.count || c.dirent != ix->h.dirents.count ||
		     c.object != ix->h.objects.count))
		err = wrong(&c, "something in the tables is not part of the tree");
	if (!err)
		err = check_links(&c);
	if (why)
		*why = c.why;
	return err;
}
