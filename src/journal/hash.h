/* SHA-256, and Merkle trees as RFC 6962, section 2.1, has them: the hash of a leaf begins with a
 * byte 0, that of a node with a byte 1, and the left half of n leaves is the largest power of two
 * below n. */
#ifndef VIV_JOURNAL_HASH_H
#define VIV_JOURNAL_HASH_H

#include "base/buf.h"
#include "wire/journal.h"

#define HASH_HEX (2 * JOURNAL_HASH + 1)

void hash_bytes(const void *data, size_t n, uint8_t out[JOURNAL_HASH]);
void hash_hex(const uint8_t *hash, size_t n, char *hex); /* hex: 2 * n + 1 */
/* n bytes from 2 * n digits; false: they are not that. */
bool hash_unhex(const char *hex, uint8_t *hash, size_t n);

/* The leaf of a record: its sequence number and its frame without padding. */
void merkle_leaf(uint64_t seq, const void *frame, size_t n, uint8_t out[JOURNAL_HASH]);

/* leaves: n hashes one after the other. */
void merkle_root(const uint8_t *leaves, size_t n, uint8_t out[JOURNAL_HASH]);
/* Adds the path of leaf i to path, from the leaf upwards. */
void merkle_path(const uint8_t *leaves, size_t n, size_t i, struct buf *path);
/* The root that a leaf and its path lead to; false: the path has another length. */
bool merkle_climb(const uint8_t leaf[JOURNAL_HASH], uint64_t i, uint64_t n, const uint8_t *path,
		  size_t npath, uint8_t out[JOURNAL_HASH]);

#endif
