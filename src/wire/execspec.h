/* What a process that is started in a running cell is to be: a sealed memfd, written by
 * execspec_write on the trusted side and read by execspec_read in the kernel. It comes from the
 * operator, but a keeper only passes it on, so it is checked like the word of a stranger.
 *
 * Layout: struct execspec_wire, then argc + envc strings, each with its NUL, then cwd and user
 * likewise. Nothing in it is a pointer or an offset. */
#ifndef VIV_WIRE_EXECSPEC_H
#define VIV_WIRE_EXECSPEC_H

#include "base/base.h"

#define EXECSPEC_MAX_BYTES (2UL << 20) /* as Linux has it for argv and envp of one execve */
#define EXECSPEC_MAX_STRINGS 65536

#define EXECSPEC_CELL_ENV 1 /* the cell's own environment first; envp replaces variables in it */
#define EXECSPEC_FILL 2 /* HOME=, USER= and LOGNAME= without a value in envp get those of user */
#define EXECSPEC_MAKE_CWD 4 /* for a cell that is taken: cwd is made when it is not there */

struct execspec {
	uint32_t flags;
	char **argv; /* NULL-terminated; never empty */
	char **envp;
	const char *cwd; /* NULL: the cell's */
	const char *user; /* NULL: the cell's; else as bootspec's user */
};

/* The descriptor, or -E2BIG, -EINVAL (no argv, a string with '=' missing in envp), another
 * -errno. */
int must_check execspec_write(const struct execspec *s);

/* The checked content of a mapping. The strings follow each other from words on: argc of argv, envc
 * of envp. */
struct execspec_view {
	uint32_t flags, argc, envc;
	const char *words;
	size_t words_size; /* of argv and envp, NULs included */
	const char *cwd, *user; /* NULL: not given */
};

/* Checks size bytes: 0 or -EINVAL. */
int must_check execspec_check(const void *bytes, size_t size, struct execspec_view *ret);
/* Maps the file, which must be sealed against every change, and checks it. The mapping is the
 * caller's, to be given back with execspec_unmap. 0 or -errno. */
int must_check execspec_map(int fd, struct execspec_view *ret, void **ret_map, size_t *ret_size);
void execspec_unmap(void *map, size_t size);

#endif
