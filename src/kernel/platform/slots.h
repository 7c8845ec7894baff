/* Descriptors that runners hold.
 *
 * Giving a runner a descriptor wakes it up and costs more than the mapping it is for. So the
 * descriptors of immutable, world-readable image files stay in it at fixed numbers: a slot belongs
 * to one file for the whole cell, a process has a bit for each slot it holds; fork and exec inherit
 * both. That is safe because anyone may read those files. */
#ifndef VIV_KERNEL_PLATFORM_SLOTS_H
#define VIV_KERNEL_PLATFORM_SLOTS_H

#include "base/base.h"

/* Sees to it that the caller of notification id holds host_fd: in a slot when key is not 0 (the
 * file's identity), else at any free number, which the stub closes after use. slots are the
 * process's bits. The number in the runner, or -errno; *ret_keep: it stays there. */
int must_check slot_give_fd(uint64_t slots[2], uint64_t id, int host_fd, uint64_t key,
			    bool *ret_keep);

#endif
