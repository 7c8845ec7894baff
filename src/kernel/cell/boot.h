/* Building a cell: its tree, its first process. */
#ifndef VIV_KERNEL_CELL_BOOT_H
#define VIV_KERNEL_CELL_BOOT_H

#include "base/base.h"

struct cred;
struct fs;
struct fsctx;
struct task;

/* Mounts the root, /proc, /sys, /dev and what the spec asks for. 0 or -errno with a message
 * said. */
int must_check boot_tree(void);
/* Makes the first process, or the seed of an idle cell, and starts it. 0, or the exit status that
 * viv is to give (125, 126, 127) with a message said. */
int must_check boot_first(void);
/* The layer that holds what the cell writes: for the list of changes. */
struct fs *boot_layer(void);
/* The tmpfs at /dev/shm, whether it is mounted still or not. */
struct fs *boot_shm(void);
/* Its size: half of the memory, as on a machine that has so much. */
uint64_t boot_shm_size(void);

/* Who the first process is, and by default those that are started later. */
const struct cred *boot_cred(void);
/* The groups that all of them have, whoever they are. */
const struct groups *boot_groups(void);
/* At the root of the tree; returns ref, or NULL. */
struct fsctx *boot_fsctx(void);
/* Other ones for all that is started from now on. The texts and the list stay the caller's and must
 * not go away. user as in struct bootspec; NULL: root. make: the directory, when it is not there.
 * 0, or -errno: there is no such user, and nothing has changed. */
int must_check boot_become(char **envp, const char *workdir, bool make, const char *user);
/* Walks paths as the cell's root. Borrowed; NULL: no memory. */
struct task *boot_walker(void);

#endif
