/* Which file of the cell a host file is: for /proc/PID/maps.
 *
 * The host knows a process's mappings, but only by its own files. Whoever maps a file for a guest
 * notes here which host file stands for which file of the cell. A note is a hint: what is not noted
 * is shown without a name. Notes are never needed for anything else, so the oldest is forgotten
 * when there are too many. */
#ifndef VIV_KERNEL_FS_PROC_PROCMAP_H
#define VIV_KERNEL_FS_PROC_PROCMAP_H

#include "base/base.h"

struct file;
struct name;

/* host_fd is what runners map for f. */
void procmap_note(int host_fd, struct file *f);

/* An upcall of the VFS. The name was removed: mappings of the file show it as Linux does. */
void procmap_name_gone(struct name *n);

struct procnote {
	uint64_t ino; /* as the cell sees it */
	uint32_t dev;
	const char *label; /* borrowed */
};
/* The file of the cell behind the host's (dev, ino); false: not known. */
bool procmap_find(uint64_t host_dev, uint64_t host_ino, struct procnote *ret_);

#endif
