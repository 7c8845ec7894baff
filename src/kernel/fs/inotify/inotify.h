/* inotify: a queue of what happens to watched files and directories. */
#ifndef VIV_KERNEL_FS_INOTIFY_INOTIFY_H
#define VIV_KERNEL_FS_INOTIFY_INOTIFY_H

#include "base/base.h"

struct file;
struct inode;
struct inotify;

/* flags: O_NONBLOCK. uid: whose limits count. returns ref. -EMFILE: the user has too many. */
int must_check inotify_make(uint32_t uid, uint32_t flags, struct file **ret_);
/* The instance of an open file, borrowed; NULL when it is none. */
struct inotify *inotify_of(const struct file *f);
/* Watches ino, or changes the watch (mask with IN_MASK_ADD and IN_MASK_CREATE). The watch's number;
 * -EEXIST, -ENOSPC, -ENOMEM. */
int must_check inotify_watch(struct inotify *in, struct inode *ino, uint32_t mask);
int must_check inotify_unwatch(struct inotify *in, int wd); /* -EINVAL: no such watch */
/* An upcall of the VFS: vfs_notify(). */
void inotify_notify(struct inode *dir, const char *name, struct inode *ino, uint32_t mask,
		    uint32_t cookie);

#endif
