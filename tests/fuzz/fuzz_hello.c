/* The first bytes of a connection. What is a whole ClientHello stays one with bytes behind it, or
 * is refused; what needs more is nothing yet. */
/* objects: src/gate/hello.c */
#include <string.h>

#include "fuzz.h"
#include "gate/hello.h"

const char fuzz_name[] = "hello";
const size_t fuzz_max = 2048;

void fuzz_init(void)
{
}

void fuzz_one(const uint8_t *data, size_t size)
{
	struct hello h, part;

	hello_read(data, size, &h);
	FUZZ_CHECK(strlen(h.name) < sizeof(h.name));
	FUZZ_CHECK(h.kind == HELLO_TLS || (!h.name[0] && !h.wrong));
	for (size_t i = 0; h.name[i]; i++)
		FUZZ_CHECK((h.name[i] >= 'a' && h.name[i] <= 'z') || strchr("0123456789.-_", h.name[i]));
	for (size_t n = 0; n < size; n += 1 + size / 16) {
		hello_read(data, n, &part);
		FUZZ_CHECK(part.kind == HELLO_MORE || part.kind == h.kind || h.kind == HELLO_OTHER);
	}
}
