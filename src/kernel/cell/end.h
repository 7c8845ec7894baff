/* The end of the cell. */
#ifndef VIV_KERNEL_CELL_END_H
#define VIV_KERNEL_CELL_END_H

/* An upcall of tasks. The first process ended: says so and goes; the host ends everything that is
 * left with us. Returns only if its terminal still has something to show, and is called again. */
void cell_end(int wait_status);

#endif
