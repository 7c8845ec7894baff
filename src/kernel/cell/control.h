/* The channel to viv. */
#ifndef VIV_KERNEL_CELL_CONTROL_H
#define VIV_KERNEL_CELL_CONTROL_H

#include "base/base.h"

/* Log lines go to viv from here on. */
void control_init(void);
/* Starts to listen; when viv goes away, so does the cell. */
int must_check control_watch(void);
void control_say(uint32_t type, int32_t a, const char *fmt, ...) printf_like(3, 4);

#endif
