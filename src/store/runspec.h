/* The settings of the last 'viv run' of a named cell, as JSON in a file beside its disk: 'viv
 * start' runs the cell again with them. They hold the values of variables, so the file is as
 * private as the disk. What is read is text of the caller's user, to be checked like any other
 * description. */
#ifndef VIV_STORE_RUNSPEC_H
#define VIV_STORE_RUNSPEC_H

#include "store/disk.h"

#define RUNSPEC_MAX (1 << 20)

/* In a disk that is locked exclusively. size 0: there are none any more. 0, or -errno. */
int must_check runspec_write(const struct disk *d, const char *text, size_t size);

/* As a new NUL-terminated buffer. stamp: of those that are known, which are not read again; set to
 * that of those that are there. *ret is NULL: the same. -ENOENT: there are none; -EPERM: others can
 * read or write them, or made them; other -errno. */
int must_check runspec_read(int store, const char *disk, int64_t *stamp, char **ret);

#endif
