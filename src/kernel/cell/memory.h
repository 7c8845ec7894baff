/* The memory limit by our own accounting. */
#ifndef VIV_KERNEL_CELL_MEMORY_H
#define VIV_KERNEL_CELL_MEMORY_H

#include "base/base.h"

/* Starts to watch, if there is a limit: enforces it where no cgroup does, and tells when it is
 * near. Also when it was changed. */
void memory_watch(void);
/* Bytes that the cell uses, as they were last counted, or counted now; 0: not known, as the host's
 * /proc is closed to us. */
uint64_t memory_used(bool fresh);

#endif
