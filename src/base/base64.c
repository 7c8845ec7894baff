/* See base64.h. */
#include "base/base64.h"

#include <stdint.h>
#include <string.h>

#include "base/base.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_encode(char *to, const void *data, size_t n)
{
	/* Two characters for each twelve bits. */
	static char pairs[4096][2];
	const uint8_t *p = data;

	if (!pairs[0][0])
		for (unsigned i = 0; i < ARRAY_LEN(pairs); i++) {
			pairs[i][0] = alphabet[i >> 6];
			pairs[i][1] = alphabet[i & 63];
		}
	for (; n >= 3; n -= 3, p += 3, to += 4) {
		memcpy(to, pairs[p[0] << 4 | p[1] >> 4], 2);
		memcpy(to + 2, pairs[(p[1] & 15) << 8 | p[2]], 2);
	}
	if (!n)
		return;
	*to++ = alphabet[p[0] >> 2];
	*to++ = alphabet[(p[0] & 3) << 4 | (n > 1 ? p[1] >> 4 : 0)];
	*to++ = n > 1 ? alphabet[(p[1] & 15) << 2] : '=';
	*to = '=';
}

ssize_t base64_decode(void *to, const char *text, size_t n)
{
	uint8_t *p = to;
	size_t pad = 0;

	if (n % 4)
		return -1;
	while (pad < 2 && pad < n && text[n - 1 - pad] == '=')
		pad++;
	for (size_t i = 0; i < n; i += 4) {
		uint32_t v = 0;

		for (size_t j = i; j < i + 4; j++) {
			const char *at = j < n - pad && text[j] ? strchr(alphabet, text[j]) : NULL;

			if (j < n - pad && !at)
				return -1;
			v = v << 6 | (at ? (uint32_t)(at - alphabet) : 0);
		}
		*p++ = (uint8_t)(v >> 16);
		*p++ = (uint8_t)(v >> 8);
		*p++ = (uint8_t)v;
	}
	return (ssize_t)(n / 4 * 3 - (n ? pad : 0));
}
