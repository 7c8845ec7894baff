/* What mount(2) can mount. */
#ifndef VIV_KERNEL_SYS_MOUNT_H
#define VIV_KERNEL_SYS_MOUNT_H

#include <stdint.h>

struct fs;

/* At boot: a file system was mounted with these flags. If there is one of its kind in the cell
 * (fs.single) and a guest mounts it, it is shown once more, as read-only as here. Counts it. */
void mount_kind_add(struct fs *fs, uint32_t flags);

#endif
