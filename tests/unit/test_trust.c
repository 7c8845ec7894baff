/* Files of certificates with the cell's CA in them: an image's bundle and keystore, whole and
 * damaged; and SHA-1, which keystores have. */
/* objects: src/kernel/fs/image/trust.c src/kernel/platform/cell.c src/base/base64.c src/base/sha1.c */
#include <stdlib.h>
#include <string.h>

#include "base/sha1.h"
#include "kernel/fs/image/trust.h"
#include "kernel/platform/cell.h"
#include "tap.h"

#define CA "-----BEGIN CERTIFICATE-----\nMIIBAAEC\nAwQFBg==\n-----END CERTIFICATE-----\n"

static bool sha1_is(const char *text, unsigned times, const char *want)
{
	uint8_t digest[SHA1_SIZE];
	char hex[2 * SHA1_SIZE + 1];
	struct sha1 s;

	sha1_init(&s);
	while (times--)
		sha1_add(&s, text, strlen(text));
	sha1_end(&s, digest);
	for (unsigned i = 0; i < SHA1_SIZE; i++)
		snprintf(hex + 2 * i, 3, "%02x", digest[i]);
	return !strcmp(hex, want);
}

/* In memory of its own, so that a sanitizer sees what is touched behind it. */
static size_t complete(enum trust_kind kind, const void *text, size_t n, size_t room, char **ret)
{
	char *buf = malloc(n + room + 1);
	size_t len;

	memcpy(buf, text, n);
	len = trust_files[kind].complete(buf, n, n + room);
	*ret = buf;
	return len;
}

static void bundles(void)
{
	static const char own[] = "own";
	char *got, buf[1024];
	size_t n = complete(TRUST_BUNDLE, own, 3, trust_room(), &got);

	ok(n == strlen("own\n" CA) && !memcmp(got, "own\n" CA, n), "a bundle without a line end");
	free(got);
	n = complete(TRUST_BUNDLE, "own\n", 4, trust_room(), &got);
	ok(n == strlen("own\n" CA) && !memcmp(got, "own\n" CA, n), "and one with it");
	free(got);
	eq(complete(TRUST_BUNDLE, own, 3, 10, &got), 0, "no room");
	free(got);
	eq(trust_make_bundle(buf, sizeof(buf)), (long long)strlen(CA), "the CA alone");
}

static void keystores(void)
{
	char store[1024], *got;
	int len = trust_make_keystore(store, sizeof(store));
	unsigned wrong = 0;
	size_t n;

	ok(len > 50 && !memcmp(store, "\xfe\xed\xfe\xed\0\0\0\2\0\0\0\1\0\0\0\2\0\x10vivarium", 26),
	   "a keystore with the CA alone");
	ok(memmem(store, (size_t)len, "\0\5X.509\0\0\0\xa\x30\x82\1\0\1\2\3\4\5\6", 21) != NULL,
	   "has its certificate");
	n = complete(TRUST_KEYSTORE, store, (size_t)len, trust_room(), &got);
	ok(n > (size_t)len && got[11] == 2 && !memcmp(got + 12, store + 12, (size_t)len - 32),
	   "one that has certificates keeps them");
	free(got);
	/* Cut anywhere, and changed: nothing is read beyond it; without its head it is none. */
	for (int cut = 0; cut < len; cut++) {
		n = complete(TRUST_KEYSTORE, store, (size_t)cut, trust_room(), &got);
		wrong += (n != 0) != (cut >= 32);
		free(got);
	}
	for (size_t room = 0; room < 74; room++) {
		wrong += complete(TRUST_KEYSTORE, store, (size_t)len, room, &got) != 0;
		free(got);
	}
	eq(wrong, 0, "cut anywhere, with room for less");
	store[3]++;
	eq(complete(TRUST_KEYSTORE, store, (size_t)len, trust_room(), &got), 0, "another format");
	free(got);
}

int main(void)
{
	char buf[64];

	ok(sha1_is("abc", 1, "a9993e364706816aba3e25717850c26c9cd0d89d"), "abc");
	ok(sha1_is("", 1, "da39a3ee5e6b4b0d3255bfef95601890afd80709"), "nothing");
	ok(sha1_is("aaaaaaaaaa", 100000, "34aa973cd4c4daa4f61eeb2bdbad27316534016f"), "a million");
	eq(trust_make_bundle(buf, sizeof(buf)), -1, "without a CA there is no bundle");
	eq(trust_make_keystore(buf, sizeof(buf)), -1, "and no keystore");
	cell.spec.ca = CA;
	bundles();
	keystores();
	return tap_end();
}
