/* Names of errnos. */
#ifndef VIV_BASE_ERRNAME_H
#define VIV_BASE_ERRNAME_H

#include "base/base.h"

/* "ENOENT" for 2; "E?" for what Linux does not have. */
const char *errno_name(int err);

#endif
