/* The time, and how much of it the present event has taken. */
#ifndef VIV_KERNEL_TASK_CLOCK_H
#define VIV_KERNEL_TASK_CLOCK_H

#include "base/base.h"

/* The clock, read once for each event. */
int64_t now_mono(void);
int64_t now_real(void);
void now_update(void);
/* So much time has passed since the event came that others should have their turn: what can be done
 * in pieces ends its piece. */
#define TURN_LONG (4 * 1000000LL)
bool turn_is_long(void);

#endif
