/* SHA-256. */
#ifndef VIV_IMPORT_HASH_H
#define VIV_IMPORT_HASH_H

#include "base/base.h"
#include "store/store.h"

struct hash {
	void *ctx;
};

void hash_init(struct hash *h);
void hash_start(struct hash *h);
void hash_add(struct hash *h, const void *data, size_t n);
/* As many zeros. */
void hash_add_zeros(struct hash *h, uint64_t n);
void hash_end(struct hash *h, uint8_t out[INDEX_HASH]);
void hash_fini(struct hash *h);

void hash_text(const uint8_t hash[INDEX_HASH], char text[HASH_TEXT]);
bool hash_parse(const char *text, uint8_t hash[INDEX_HASH]);
/* Of a file from where it stands to its end; size (may be NULL): how much that was. -1 with
 * errno. */
int hash_file(int fd, uint8_t out[INDEX_HASH], uint64_t *size);

#endif
