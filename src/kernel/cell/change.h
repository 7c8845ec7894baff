/* Other limits for a cell that runs. */
#ifndef VIV_KERNEL_CELL_CHANGE_H
#define VIV_KERNEL_CELL_CHANGE_H

#include "wire/limits.h"

/* 0; or -EBUSY: more memory is in use than that, and nothing has changed. */
int must_check limits_change(const struct cell_limits *l);

#endif
