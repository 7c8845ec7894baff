/* CRC-32C by tables and by the processor's instruction: known values, in any parts. */
/* objects: src/base/crc32c.c */
#include <string.h>

#include "base/crc32c.h"
#include "tap.h"

static unsigned char data[1 << 20];

static void known(const char *how)
{
	unsigned char zeros[32] = { 0 };

	printf("# %s\n", how);
	eq(crc32c(0, "123456789", 9), 0xe3069283, "digits");
	eq(crc32c(0, zeros, 32), 0x8a9136aa, "zeros"); /* RFC 3720, B.4 */
	eq(crc32c(0, "", 0), 0, "nothing");
}

int main(void)
{
	uint32_t parts[64], crc, whole;
	unsigned at = 0, i = 0;

	for (unsigned k = 0; k < sizeof(data); k++)
		data[k] = (unsigned char)(k * 2654435761u >> 13);
	known("by tables");
	/* Small ones: the processor is not asked for these. */
	for (crc = 0; i < 64; at += i++ * 3)
		parts[i] = crc = crc32c(crc, data + at, i * 3);
	/* And now it is. */
	whole = crc32c(0, data, sizeof(data));
	known("after many bytes");
	eq(crc32c(0, data, sizeof(data)), whole, "all at once, again");
	for (at = i = 0, crc = 0; i < 64; at += i++ * 3) {
		crc = crc32c(crc, data + at, i * 3);
		if (crc != parts[i])
			break;
	}
	eq(i, 64, "in parts of all lengths, as before");
	return tap_end();
}
