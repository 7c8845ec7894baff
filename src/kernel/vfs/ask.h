/* Questions to hooks about files and names (task/hooks.h). */
#ifndef VIV_KERNEL_VFS_ASK_H
#define VIV_KERNEL_VFS_ASK_H

#include "kernel/task/hooks.h"
#include "kernel/vfs/inode.h"
#include "kernel/vfs/path.h"

enum name_op {
	NAME_CREATE, /* of any type */
	NAME_LINK,
	NAME_RENAME,
	NAME_EXCHANGE,
	NAME_REMOVE, /* a directory or anything else */
};

/* Names that have no inode are those that are being made. */
struct name_change {
	enum name_op op;
	struct path at; /* what is made, moved, removed, or gets another name */
	struct path to; /* link, rename, exchange: the other name; else empty */
	const struct newnode *node; /* create: what it becomes; else NULL */
};

int ask_open_hooks(struct task *t, const struct path *p, uint32_t flags);
int ask_name_hooks(struct task *t, const struct name_change *c);
int ask_change_hooks(struct task *t, const struct path *p);
int ask_mount_hooks(struct task *t, const struct path *p);

/* May t open what is at p? flags as for file_open(). */
static inline int ask_open(struct task *t, const struct path *p, uint32_t flags)
{
	return hooks_are_used() ? ask_open_hooks(t, p, flags) : 0;
}

/* May t change attributes or the size of what is at p? */
static inline int ask_change(struct task *t, const struct path *p)
{
	return hooks_are_used() ? ask_change_hooks(t, p) : 0;
}

/* May t mount something at p? */
static inline int ask_mount(struct task *t, const struct path *p)
{
	return hooks_are_used() ? ask_mount_hooks(t, p) : 0;
}

/* May t make this change? dir is the directory of name. */
static inline int ask_name(struct task *t, enum name_op op, const struct path *dir,
			   struct name *name)
{
	if (!hooks_are_used())
		return 0;
	return ask_name_hooks(t, &(struct name_change){ .op = op, .at = { dir->mnt, name } });
}

/* The same for a new name, and for the open that makes it, if one does. */
static inline int ask_create(struct task *t, const struct path *dir, struct name *name,
			     const struct newnode *n)
{
	if (!hooks_are_used())
		return 0;
	const struct name_change c = { .op = NAME_CREATE, .at = { dir->mnt, name }, .node = n };
	int err = ask_name_hooks(t, &c);

	return !err && n->open ? ask_open_hooks(t, &c.at, n->open) : err;
}

/* The same for two names. */
static inline int ask_names(struct task *t, enum name_op op, const struct path *at,
			    const struct path *dir, struct name *name)
{
	if (!hooks_are_used())
		return 0;
	return ask_name_hooks(t, &(struct name_change){
					 .op = op, .at = *at, .to = { dir->mnt, name } });
}

/* What fingerprints begin with: they tell the kinds of questions apart. */
enum { PRINT_OPEN = 1, PRINT_NAME, PRINT_DEST, PRINT_CHANGE, PRINT_MOUNT };

/* A fingerprint of a place, for hooks_print(): its text as well as its objects. */
uint64_t path_print(uint64_t before, const struct path *p);

#endif
