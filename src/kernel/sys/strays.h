/* Processes of the cell that never announced themselves. */
#ifndef VIV_KERNEL_SYS_STRAYS_H
#define VIV_KERNEL_SYS_STRAYS_H

/* Looks for them and ends them, at most once a second. */
void strays_sweep(void);

#endif
