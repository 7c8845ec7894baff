/* Bringing every thread of the cell to rest, and letting it go on.
 *
 * A thread at rest is in stub_rest() (stub/rest.c): its whole state is in its memory, and the
 * kernel has its stack pointer (task.rest_sp). Threads get there by the reserved signal; calls that
 * wait are cut short first and are made again when the thread goes on. */
#ifndef VIV_KERNEL_SYS_REST_H
#define VIV_KERNEL_SYS_REST_H

#include "base/base.h"

struct task;

/* Everybody is to come to rest. done is called from the main loop, once: with NULL when all are
 * there, else with a thread that did not come in time (it may have ended: then its number is 0). */
void rest_begin(void (*const *done)(const struct task *missing));
/* They go on. */
void rest_end(void);

/* So many threads of a thawed cell go on when all of them have come to HC_THAWED or ended, or after
 * a time: a guest's memory says what each does on its way there. */
void rest_thaw(uint32_t count);
bool rest_is_thawing(void); /* they have not */
void rest_gone(struct task *t); /* t ends */

/* ---- for calls ---- */
bool rest_is_wanted(void);
/* t was born while everybody was to come to rest. */
void rest_born(struct task *t);

#endif
