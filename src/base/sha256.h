/* SHA-256 (FIPS 180-4). It calls nothing but memcpy and memset, and keeps no state of its own but
 * what the processor can do: threads without a C library of theirs may use it (host/worker.c). */
#ifndef VIV_BASE_SHA256_H
#define VIV_BASE_SHA256_H

#include "base/base.h"

#define SHA256_SIZE 32

struct sha256 {
	uint32_t h[8];
	uint64_t len;
	uint8_t block[64];
};

void sha256_init(struct sha256 *s);
void sha256_add(struct sha256 *s, const void *data, size_t n);
void sha256_end(struct sha256 *s, uint8_t ret[SHA256_SIZE]);
/* For tests: without the processor's own instructions. */
void sha256_portable(bool on);

#endif
