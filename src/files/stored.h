/* What an operation of viv-files may look at. After stored_restrict(): stored files only, as a
 * client that may read a cell's files need not be one that may read the environment and the memory
 * maps of its processes. Refused are the file systems that the kernel makes up (/proc, /sys, /dev,
 * /dev/pts), wherever they are mounted, and every path that leads through a link of /proc
 * (/proc/PID/fd, cwd, root). */
#ifndef VIV_FILES_STORED_H
#define VIV_FILES_STORED_H

#include <sys/stat.h>

#include "base/base.h"

#define STORED_REFUSED EREMOTE /* what a refusal says: no call of this program fails with it */

void stored_restrict(void);
/* As open(); -errno. */
int must_check stored_open(const char *path, int flags);
/* Whether path may be looked at: 0, or -errno. flags: 0 or O_NOFOLLOW. */
int must_check stored_check(const char *path, int flags);
/* Whether the kernel makes the file up when it is read: its size says nothing about its content. */
bool stored_is_made_up(int fd);
/* An entry that a walk came to: 0 or -errno. */
int must_check stored_entry(int dir, const char *name, const struct stat *st);

#endif
