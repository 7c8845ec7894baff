/* Processes of the cell that never announced themselves. */
#ifndef VIV_KERNEL_SYS_STRAYS_H
#define VIV_KERNEL_SYS_STRAYS_H

#include <stdbool.h>

/* May there be any, or others that are about to announce themselves? */
bool strays_are_possible(void);
/* Looks for them and ends them, at most once a second. */
void strays_sweep(void);

#endif
