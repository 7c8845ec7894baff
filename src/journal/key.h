/* The host's key: Ed25519, in the file journal.key of the directory of all journals, made at first
 * use, mode 0600, as PEM. Its public half is 32 bytes, shown as 64 digits; the first 8 bytes of its
 * SHA-256 say in a block which key signed it. */
#ifndef VIV_JOURNAL_KEY_H
#define VIV_JOURNAL_KEY_H

#include "base/err.h"
#include "journal/block.h"

#define JOURNAL_PUBLIC 32

struct journal_key {
	void *pkey; /* EVP_PKEY; NULL: none */
	uint8_t public[JOURNAL_PUBLIC];
	uint8_t id[JOURNAL_KEY_ID];
};

/* journals: the directory of all journals, as a descriptor. make: where there is none yet; else
 * that is ERR_NOT_FOUND. A key that others could have read or written is refused. */
int must_check key_open(struct journal_key *k, int journals, bool make, struct err *e);
/* For a rotation (keys.h): the key that will be the next one, made if there is none; and the change
 * itself. */
int must_check key_next(struct journal_key *k, int journals, struct err *e);
int must_check key_take_place(int journals, struct err *e);
/* Only the public half. */
int must_check key_public(struct journal_key *k, const uint8_t public[JOURNAL_PUBLIC],
			  struct err *e);
void key_close(struct journal_key *k);

/* The signature is of the SHA-256 of the bytes. */
int must_check key_sign_bytes(const struct journal_key *k, const void *data, size_t n,
			      uint8_t out[JOURNAL_SIGNATURE], struct err *e);
bool key_verify_bytes(const struct journal_key *k, const void *data, size_t n,
		      const uint8_t signature[JOURNAL_SIGNATURE]);
/* Fills signature and key of a block whose head is complete. */
int must_check key_sign(const struct journal_key *k, struct journal_block *b, struct err *e);
bool key_verify(const struct journal_key *k, const struct journal_block *b);

#endif
