/* See sha1.h. */
#include "base/sha1.h"

#include <endian.h>
#include <string.h>

void sha1_init(struct sha1 *s)
{
	*s = (struct sha1){ .h = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0 } };
}

static uint32_t rol(uint32_t x, unsigned n)
{
	return x << n | x >> (32 - n);
}

static void block_add(struct sha1 *s)
{
	static const uint32_t k[] = { 0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6 };
	uint32_t w[80], a = s->h[0], b = s->h[1], c = s->h[2], d = s->h[3], e = s->h[4];

	memcpy(w, s->block, 64);
	for (unsigned i = 0; i < 80; i++) {
		uint32_t f = i < 20		 ? (b & c) | (~b & d)
			     : i >= 40 && i < 60 ? (b & c) | (b & d) | (c & d)
						 : b ^ c ^ d;
		uint32_t t;

		w[i] = i < 16 ? be32toh(w[i]) : rol(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
		t = rol(a, 5) + f + e + k[i / 20] + w[i];
		e = d;
		d = c;
		c = rol(b, 30);
		b = a;
		a = t;
	}
	s->h[0] += a;
	s->h[1] += b;
	s->h[2] += c;
	s->h[3] += d;
	s->h[4] += e;
}

void sha1_add(struct sha1 *s, const void *data, size_t n)
{
	const uint8_t *p = data;

	while (n) {
		size_t at = s->len % 64, some = MIN(n, 64 - at);

		memcpy(s->block + at, p, some);
		s->len += some;
		p += some;
		n -= some;
		if (at + some == 64)
			block_add(s);
	}
}

void sha1_end(struct sha1 *s, uint8_t ret[SHA1_SIZE])
{
	uint64_t bits = htobe64(s->len * 8);

	sha1_add(s, "\x80", 1);
	while (s->len % 64 != 56)
		sha1_add(s, "", 1);
	sha1_add(s, &bits, 8);
	for (unsigned i = 0; i < 5; i++) {
		uint32_t word = htobe32(s->h[i]);

		memcpy(ret + 4 * i, &word, 4);
	}
}
