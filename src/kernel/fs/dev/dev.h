/* The character devices of a cell, and the file system of /dev. */
#ifndef VIV_KERNEL_FS_DEV_DEV_H
#define VIV_KERNEL_FS_DEV_DEV_H

#include "base/base.h"

struct file;
struct fs;
struct inode;
struct task;

/* The file system of /dev; pts, shm and mqueue are empty directories to mount on. returns ref,
 * or NULL. */
struct fs *devfs_new(void);
/* An upcall of the VFS: opens the device that ino's rdev names, wherever the node is. -ENXIO when
 * there is no such device. */
int must_check dev_open(struct inode *ino, struct task *t, struct file *f);

#endif
