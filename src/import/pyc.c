/* .pyc files: Python compiles a source again when its time is not the one that the .pyc records. In
 * an image every source has the same time, so object.c writes that time into each .pyc. One that
 * did not fit its source before must not fit it now: it gets the time 0 instead. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "import/import.h"

/* The source that Python would look at: D/__pycache__/NAME.TAG.pyc is of D/NAME.py, D/NAME.pyc of
 * D/NAME.py. */
static uint32_t source_find(const struct tree *t, const struct tree_entry *entry)
{
	const char *name = (const char *)t->text.p + entry->name;
	const struct tree_node *dir = tree_node(t, entry->dir);
	uint32_t where = entry->dir;
	size_t len = entry->len - 4;
	char source[INDEX_NAME_MAX + 4];

	if (tree_find(t, dir->parent, "__pycache__", 11) == entry->dir) {
		const char *dot;

		/* foo.cpython-311.pyc, foo.cpython-311.opt-1.pyc */
		dot = memchr(name, '.', len);
		if (!dot)
			return TREE_NONE;
		len = (size_t)(dot - name);
		where = dir->parent;
	}
	if (len + 3 > INDEX_NAME_MAX)
		return TREE_NONE;
	memcpy(source, name, len);
	memcpy(source + len, ".py", 3);
	return tree_find(t, where, source, len + 3);
}

static int pyc_spoil(struct import *im, uint32_t node, struct err *e)
{
	struct tree_node *n = tree_node(&im->tree, node);
	uint8_t *data;
	uint32_t object;
	ssize_t got;
	int fd;

	if (n->size > (256u << 20))
		return 0;
	fd = object_open(&im->objects, (uint32_t)n->a - 1);
	data = xalloc(n->size);
	got = fd < 0 ? -1 : read(fd, data, n->size);
	if (fd >= 0)
		close(fd);
	if (got != (ssize_t)n->size || n->size < 16) {
		free(data);
		return err_set(e, ERR_FAILED, "cannot read an object again");
	}
	memset(data + 8, 0, 4);
	got = object_add(&im->objects, data, n->size, &object, e);
	free(data);
	if (got < 0)
		return -1;
	n->a = (uint64_t)object + 1;
	return 0;
}

int import_pycs_check(struct import *im, struct err *e)
{
	const struct tree *t = &im->tree;
	size_t n = BUF_COUNT(&im->pycs, struct import_pyc);
	uint64_t *times;

	if (!n)
		return 0;
	/* The time that the .pyc of a node recorded, and 1; names lead to nodes, not back. */
	times = xalloc(BUF_COUNT(&t->nodes, struct tree_node) * sizeof(*times));
	for (size_t i = 0; i < n; i++) {
		const struct import_pyc *p = BUF_ITEM(&im->pycs, struct import_pyc, i);

		if (tree_node(t, p->node)->a == (uint64_t)p->object + 1)
			times[p->node] = p->time + 1ull;
	}
	for (size_t i = 0; i < BUF_COUNT(&t->entries, struct tree_entry); i++) {
		const struct tree_entry *entry = BUF_ITEM(&t->entries, struct tree_entry, i);
		uint32_t source;

		if (entry->node == TREE_NONE || !times[entry->node] ||
		    !import_is_pyc((const char *)t->text.p + entry->name, entry->len))
			continue;
		source = source_find(t, entry);
		if (source == TREE_NONE || !S_ISREG(tree_node(t, source)->mode) ||
		    tree_node(t, source)->mtime + 1ull == times[entry->node])
			continue;
		if (pyc_spoil(im, entry->node, e) < 0) {
			free(times);
			return -1;
		}
		times[entry->node] = 0;
	}
	free(times);
	return 0;
}
