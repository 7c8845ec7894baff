/* SHA-256 with the processor's instructions and without: known values, and all lengths in any
 * parts. */
/* objects: src/base/sha256.c */
#include "base/sha256.h"

#include <string.h>

#include "tap.h"

static uint8_t data[4096];

static const char *hash_of(const void *p, size_t n)
{
	static char text[2 * SHA256_SIZE + 1];
	uint8_t h[SHA256_SIZE];
	struct sha256 s;

	sha256_init(&s);
	sha256_add(&s, p, n);
	sha256_end(&s, h);
	for (unsigned i = 0; i < SHA256_SIZE; i++)
		sprintf(text + 2 * i, "%02x", h[i]);
	return text;
}

static void known(void)
{
	struct sha256 s;
	uint8_t h[SHA256_SIZE];

	ok(!strcmp(hash_of("", 0),
		   "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
	   "nothing");
	ok(!strcmp(hash_of("abc", 3),
		   "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
	   "abc");
	ok(!strcmp(hash_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56),
		   "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"),
	   "two blocks");
	memset(data, 'a', 1000);
	sha256_init(&s);
	for (unsigned i = 0; i < 1000; i++)
		sha256_add(&s, data, 1000);
	sha256_end(&s, h);
	ok(h[0] == 0xcd && h[1] == 0xc7 && h[2] == 0x6e && h[3] == 0x5c && h[31] == 0xd0,
	   "a million times a");
}

/* The hash of the hashes of all lengths, each in parts. */
static void lengths(uint8_t ret[SHA256_SIZE])
{
	struct sha256 all, s;
	uint8_t h[SHA256_SIZE];
	bool same = true;

	for (unsigned i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 2654435761u >> 11);
	sha256_init(&all);
	for (size_t n = 0; n < 700; n++) {
		uint8_t whole[SHA256_SIZE];

		sha256_init(&s);
		sha256_add(&s, data + n % 5, n);
		sha256_end(&s, whole);
		sha256_init(&s);
		for (size_t at = 0, part = n % 7; at < n; at += part, part = part * 3 % 131 + 1) {
			part = MIN(part, n - at);
			sha256_add(&s, data + n % 5 + at, part);
		}
		sha256_end(&s, h);
		same &= !memcmp(h, whole, sizeof(h));
		sha256_add(&all, whole, sizeof(whole));
	}
	ok(same, "parts make no difference");
	sha256_end(&all, ret);
}

int main(void)
{
	uint8_t a[SHA256_SIZE], b[SHA256_SIZE];

	sha256_portable(false);
	known();
	lengths(a);
	sha256_portable(true);
	known();
	lengths(b);
	ok(!memcmp(a, b, sizeof(a)), "both forms agree");
	return tap_end();
}
