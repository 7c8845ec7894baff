/* The cell: what was asked for, and facts and counters that every layer reads. One for each
 * kernel. */
#ifndef VIV_KERNEL_PLATFORM_CELL_H
#define VIV_KERNEL_PLATFORM_CELL_H

#include "wire/bootspec.h"

struct cell_state {
	struct bootspec spec;
	int proc_fd; /* the cell's own /proc of the host (its PID namespace), or -1 */
	/* directory on a private tmpfs of the host: contents of layer and tmpfs files */
	int scratch_fd;
	uint64_t boot_mono, boot_real; /* ns */
	uint64_t calls; /* answered system calls */
	uint64_t unknown; /* answered with ENOSYS */
	uint64_t tasks_refused; /* because of max_tasks */
	uint32_t tasks_before; /* what max_tasks was before it was changed; 0: never */
	bool placed; /* the host's processors were changed */
	uint8_t random_id[16]; /* boot_id */
};

extern struct cell_state cell;

#endif
