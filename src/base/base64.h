/* Base64, as RFC 4648 has it. */
#ifndef VIV_BASE_BASE64_H
#define VIV_BASE_BASE64_H

#include <sys/types.h>

#define BASE64_SIZE(n) (((n) + 2) / 3 * 4)
/* Writes BASE64_SIZE(n) characters and no NUL. */
void base64_encode(char *to, const void *data, size_t n);
/* Decodes n characters; to has room for n / 4 * 3. How many bytes, or -1: not base64. */
ssize_t base64_decode(void *to, const char *text, size_t n);

#endif
