/* Sealed memory files: how one program gives another a block of bytes that nobody changes
 * afterwards. */
#ifndef VIV_WIRE_MEMFD_H
#define VIV_WIRE_MEMFD_H

#include "base/base.h"

/* A memfd with n bytes, sealed for good: the descriptor or -errno. */
int must_check memfd_sealed(const char *name, const void *bytes, size_t n);
/* Maps one of 1 to max bytes for reading, to be unmapped by the caller: 0 or -errno. -EINVAL: it is
 * not sealed, or of another size. */
int must_check memfd_map(int fd, size_t max, void **ret_map, size_t *ret_size);
void memfd_unmap(void *map, size_t size);

#endif
