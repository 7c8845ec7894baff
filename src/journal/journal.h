/* Journals on disk (docs/decisions/0049-journal.md): raw files, sealed blocks, reading both,
 * verifying, proofs. Part of viv-journal and vivd, which link libcrypto and libzstd.
 *
 * Readers need no lock: sealed blocks never change, a raw file only grows and is removed after its
 * block was synced, and a record that is in both is shown once, as sequence numbers tell. */
#ifndef VIV_JOURNAL_JOURNAL_H
#define VIV_JOURNAL_JOURNAL_H

#include "base/base.h"
#include "base/err.h"
#include "wire/journal.h"

/* ---- raw files (also written by the keeper: wire/journalraw.h) ---- */

/* ---- reading ---- */

struct journal_entry {
	uint64_t seq; /* from 1 on */
	int64_t mono, wall;
	int32_t pid;
	enum journal_kind kind;
	const union journal_record *record; /* valid until the next call */
	const uint8_t *frame; /* its bytes, without padding */
	size_t nframe;
	uint64_t block; /* that it is in; 0: not sealed yet */
};

struct journal_reader;

/* dir: the journal's directory, as a descriptor that stays the caller's. from: the first sequence
 * number wanted (blocks before it are skipped without unpacking). */
int must_check journal_reader_new(int dir, uint64_t from, struct journal_reader **ret,
				  struct err *e);
/* 1 and an entry; 0: there is no more now (call again later to follow); -1: the journal is damaged
 * or cannot be read, e says where. */
int must_check journal_reader_next(struct journal_reader *r, struct journal_entry *ret,
				   struct err *e);
void journal_reader_free(struct journal_reader *r);

#endif
