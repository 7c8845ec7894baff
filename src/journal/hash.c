/* See hash.h. */
/* The old functions make no objects: a leaf is hashed in a fraction of the time that EVP takes. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "journal/hash.h"

#include <openssl/sha.h>
#include <stdlib.h>
#include <string.h>

#include "base/hex.h"

void hash_bytes(const void *data, size_t n, uint8_t out[JOURNAL_HASH])
{
	SHA256_CTX c;

	SHA256_Init(&c);
	SHA256_Update(&c, data, n);
	SHA256_Final(out, &c);
}

void hash_hex(const uint8_t *hash, size_t n, char *hex)
{
	for (size_t i = 0; i < n; i++) {
		hex[2 * i] = "0123456789abcdef"[hash[i] >> 4];
		hex[2 * i + 1] = "0123456789abcdef"[hash[i] & 15];
	}
	hex[2 * n] = '\0';
}

bool hash_unhex(const char *hex, uint8_t *hash, size_t n)
{
	if (strlen(hex) != 2 * n)
		return false;
	for (size_t i = 0; i < n; i++) {
		int a = hex_digit(hex[2 * i]), b = hex_digit(hex[2 * i + 1]);

		if (a < 0 || b < 0)
			return false;
		hash[i] = (uint8_t)(a << 4 | b);
	}
	return true;
}

void merkle_leaf(uint64_t seq, const void *frame, size_t n, uint8_t out[JOURNAL_HASH])
{
	uint8_t head[9] = { 0 };
	SHA256_CTX c;

	memcpy(head + 1, &seq, sizeof(seq));
	SHA256_Init(&c);
	SHA256_Update(&c, head, sizeof(head));
	SHA256_Update(&c, frame, n);
	SHA256_Final(out, &c);
}

static void merkle_node(const uint8_t *left, const uint8_t *right, uint8_t *out)
{
	uint8_t both[1 + 2 * JOURNAL_HASH] = { 1 };

	memcpy(both + 1, left, JOURNAL_HASH);
	memcpy(both + 1 + JOURNAL_HASH, right, JOURNAL_HASH);
	hash_bytes(both, sizeof(both), out);
}

/* One level up, in place: pairs become nodes, one that is left over stays. That gives the trees of
 * the RFC, since only the last node of a level can be smaller than the others. */
static size_t level_up(uint8_t *level, size_t n)
{
	for (size_t i = 0; i + 1 < n; i += 2)
		merkle_node(level + i * JOURNAL_HASH, level + (i + 1) * JOURNAL_HASH,
			    level + i / 2 * JOURNAL_HASH);
	if (n % 2)
		memmove(level + n / 2 * JOURNAL_HASH, level + (n - 1) * JOURNAL_HASH, JOURNAL_HASH);
	return (n + 1) / 2;
}

void merkle_root(const uint8_t *leaves, size_t n, uint8_t out[JOURNAL_HASH])
{
	uint8_t *level;

	if (!n) {
		hash_bytes("", 0, out);
		return;
	}
	level = xalloc(n * JOURNAL_HASH);
	memcpy(level, leaves, n * JOURNAL_HASH);
	while (n > 1)
		n = level_up(level, n);
	memcpy(out, level, JOURNAL_HASH);
	free(level);
}

void merkle_path(const uint8_t *leaves, size_t n, size_t i, struct buf *path)
{
	uint8_t *level = xalloc(n * JOURNAL_HASH);

	memcpy(level, leaves, n * JOURNAL_HASH);
	for (; n > 1; n = level_up(level, n), i /= 2)
		if ((i ^ 1) < n)
			buf_add(path, level + (i ^ 1) * JOURNAL_HASH, JOURNAL_HASH);
	free(level);
}

bool merkle_climb(const uint8_t leaf[JOURNAL_HASH], uint64_t i, uint64_t n, const uint8_t *path,
		  size_t npath, uint8_t out[JOURNAL_HASH])
{
	if (i >= n)
		return false;
	memcpy(out, leaf, JOURNAL_HASH);
	for (; n > 1; n = n / 2 + n % 2, i /= 2) {
		if ((i ^ 1) >= n)
			continue;
		if (!npath)
			return false;
		if (i % 2)
			merkle_node(path, out, out);
		else
			merkle_node(out, path, out);
		path += JOURNAL_HASH;
		npath--;
	}
	return !npath;
}
