/* The tree in the order of the index: attributes of a file sorted, entries of a directory sorted,
 * nodes numbered by a walk. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "import/tree.h"

/* ---- attributes ---- */

bool tree_xattr_is_kept(const char *name)
{
	if (!strncmp(name, "user.", 5))
		return name[5] != '\0';
	if (!strncmp(name, "trusted.", 8))
		return strncmp(name, "trusted.overlay.", 16) != 0 && name[8] != '\0';
	/* Labels of the host's security modules and access lists are not an image's. */
	return !strcmp(name, "security.capability");
}

static int xattr_compare(const void *a, const void *b)
{
	return strcmp(((const struct tree_xattr *)a)->name, ((const struct tree_xattr *)b)->name);
}

int tree_set_xattrs(struct tree *t, uint32_t node, struct tree_xattr *list, size_t n, struct err *e)
{
	size_t start, total = 0, kept = 0;

	for (size_t i = 0; i < n; i++)
		if (tree_xattr_is_kept(list[i].name))
			list[kept++] = list[i];
	if (kept)
		qsort(list, kept, sizeof(*list), xattr_compare);
	tree_node(t, node)->xattr = 0;
	for (size_t i = 0; i < kept; i++) {
		size_t len = strlen(list[i].name);

		if (len > INDEX_XATTR_NAME_MAX || list[i].len > INDEX_XATTR_VALUE_MAX)
			return err_set(e, ERR_FAILED,
				       "the attribute '%.40s' has a value of %zu bytes; %d are "
				       "possible",
				       list[i].name, list[i].len, INDEX_XATTR_VALUE_MAX);
		total += 6 + len + list[i].len;
	}
	if (!kept)
		return 0;
	if (total > INDEX_XATTRS_MAX || t->text.len + t->xattrs.len + total > TREE_TEXT_MAX)
		return err_set(e, ERR_FAILED, "a file has %zu bytes of attributes; %u are possible",
			       total, INDEX_XATTRS_MAX);
	buf_more(&t->xattrs, -t->xattrs.len & 7);
	start = t->xattrs.len;
	buf_add(&t->xattrs, &(uint32_t){ 0 }, 4);
	for (size_t i = 0; i < kept; i++) {
		uint16_t len = (uint16_t)strlen(list[i].name);
		uint32_t value = (uint32_t)list[i].len;

		/* The last of two of one name is the one that counts. */
		if (i + 1 < kept && !strcmp(list[i].name, list[i + 1].name))
			continue;
		buf_add(&t->xattrs, &len, 2);
		buf_add(&t->xattrs, &value, 4);
		buf_add(&t->xattrs, list[i].name, len);
		buf_add(&t->xattrs, list[i].value, value);
	}
	total = t->xattrs.len - start - 4;
	memcpy(t->xattrs.p + start, &(uint32_t){ (uint32_t)total }, 4);
	tree_node(t, node)->xattr = (uint32_t)(start / 8 + 1);
	return 0;
}

/* ---- order ---- */

static int entry_compare(const void *a, const void *b, void *tree)
{
	const struct tree *t = tree;
	const struct tree_entry *x = BUF_ITEM(&t->entries, struct tree_entry, *(const uint32_t *)a);
	const struct tree_entry *y = BUF_ITEM(&t->entries, struct tree_entry, *(const uint32_t *)b);
	int c = memcmp(t->text.p + x->name, t->text.p + y->name, MIN(x->len, y->len));

	return c ? c : (x->len > y->len) - (x->len < y->len);
}

/* Gives a directory its place among the entries. */
static void dir_sort(struct tree *t, struct tree_node *dir)
{
	uint32_t start = t->nsorted;

	for (uint32_t i = dir->first; i != TREE_NONE;) {
		const struct tree_entry *e = BUF_ITEM(&t->entries, struct tree_entry, i);

		if (e->node != TREE_NONE)
			t->sorted[t->nsorted++] = i;
		i = e->next_sibling;
	}
	dir->first = start;
	dir->b = t->nsorted - start;
	if (dir->b > 1)
		qsort_r(t->sorted + start, dir->b, sizeof(uint32_t), entry_compare, t);
}

static void node_number(struct tree *t, uint32_t n)
{
	struct tree_node *node = tree_node(t, n);

	node->number = t->nordered;
	t->order[t->nordered++] = n;
	if (S_ISDIR(node->mode)) {
		node->nlink = 2;
		dir_sort(t, node);
	}
}

void tree_order(struct tree *t)
{
	size_t nodes = BUF_COUNT(&t->nodes, struct tree_node);
	struct buf stack = { 0 };
	struct level {
		uint32_t dir, next;
	} * top;

	t->order = xalloc(nodes * sizeof(uint32_t));
	t->sorted = xalloc(BUF_COUNT(&t->entries, struct tree_entry) * sizeof(uint32_t));
	t->nordered = t->nsorted = 0;
	for (size_t i = 0; i < nodes; i++) {
		tree_node(t, (uint32_t)i)->number = TREE_NONE;
		tree_node(t, (uint32_t)i)->nlink = 0;
	}
	node_number(t, TREE_ROOT);
	buf_more(&stack, sizeof(*top));
	while (stack.len) {
		const struct tree_node *dir;
		struct tree_node *node;
		uint32_t n;

		top = BUF_ITEM(&stack, struct level, BUF_COUNT(&stack, struct level) - 1);
		dir = tree_node(t, top->dir);
		if (top->next == dir->b) {
			stack.len -= sizeof(*top);
			continue;
		}
		n = BUF_ITEM(&t->entries, struct tree_entry, t->sorted[dir->first + top->next++])
			    ->node;
		node = tree_node(t, n);
		if (node->number == TREE_NONE) {
			node_number(t, n);
			if (S_ISDIR(node->mode)) {
				tree_node(t, node->parent)->nlink++;
				top = buf_more(&stack, sizeof(*top));
				top->dir = n;
				continue;
			}
		}
		node->nlink++;
	}
	buf_free(&stack);
}
