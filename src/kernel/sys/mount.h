/* What mount(2) can mount. */
#ifndef VIV_KERNEL_SYS_MOUNT_H
#define VIV_KERNEL_SYS_MOUNT_H

struct fs;

/* At boot: a file system of which there is one in the cell (proc, sysfs, devtmpfs, devpts). Mounted
 * by a guest, it is shown once more. Other kinds are ignored. Counts it. */
void mount_kind_add(struct fs *fs);

#endif
