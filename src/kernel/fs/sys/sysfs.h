/* The file system of /sys. */
#ifndef VIV_KERNEL_FS_SYS_SYSFS_H
#define VIV_KERNEL_FS_SYS_SYSFS_H

struct fs;

/* returns ref, or NULL. */
struct fs *sysfs_new(void);

#endif
