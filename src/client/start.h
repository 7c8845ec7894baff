/* Inside libvivarium. */
#ifndef VIV_CLIENT_START_H
#define VIV_CLIENT_START_H

#include "base/base.h"
#include "client/vivarium.h"

/* Always -1. */
int viv_error_set(struct viv_error *e, int code, const char *fmt, ...) printf_like(3, 4);

#endif
