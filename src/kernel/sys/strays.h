/* Processes of the cell that never announced themselves. */
#ifndef VIV_KERNEL_SYS_STRAYS_H
#define VIV_KERNEL_SYS_STRAYS_H

#include <stdbool.h>

/* May there be any, or others that are about to announce themselves? */
bool strays_are_possible(void);
/* Looks for them and ends them, at most once a second, unless there are many. */
void strays_sweep(void);
/* The same at once, for who must know that there are none. */
void strays_end(void);
/* procs_pause() and procs_resume() of task/proc.h, for those that are in no table: processes, and
 * threads of others. */
void strays_pause(void);
void strays_resume(void);

#endif
