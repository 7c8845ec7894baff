/* Numbers of variable length (LEB128), each in its shortest form only. */
#ifndef VIV_BASE_LEB128_H
#define VIV_BASE_LEB128_H

#include "base/base.h"

#define LEB128_MAX 10 /* bytes of the largest number */

/* Returns where it ends. */
static inline uint8_t *leb128_put(uint8_t *p, uint64_t n)
{
	for (; n >= 0x80; n >>= 7)
		*p++ = (uint8_t)(n | 0x80);
	*p++ = (uint8_t)n;
	return p;
}

/* Returns where it ends; NULL: there is no number before end. */
static inline const uint8_t *leb128_get(const uint8_t *p, const uint8_t *end, uint64_t *ret)
{
	uint64_t n = 0;

	for (unsigned shift = 0; p < end && shift < 64; shift += 7) {
		uint8_t byte = *p++;

		/* Bits that do not fit; a longer form than needed. */
		if ((shift == 63 && byte > 1) || (!byte && shift))
			return NULL;
		n |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*ret = n;
			return p;
		}
	}
	return NULL;
}

/* Numbers with a sign: those near zero are short. */
static inline uint64_t zigzag(uint64_t n)
{
	return n << 1 ^ (n >> 63 ? UINT64_MAX : 0);
}

static inline uint64_t unzigzag(uint64_t n)
{
	return n >> 1 ^ (n & 1 ? UINT64_MAX : 0);
}

#endif
