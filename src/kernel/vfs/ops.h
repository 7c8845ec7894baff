/* Operations on names and attributes with all of Linux's checks; t gives the credentials.
 *
 * last is a component as path_lookup_parent gives it; "." ".." "/" get Linux's errors. One '/' may
 * follow it (the caller appends it when *ret_dirslash is set): then only a directory will do. */
#ifndef VIV_KERNEL_VFS_OPS_H
#define VIV_KERNEL_VFS_OPS_H

#include "base/base.h"

struct cred;
struct attr;
struct file;
struct inode;
struct newnode;
struct path;
struct task;

int vfs_create(struct task *t, const struct path *dir, const char *last, const struct newnode *n,
	       struct path *ret_); /* returns path ref when ret_ is not NULL */
int vfs_unlink(struct task *t, const struct path *dir, const char *last, bool rmdir);
int vfs_link(struct task *t, const struct path *old, const struct path *dir, const char *last);
int vfs_rename(struct task *t, const struct path *odir, const char *olast, const struct path *ndir,
	       const char *nlast, unsigned flags);
/* O_TMPFILE: a file without a name in the directory dir, at a place of its own that shows as "#INO
 * (deleted)"; needs write and search permission of dir. returns path ref; vfs_link can give it a
 * name, unless the caller clears the inode's linkable (O_EXCL). */
int vfs_tmpfile(struct task *t, const struct path *dir, const struct newnode *n, struct path *ret_);

/* ---- attributes (vfs/attr.c) ---- */

int vfs_setattr(struct task *t, const struct path *p, struct attr *a);
int vfs_truncate(struct task *t, const struct path *p, uint64_t size); /* truncate(): by path */
/* Sets the size, times and set-id bits; RLIMIT_FSIZE is checked, permission is not. */
int inode_truncate(struct task *t, struct inode *ino, uint64_t size);
int file_truncate(struct task *t, struct file *f,
		  uint64_t size); /* ftruncate(): -EINVAL unless open for writing */
/* RLIMIT_FSIZE: how many of len bytes may be written at pos; -EFBIG (and SIGXFSZ is sent) when
 * none. */
int64_t vfs_write_limit(struct task *t, uint64_t pos, uint64_t len);
int vfs_getattr(const struct path *p); /* refreshes the inode's fields */
int vfs_permission(struct task *t, const struct path *p, int mask); /* also -EROFS for writes */

/* Does a file that c makes with this mode, in a directory with the set-group-id bit, lose that
 * bit? */
bool inode_strips_setgid(const struct inode *dir, uint32_t mode, const struct cred *c);
/* Its content or owner changes: capabilities that the file gives go. */
void inode_drop_caps(struct inode *ino);

#endif
