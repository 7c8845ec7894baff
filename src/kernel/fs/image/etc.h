/* The generated part of /etc, and which files of the host's are shown in an image at all. */
#ifndef VIV_KERNEL_FS_IMAGE_ETC_H
#define VIV_KERNEL_FS_IMAGE_ETC_H

#include "base/base.h"

#define ETC_TEXT_MAX 28672 /* --add-host can have that much to say */

struct etc_file {
	const char *name; /* below /etc, at most in one directory */
	/* The text: its length; < 0: the file does not exist in this cell. */
	int (*make)(char *buf, size_t size);
	const char *target; /* instead: a symbolic link */
};

/* Adds what an image's own /etc/hosts lacks to the len bytes in buf, which has room for size: lines
 * for localhost, for the cell's name, and those of --add-host. At most etc_hosts_room() bytes; the
 * new length. */
size_t etc_hosts_complete(char *buf, size_t len, size_t size);
size_t etc_hosts_room(void);

extern const struct etc_file etc_files[];
extern const unsigned etc_file_count;

/* Whether the host's entry name in the directory dir ("" for the root, "etc", "etc/ssl") is shown.
 */
bool hostimage_shows(const char *dir, const char *name, size_t len);
/* Whether an entry of a shown directory (by the same kind of path) is hidden all the same. */
bool hostimage_hides(const char *dir, const char *name, size_t len);
bool hostimage_hides_in(const char *dir, const char *sub, size_t len);

#endif
