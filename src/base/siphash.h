/* SipHash-2-4: a keyed hash that nobody who does not know the key can find collisions for. */
#ifndef VIV_BASE_SIPHASH_H
#define VIV_BASE_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t siphash(const uint64_t key[2], const void *data, size_t n);

#endif
