/* Writing a running cell to a file, and starting one from it (docs/decisions/0056-freeze.md). */
#ifndef VIV_KERNEL_CELL_FREEZE_H
#define VIV_KERNEL_CELL_FREEZE_H

#include <sys/types.h>

#include "base/base.h"

struct ctl_msg;
struct file;
struct proc;

/* The tree of the cell is as the operator wants it: what changes from here on is a guest's. */
void freeze_boot(void);
/* CTL_FREEZE: brings everybody to rest, writes to fd, which is taken, and answers CTL_FROZEN. After
 * a 0 nothing of the cell runs any more; after an error it goes on as before. */
void freeze_start(const struct ctl_msg *m, int fd);

/* CTL_UNFREEZE: it goes on all the same. */
void freeze_undo(void);

/* ---- thaw.c. Each returns 0 or -errno, and then CTL_FAIL was sent ---- */

/* Before the first runner: reads the file fd; the runner is the seed, and gets the number that it
 * had. */
int must_check thaw_open(int fd, pid_t *ret_seed);
/* After it, and before the kernel gives up its last right: makes all processes and threads with the
 * numbers that they had. They wait. */
int must_check thaw_births(void);
bool thaw_is_pending(void); /* they do */
/* When the kernel is sealed: those of a cell without a first process need not wait longer. */
int must_check thaw_begin(void);
/* Gives them their state, and lets them go on. streams (borrowed) are those of the first process;
 * NULL: there is no such. *ret_first: that process, or NULL. */
int must_check thaw_run(struct file *const streams[3], struct proc **ret_first);

#endif
