/* Keys that signed journals before the current one. 'viv journal key --rotate' makes a new key and
 * writes the file journal.keys beside it:
 *
 *   vivarium-journal-keys 1
 *   old PUBLIC TIME            a key that was replaced, and when (nanoseconds since 1970)
 *   head CELL BLOCK HASH       where the journal of a cell ended at the last rotation
 *   signature HEX              of all before it, by the current key
 *
 * Blocks up to a cell's head may be signed by an old key. They are certain by the head's hash,
 * which the current key has signed and which leads to all blocks before it: so whoever has a stolen
 * old key can neither change nor add one. Blocks behind it, and those of cells without a line, must
 * be signed by the current key. The file is written anew by each rotation, so that no old key
 * vouches for anything. */
#ifndef VIV_JOURNAL_KEYS_H
#define VIV_JOURNAL_KEYS_H

#include "journal/key.h"

struct key_head {
	char cell[JOURNAL_CELL];
	uint64_t block;
	uint8_t hash[JOURNAL_HASH];
};

struct journal_keys {
	struct buf old; /* struct key_old */
	struct buf heads; /* struct key_head */
};

struct key_old {
	struct journal_key key;
	int64_t until;
};

/* journals: the directory of all journals. Without a file there is no old key. -1: the file is not
 * signed by this key, or damaged; then there is none, either. */
int must_check keys_read(struct journal_keys *k, int journals, const struct journal_key *current,
			 struct err *e);
void keys_free(struct journal_keys *k);
/* By the id in a block; NULL: it is not one of them. Borrows. */
const struct key_old *keys_find(const struct journal_keys *k, const uint8_t id[JOURNAL_KEY_ID]);
/* Where the journal of a cell ended; NULL: it has no blocks of old keys. Borrows. */
const struct key_head *keys_head(const struct journal_keys *k, const char *cell);

/* Makes a new key, which seals from now on. Goes on with a rotation that was interrupted. *ret: the
 * new one, for key_close. */
int must_check keys_rotate(int journals, struct journal_key *ret, struct err *e);

#endif
