/* /run/viv: what a cell has of Vivarium itself.
 *
 *   denials         what was refused lately (denials.h)
 *   sock            the door to vivd (door.h); of a cell with tools
 *   bin/viv-tools   the program behind every tool: boot.c mounts it over the empty file
 *   bin/viv         viv itself, likewise; of a cell that may make cells
 *   bin/NAME        a link to it for each tool; it knows by its name which one is meant */
#include <errno.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>

#include "kernel/fs/pseudo/pseudo.h"
#include "kernel/net/denials.h"
#include "kernel/net/door.h"
#include "kernel/platform/cell.h"

static const struct pnode link_node = { .mode = S_IFLNK | 0777, .text = "viv-tools" };

/* Tool i of the spec, which separates names by spaces; NULL: there are not so many. */
static const char *tool_at(uint64_t i, size_t *ret_len)
{
	const char *at = cell.spec.tools ? cell.spec.tools : "";

	for (;;) {
		size_t n = strcspn(at, " ");

		if (!n)
			return NULL;
		*ret_len = n;
		if (!i--)
			return at;
		at += n + (at[n] == ' ');
	}
}

static bool tool_fill(uint64_t i, struct pentry *out)
{
	const char *name;
	size_t n;

	name = tool_at(i, &n);
	if (!name || n >= sizeof(out->name))
		return false;
	out->node = &link_node;
	out->id = i;
	out->sub = out->gen = 0;
	snprintf(out->name, sizeof(out->name), "%.*s", (int)n, name);
	return true;
}

static int tool_find(struct pinode *dir, const char *name, struct pentry *out)
{
	(void)dir;
	for (uint64_t i = 0; tool_fill(i, out); i++)
		if (!strcmp(out->name, name))
			return 0;
	return -ENOENT;
}

static int tool_next(struct pinode *dir, struct pwalk *w, struct pentry *out)
{
	(void)dir;
	return tool_fill(w->cursor, out) ? 0 : -ENOENT;
}

static const struct pdir tools_dir = { .find = tool_find, .next = tool_next };

static const struct pnode bin_nodes[] = {
	{ .name = "viv-tools", .mode = S_IFREG | 0755, .text = "" },
	{ 0 },
};

static const struct pnode bin_viv_nodes[] = {
	{ .name = "viv-tools", .mode = S_IFREG | 0755, .text = "" },
	{ .name = "viv", .mode = S_IFREG | 0755, .text = "" },
	{ 0 },
};

#define DENIALS                                                                 \
	{                                                                       \
		.name = "denials", .mode = S_IFREG | 0444, .show = denials_show \
	}
#define SOCK                                            \
	{                                               \
		.name = "sock", .mode = S_IFSOCK | 0666 \
	}
#define BIN(nodes)                                                                          \
	{                                                                                   \
		.name = "bin", .mode = S_IFDIR | 0755, .children = nodes, .dir = &tools_dir \
	}

static const struct pnode without_door[] = { DENIALS, { 0 } };
static const struct pnode with_door[] = { SOCK, BIN(bin_nodes), DENIALS, { 0 } };
static const struct pnode with_viv[] = { SOCK, BIN(bin_viv_nodes), DENIALS, { 0 } };
static const struct pnode without_root = { .mode = S_IFDIR | 0755, .children = without_door };
static const struct pnode with_root = { .mode = S_IFDIR | 0755, .children = with_door };
static const struct pnode viv_root = { .mode = S_IFDIR | 0755, .children = with_viv };

bool door_is_at(const struct inode *ino)
{
	struct pinode *pi = S_ISSOCK(ino->mode) ? pinode_of((struct inode *)ino) : NULL;

	return pi && (pi->node == &with_door[0] || pi->node == &with_viv[0]);
}

struct fs *runviv_fs_new(void)
{
	struct pseudo_fs *pfs = pseudo_new("tmpfs", TMPFS_MAGIC,
					   !cell.spec.tools	   ? &without_root
					   : cell.spec.viv_fd >= 0 ? &viv_root
								   : &with_root);

	return pfs ? &pfs->fs : NULL;
}
