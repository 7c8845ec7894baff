/* CRC-32C, eight bytes at a time from tables that are made at the first use. The processor may have
 * an instruction for it, but asking whether it does costs more in a virtual machine than the tables
 * do for a few records: it is asked when there were many. */
#include "base/crc32c.h"

#include <cpuid.h>
#include <nmmintrin.h>
#include <string.h>

#define POLYNOMIAL 0x82f63b78u /* reflected */
#define ASK_AFTER (256u << 10) /* bytes */

static enum { UNKNOWN, ABSENT, PRESENT } instruction;
static size_t seen;

__attribute__((target("sse4.2"))) static uint32_t crc_by_instruction(uint32_t crc, const void *data,
								     size_t n)
{
	const unsigned char *p = data;
	uint64_t c = ~crc;

	for (; n >= 8; n -= 8, p += 8) {
		uint64_t w;

		memcpy(&w, p, 8);
		c = _mm_crc32_u64(c, w);
	}
	for (; n; n--, p++)
		c = _mm_crc32_u8((uint32_t)c, *p);
	return ~(uint32_t)c;
}

static void instruction_ask(size_t n)
{
	unsigned a, b, c = 0, d;

	seen += n;
	if (seen >= ASK_AFTER)
		instruction = __get_cpuid(1, &a, &b, &c, &d) && (c & bit_SSE4_2) ? PRESENT : ABSENT;
}

static uint32_t table[8][256];

static void table_fill(void)
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t c = i;

		for (int bit = 0; bit < 8; bit++)
			c = c & 1 ? c >> 1 ^ POLYNOMIAL : c >> 1;
		table[0][i] = c;
	}
	for (uint32_t i = 0; i < 256; i++)
		for (int k = 1; k < 8; k++)
			table[k][i] = table[k - 1][i] >> 8 ^ table[0][table[k - 1][i] & 0xff];
}

uint32_t crc32c(uint32_t crc, const void *data, size_t n)
{
	const unsigned char *p = data;

	if (instruction == UNKNOWN)
		instruction_ask(n);
	if (instruction == PRESENT)
		return crc_by_instruction(crc, data, n);
	if (!table[0][1])
		table_fill();
	crc = ~crc;
	for (; n >= 8; n -= 8, p += 8) {
		uint64_t w;

		memcpy(&w, p, 8);
		w ^= crc;
		crc = table[7][w & 0xff] ^ table[6][w >> 8 & 0xff] ^ table[5][w >> 16 & 0xff] ^
		      table[4][w >> 24 & 0xff] ^ table[3][w >> 32 & 0xff] ^
		      table[2][w >> 40 & 0xff] ^ table[1][w >> 48 & 0xff] ^ table[0][w >> 56];
	}
	for (; n; n--, p++)
		crc = crc >> 8 ^ table[0][(crc ^ *p) & 0xff];
	return ~crc;
}
