/* See siphash.h; after Aumasson and Bernstein, "SipHash: a fast short-input PRF" (2012). */
#include "base/siphash.h"

#include <string.h>

static uint64_t rotate(uint64_t x, unsigned n)
{
	return x << n | x >> (64 - n);
}

static void rounds(uint64_t v[4], unsigned count)
{
	while (count--) {
		v[0] += v[1];
		v[1] = rotate(v[1], 13) ^ v[0];
		v[0] = rotate(v[0], 32);
		v[2] += v[3];
		v[3] = rotate(v[3], 16) ^ v[2];
		v[0] += v[3];
		v[3] = rotate(v[3], 21) ^ v[0];
		v[2] += v[1];
		v[1] = rotate(v[1], 17) ^ v[2];
		v[2] = rotate(v[2], 32);
	}
}

uint64_t siphash(const uint64_t key[2], const void *data, size_t n)
{
	uint64_t v[4] = { key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d,
			  key[0] ^ 0x6c7967656e657261, key[1] ^ 0x7465646279746573 };
	const char *p = data;

	/* One word more than there are whole ones: what is left, with the length on top. */
	for (size_t left = n;; left -= 8, p += 8) {
		uint64_t word = 0;

		if (left)
			memcpy(&word, p, left < 8 ? left : 8);
		if (left < 8)
			word |= (uint64_t)n << 56;
		v[3] ^= word;
		rounds(v, 2);
		v[0] ^= word;
		if (left < 8)
			break;
	}
	v[2] ^= 0xff;
	rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}
