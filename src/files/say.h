/* The frames of viv-files: what it hears and says. When vivd is gone, the program ends: there is
 * nobody to tell. */
#ifndef VIV_FILES_SAY_H
#define VIV_FILES_SAY_H

#include <sys/stat.h>
#include <sys/types.h>

#include "wire/files.h"

/* n bytes of FILES_DATA. */
void data_say(const void *data, size_t n);
/* A record of st (NULL: none), with what more is in r; path and second may be NULL. */
void record_say(struct files_record r, const struct stat *st, const char *path, const char *second);
/* The last word: all is done. The exit status. */
int end_say(void);
/* The last word: err is an errno, about is a path (NULL: nothing). The exit status. */
int error_say(int err, const char *about);
int error_say_size(int err, const char *about, uint64_t size);

/* Some of the input's bytes: how many, 0 at its end; -ECONNABORTED when it ended without an end. */
ssize_t must_check data_hear(void *buf, size_t n);

#endif
