/* Inside libvivarium. */
#ifndef VIV_CLIENT_START_H
#define VIV_CLIENT_START_H

#include "base/err.h"
#include "client/vivarium.h"

/* Always -1. A format as err_set has it. */
int viv_error_set(struct viv_error *e, int code, const char *fmt, ...) printf_like(3, 4);
int viv_error_from(struct viv_error *e, int code, const struct err *from);

#endif
