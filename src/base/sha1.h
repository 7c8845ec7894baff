/* SHA-1 (FIPS 180-4), for formats that demand it. Nothing is secured by it any more. */
#ifndef VIV_BASE_SHA1_H
#define VIV_BASE_SHA1_H

#include "base/base.h"

#define SHA1_SIZE 20

struct sha1 {
	uint32_t h[5];
	uint64_t len;
	uint8_t block[64];
};

void sha1_init(struct sha1 *s);
void sha1_add(struct sha1 *s, const void *data, size_t n);
void sha1_end(struct sha1 *s, uint8_t ret[SHA1_SIZE]);

#endif
