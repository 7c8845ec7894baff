/* Sealed memory files: how one program gives another a block of bytes that nobody changes
 * afterwards. */
#ifndef VIV_WIRE_MEMFD_H
#define VIV_WIRE_MEMFD_H

#include "base/base.h"

/* A memfd with n bytes, sealed for good: the descriptor or -errno. */
int must_check memfd_sealed(const char *name, const void *bytes, size_t n);

#endif
