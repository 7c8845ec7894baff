/* Rules of the scopes files and exec, which the kernel decides (policy/compiled.h). */
#ifndef VIV_KERNEL_CELL_POLICY_H
#define VIV_KERNEL_CELL_POLICY_H

#include "base/base.h"

struct path;

/* Adds the table of hooks: before those that observe. */
void policy_hooks_add(void);
/* The operator's mounts are there: notes where, and takes the rules of the spec. */
int must_check policy_init(void);
/* CTL_POLICY. fd -1: no rules. Takes it. 0 or -errno, and the old rules stay. */
int must_check policy_change(int fd);

/* What a process that was frozen had open, or mapped (O_RDONLY), is opened again: nobody can be
 * asked, so only what the rules allow. A program that may be executed may be
 * mapped. */
bool policy_allows_again(const struct path *p, uint32_t flags, bool mapped);

#endif
