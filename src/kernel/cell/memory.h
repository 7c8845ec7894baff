/* The memory limit where no cgroup keeps it. */
#ifndef VIV_KERNEL_CELL_MEMORY_H
#define VIV_KERNEL_CELL_MEMORY_H

/* Starts to watch when the spec has a limit that nobody else enforces. */
void memory_watch(void);

#endif
