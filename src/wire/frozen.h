/* How the file of a frozen cell begins. The rest is its kernel's business (kernel/cell/frozen.h).
 */
#ifndef VIV_WIRE_FROZEN_H
#define VIV_WIRE_FROZEN_H

#include "base/sha256.h"

#define FROZEN_MAGIC "vivfrz1\n"

struct frozen_head {
	char magic[8];
	char host[64]; /* the boot of the host that it was frozen under, as the keeper names it */
	uint8_t stub[SHA256_SIZE]; /* of the stub's program */
	uint8_t hash[SHA256_SIZE]; /* of the records */
	uint64_t records, size; /* where they are, in bytes */
	int32_t seed; /* the number of the seed */
	uint32_t pad;
};

#endif
