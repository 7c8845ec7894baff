/* The operations of viv-files (wire.h): each takes its words and gives the exit status, after the
 * last word. */
#ifndef VIV_FILES_OPS_H
#define VIV_FILES_OPS_H

#include <sys/types.h>

#include "base/base.h"

/* content.c */
int read_op(char **words);
int write_op(char **words);
/* ops.c */
int stat_op(char **words);
int list_op(char **words);
int mkdir_op(char **words);
int move_op(char **words);
int remove_op(char **words);
/* archive.c */
int tar_op(char **words);
int untar_op(char **words);
/* watch.c */
int watch_op(char **words);

/* A number of a word; "-": other. */
int64_t word_number(const char *word, int base, int64_t other);
bool word_is_on(const char *word);
/* The directory that the last name of path is in, opened with O_PATH, and that name ("." for a path
 * that ends in a slash or is one); -errno. name has room for 256 bytes. */
int must_check parent_open(int dir, const char *path, char *name);

/* Makes the directories above the last name of path that are missing, with 0755. 0 or -errno. */
int must_check parents_make(const char *path);

#endif
