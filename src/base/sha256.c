/* See sha256.h. Whole blocks are taken from where they lie; the processor's instructions for it
 * (SHA-NI) are used where there are some, which is asked once.
 *
 * Not sanitized, since a thread that shares another one's thread register runs it. */
#include "base/sha256.h"

#include <cpuid.h>
#include <immintrin.h>
#include <string.h>

#define PLAIN __attribute__((no_sanitize("address", "undefined")))

static const uint32_t k[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2
};

static enum { UNKNOWN, ABSENT, PRESENT } instructions;

PLAIN static inline uint32_t ror(uint32_t v, unsigned n)
{
	return v >> n | v << (32 - n);
}

PLAIN static void blocks_portable(uint32_t h[8], const uint8_t *p, size_t n)
{
	for (; n; n--, p += 64) {
		uint32_t w[64], v[8];

		for (unsigned i = 0; i < 16; i++)
			w[i] = (uint32_t)p[4 * i] << 24 | (uint32_t)p[4 * i + 1] << 16 |
			       (uint32_t)p[4 * i + 2] << 8 | p[4 * i + 3];
		for (unsigned i = 16; i < 64; i++) {
			uint32_t a = w[i - 15], b = w[i - 2];

			w[i] = w[i - 16] + (ror(a, 7) ^ ror(a, 18) ^ a >> 3) + w[i - 7] +
			       (ror(b, 17) ^ ror(b, 19) ^ b >> 10);
		}
		for (unsigned i = 0; i < 8; i++)
			v[i] = h[i];
		for (unsigned i = 0; i < 64; i++) {
			uint32_t e = v[4], a = v[0];
			uint32_t t1 = v[7] + (ror(e, 6) ^ ror(e, 11) ^ ror(e, 25)) +
				      ((e & v[5]) ^ (~e & v[6])) + k[i] + w[i];
			uint32_t t2 = (ror(a, 2) ^ ror(a, 13) ^ ror(a, 22)) +
				      ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));

			v[7] = v[6];
			v[6] = v[5];
			v[5] = e;
			v[4] = v[3] + t1;
			v[3] = v[2];
			v[2] = v[1];
			v[1] = a;
			v[0] = t1 + t2;
		}
		for (unsigned i = 0; i < 8; i++)
			h[i] += v[i];
	}
}

/* The state is in the order that the instructions have it: ABEF and CDGH. */
PLAIN __attribute__((target("sha,sse4.1"))) static void blocks_ni(uint32_t h[8], const uint8_t *p,
								  size_t n)
{
	const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0bll, 0x0405060700010203ll);
	__m128i t = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(const void *)h), 0xb1);
	__m128i b =
		_mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(const void *)(h + 4)), 0x1b);
	__m128i a = _mm_alignr_epi8(t, b, 8);

	b = _mm_blend_epi16(b, t, 0xf0);
	for (; n; n--, p += 64) {
		__m128i w[4], a0 = a, b0 = b;

		for (unsigned i = 0; i < 4; i++)
			w[i] = _mm_shuffle_epi8(
				_mm_loadu_si128((const __m128i *)(const void *)(p + 16 * i)), swap);
#pragma GCC unroll 16
		for (unsigned i = 0; i < 16; i++) {
			__m128i m;

			if (i >= 4) {
				__m128i *x = &w[i % 4];
				__m128i last = w[(i + 3) % 4];

				*x = _mm_sha256msg1_epu32(*x, w[(i + 1) % 4]);
				*x = _mm_add_epi32(*x, _mm_alignr_epi8(last, w[(i + 2) % 4], 4));
				*x = _mm_sha256msg2_epu32(*x, last);
			}
			m = _mm_add_epi32(w[i % 4],
					  _mm_loadu_si128(
						  (const __m128i *)(const void *)(k + 4 * i)));
			b = _mm_sha256rnds2_epu32(b, a, m);
			a = _mm_sha256rnds2_epu32(a, b, _mm_shuffle_epi32(m, 0x0e));
		}
		a = _mm_add_epi32(a, a0);
		b = _mm_add_epi32(b, b0);
	}
	t = _mm_shuffle_epi32(a, 0x1b);
	b = _mm_shuffle_epi32(b, 0xb1);
	a = _mm_blend_epi16(t, b, 0xf0);
	b = _mm_alignr_epi8(b, t, 8);
	_mm_storeu_si128((__m128i *)(void *)h, a);
	_mm_storeu_si128((__m128i *)(void *)(h + 4), b);
}

PLAIN static bool instructions_are_there(void)
{
	unsigned a, b, c, d;

	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_SSE4_1))
		return false;
	return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_SHA);
}

PLAIN static void blocks(uint32_t h[8], const uint8_t *p, size_t n)
{
	if (instructions == UNKNOWN)
		instructions = instructions_are_there() ? PRESENT : ABSENT;
	(instructions == PRESENT ? blocks_ni : blocks_portable)(h, p, n);
}

void sha256_portable(bool on)
{
	instructions = on ? ABSENT : UNKNOWN;
}

PLAIN void sha256_init(struct sha256 *s)
{
	static const uint32_t first[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
					   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };

	memcpy(s->h, first, sizeof(first));
	s->len = 0;
}

PLAIN void sha256_add(struct sha256 *s, const void *data, size_t n)
{
	const uint8_t *p = data;
	size_t have = s->len % 64, some;

	s->len += n;
	if (have) {
		some = n < 64 - have ? n : 64 - have;
		memcpy(s->block + have, p, some);
		p += some;
		n -= some;
		if (have + some < 64)
			return;
		blocks(s->h, s->block, 1);
	}
	if (n / 64)
		blocks(s->h, p, n / 64);
	memcpy(s->block, p + n / 64 * 64, n % 64);
}

PLAIN void sha256_end(struct sha256 *s, uint8_t ret[SHA256_SIZE])
{
	uint8_t tail[128] = { 0x80 };
	uint64_t bits = s->len * 8;
	size_t pad = 1 + (119 - s->len % 64) % 64;

	for (unsigned i = 0; i < 8; i++)
		tail[pad + i] = (uint8_t)(bits >> (56 - 8 * i));
	sha256_add(s, tail, pad + 8);
	for (unsigned i = 0; i < 8; i++) {
		ret[4 * i] = (uint8_t)(s->h[i] >> 24);
		ret[4 * i + 1] = (uint8_t)(s->h[i] >> 16);
		ret[4 * i + 2] = (uint8_t)(s->h[i] >> 8);
		ret[4 * i + 3] = (uint8_t)s->h[i];
	}
}
