/* CRC-32C (Castagnoli), the checksum of a disk's log. */
#ifndef VIV_BASE_CRC32C_H
#define VIV_BASE_CRC32C_H

#include "base/base.h"

/* The checksum of what crc stands for followed by n bytes; 0 stands for nothing. */
uint32_t crc32c(uint32_t crc, const void *data, size_t n);

#endif
