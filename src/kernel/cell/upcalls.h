/* Where lower layers call higher ones. */
#ifndef VIV_KERNEL_CELL_UPCALLS_H
#define VIV_KERNEL_CELL_UPCALLS_H

/* Sets all of them; before anything else. */
void upcalls_init(void);

#endif
