/* SHA-256 by OpenSSL, which uses the processor's own instructions where there are any. */
#include "import/hash.h"

#include <errno.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/buf.h"

#define CHUNK (256 << 10)

static const uint8_t zeros[64 << 10];

/* Looked up once: with OpenSSL 3 each look-up costs more than the hash of a small file. */
static EVP_MD *sha256(void)
{
	static EVP_MD *md;

	if (!md)
		md = EVP_MD_fetch(NULL, "SHA256", NULL);
	if (!md)
		log_die("OpenSSL has no SHA-256");
	return md;
}

void hash_init(struct hash *h)
{
	h->ctx = EVP_MD_CTX_new();
	if (!h->ctx)
		log_die("out of memory");
}

void hash_fini(struct hash *h)
{
	EVP_MD_CTX_free(h->ctx);
	h->ctx = NULL;
}

void hash_start(struct hash *h)
{
	if (EVP_DigestInit_ex2(h->ctx, sha256(), NULL) != 1)
		log_die("OpenSSL cannot hash");
}

void hash_add(struct hash *h, const void *data, size_t n)
{
	if (EVP_DigestUpdate(h->ctx, data, n) != 1)
		log_die("OpenSSL cannot hash");
}

void hash_add_zeros(struct hash *h, uint64_t n)
{
	for (; n > sizeof(zeros); n -= sizeof(zeros))
		hash_add(h, zeros, sizeof(zeros));
	hash_add(h, zeros, (size_t)n);
}

void hash_end(struct hash *h, uint8_t out[INDEX_HASH])
{
	unsigned n = 0;

	if (EVP_DigestFinal_ex(h->ctx, out, &n) != 1 || n != INDEX_HASH)
		log_die("OpenSSL cannot hash");
}

void hash_text(const uint8_t hash[INDEX_HASH], char text[HASH_TEXT])
{
	static const char digits[] = "0123456789abcdef";

	for (unsigned i = 0; i < INDEX_HASH; i++) {
		text[2 * i] = digits[hash[i] >> 4];
		text[2 * i + 1] = digits[hash[i] & 15];
	}
	text[2 * INDEX_HASH] = '\0';
}

static uint8_t digit(char c)
{
	return (uint8_t)(c <= '9' ? c - '0' : c - 'a' + 10);
}

bool hash_parse(const char *text, uint8_t hash[INDEX_HASH])
{
	if (!hash_is_valid(text))
		return false;
	for (unsigned i = 0; i < INDEX_HASH; i++)
		hash[i] = (uint8_t)(digit(text[2 * i]) << 4 | digit(text[2 * i + 1]));
	return true;
}

int hash_file(int fd, uint8_t out[INDEX_HASH], uint64_t *size)
{
	uint8_t *chunk = xalloc(CHUNK);
	struct hash h;
	uint64_t sum = 0;
	ssize_t n;

	hash_init(&h);
	hash_start(&h);
	while ((n = read(fd, chunk, CHUNK)) > 0 || (n < 0 && errno == EINTR)) {
		if (n < 0)
			continue;
		hash_add(&h, chunk, (size_t)n);
		sum += (uint64_t)n;
	}
	hash_end(&h, out);
	hash_fini(&h);
	free(chunk);
	if (size)
		*size = sum;
	return n < 0 ? -1 : 0;
}
