/* What the files of this folder share and others have no business with. */
#ifndef VIV_KERNEL_VFS_VFS_PRIV_H
#define VIV_KERNEL_VFS_VFS_PRIV_H

#include "base/base.h"

struct cred;
struct fs;
struct inode;
struct mount;
struct name;
struct path;

/* A name that is not in the tree and shows as deleted; takes the inode reference on success;
 * returns ref or NULL. */
struct name *name_new_deleted(struct name *parent, const char *str, struct inode *ino);
/* Drops up to max cached names, the oldest first; false: some are left. */
bool name_drop_some(uint32_t max);
/* Drops every cached name below root that nobody holds. */
void name_shrink_tree(struct name *root);

/* A mount that is in no tree, for files without a place. returns ref. */
int mount_new_detached(struct fs *fs, struct mount **ret_);

/* Owner of the file, or privileged to act as such. */
bool inode_owner_or_capable(const struct inode *ino, const struct cred *c);
/* The set-id bits that a write by c takes away (0: none). */
uint32_t inode_suid_to_kill(const struct inode *ino, const struct cred *c);

/* ---- for mounttree.c ---- */
/* A copy of from that shows root, in no place yet; in the list of all. NULL: no memory. Borrowed
 * (the list has it). */
struct mount *must_check mount_clone(struct mount *from, struct name *root);
uint32_t mounts_room(void); /* how many more there can be */
void mount_hook(struct mount *m, const struct path *at); /* in no place -> at */
void mount_unhook(struct mount *m); /* the name forgets it; its parent and point stay to be put */

#endif
