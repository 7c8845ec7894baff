/* Files that have several names in the image.
 *
 * Such a file is one node, whichever of its names it was looked up by, so a change through one of
 * them is seen through all. The layer knows it by the number that it has in the image. A name by
 * which it was found while it was known already has no entry in its directory: it is "loose", and
 * each lookup asks the image and then the table here. It gets an entry when it is removed or
 * renamed (tree_entry).
 *
 * While the file is the image's, it comes and goes like every mirror, with the one entry that is
 * its home. From its first change on, which may be the loss of a name, it is held until it has lost
 * all of its names: a loose one leads to it without counting. Its records in the log say so
 * (PIN_SEVERAL), so that it is kept when the log is read, whatever the image looks like by then.
 *
 * An image may tell a wrong number of names. Then a file goes too early, and the name that is left
 * shows it as the image has it, or it stays until the cell ends. */
#include <errno.h>

#include "kernel/fs/layer/store.h"
#include "kernel/vfs/inode.h"

static bool is_same_file(const struct image_node *a, const struct image_node *b)
{
	return a->mode == b->mode && a->size == b->size && a->mtime.tv_sec == b->mtime.tv_sec &&
	       a->mtime.tv_nsec == b->mtime.tv_nsec;
}

static bool has_several(const struct image_node *lower)
{
	return !S_ISDIR(lower->mode) && lower->nlink > 1;
}

/* The host's own files change below us: a number may have become another file's. */
struct lnode *links_find(struct layer *l, const struct image_node *lower)
{
	struct lnode *n = has_several(lower) ? ids_find(&l->links, lower->ino) : NULL;

	return n && is_same_file(n->lower, lower) ? n : NULL;
}

struct lnode *links_at(struct lnode *dir, const char *name, size_t len)
{
	struct layer *l = layer_of(dir);
	struct image_node *lower;
	struct lnode *n;

	if (!dir->lower ||
	    CHECKED(l->lower->ops)->lookup(l->lower, dir->lower, name, len, &lower) < 0)
		return NULL;
	n = links_find(l, lower);
	CHECKED(l->lower->ops)->drop(l->lower, lower);
	return n;
}

int links_add(struct lnode *n)
{
	struct layer *l = layer_of(n);
	int r;

	if (!n->lower || !has_several(n->lower) || ids_find(&l->links, n->lower->ino))
		return 0;
	r = ids_add(&l->links, n);
	n->several = r == 0;
	return r;
}

void links_hold(struct lnode *n)
{
	if (!n->several || n->held)
		return;
	n->held = true;
	inode_get(&n->inode);
}

void links_drop(struct lnode *n)
{
	if (n->several)
		ids_remove(&layer_of(n)->links, n);
	n->several = false;
	if (!n->held)
		return;
	n->held = false;
	if (n->names == 0)
		lnode_forget_log(n);
	inode_put(&n->inode);
}

bool links_have_loose(const struct layer *l)
{
	struct lnode *n;

	if (!l->links.count)
		return false;
	list_for_each(n, &l->nodes, all_link)
		if (n->held && n->inode.nlink > n->names)
			return true;
	return false;
}
