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

/* Opens a journal's directory, or that of all journals. A link, or a directory that others own or
 * can write to, is refused. A descriptor; -1: ERR_NOT_FOUND if there is none. */
int must_check journal_dir_open(const char *path, struct err *e);

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
 * number wanted (blocks before it are skipped without unpacking); 0 is as 1. */
int must_check journal_reader_new(int dir, uint64_t from, struct journal_reader **ret,
				  struct err *e);
/* Blocks whose records are all earlier or later than this (wall clock) are skipped without
 * unpacking. Records of other blocks are not looked at: those out of the range come, too. */
void journal_reader_range(struct journal_reader *r, int64_t earliest, int64_t latest);
/* For those who follow processes, and so need all records up to the wanted ones: blocks without
 * wanted records are passed over only where one behind them has a table of processes (table.h). The
 * reader must be new and begin with the first record. Records of blocks between the table and the
 * wanted ones come, too, as do all that are not sealed. Blocks that are passed over are not
 * checked. */
struct journal_seek {
	uint64_t first; /* sequence number */
	int64_t earliest, latest; /* wall clock */
	bool once; /* go over nothing behind the first block that is wanted */
	/* Called before the first record of a block that the reader has jumped to. False: it cannot
	 * be used, which is an error of the journal. */
	bool (*table)(void *arg, const void *data, size_t n);
	void *arg;
};
void journal_reader_seek(struct journal_reader *r, const struct journal_seek *s);
/* 1 and an entry; 0: there is no more now (call again later to follow); -1: the journal is damaged
 * or cannot be read, e says where. After records that are missing it may be called again and goes
 * on behind them; otherwise it fails again. */
int must_check journal_reader_next(struct journal_reader *r, struct journal_entry *ret,
				   struct err *e);
void journal_reader_free(struct journal_reader *r);

/* ---- sealing ---- */

/* Makes blocks of raw files up to that number, which nobody may be writing to any more: a keeper
 * goes on with another file, and so does the next one. Waits for another sealer. */
#define SEAL_COMPLETE 0 /* all but the last one, whatever its number */
#define SEAL_ALL UINT64_MAX
int must_check journal_seal(int dir, uint64_t through, struct err *e);
/* The same in two steps, so that the disk is waited for once for several journals: blocks are
 * written; they are synced, and their raw files go. dir stays open until then. wait: for another
 * sealer; else that is ERR_BUSY. *ret: for journal_seal_end(), which frees it. */
struct sealer;
int must_check journal_seal_begin(int dir, uint64_t through, bool wait, struct sealer **ret,
				  struct err *e);
int must_check journal_seal_end(struct sealer *s, struct err *e);

struct buf;
/* Adds frames, one after the other, to the journal of a cell that does not run, whose id is cell,
 * behind all that its last run left in raw files and rings, and seals everything. Waits some
 * seconds for another writer; then it is ERR_BUSY. On an error some of the frames may be in it. */
int must_check journal_append(int dir, const char *cell, const struct buf *frames, struct err *e);

/* ---- heads ---- */

/* The last sealed block. */
struct journal_tip {
	uint64_t block; /* its number; 0: there is none */
	uint64_t records; /* up to its end */
	uint8_t hash[JOURNAL_HASH]; /* of its head */
	char cell[40];
};
int must_check journal_tip_read(int dir, struct journal_tip *ret, struct err *e);

/* ---- verifying ---- */

struct journal_check {
	/* What is asked. */
	bool deep; /* unpack, decode, compute the tree anew */
	const char *cell; /* whose it must be; NULL: of the cell of its first block */
	const uint8_t *key; /* the public key, 32 bytes; NULL: the host's own */
	uint64_t head_block; /* a head that was kept elsewhere; 0: none */
	uint8_t head_hash[JOURNAL_HASH];
	/* Called for each thing that is wrong, with one sentence. */
	void (*wrong)(void *arg, const char *what);
	void *arg;
	/* What was found. */
	uint64_t blocks, records, bytes; /* sealed; bytes: of the segments */
	uint64_t raw_records, raw_files; /* not sealed yet */
	uint64_t holes; /* hole records; deep only */
	unsigned nwrong;
	struct journal_tip tip;
};
/* 0: all was looked at, whether or not something is wrong (nwrong); -1: it cannot be. */
int must_check journal_verify(int dir, struct journal_check *c, struct err *e);

/* ---- proofs ---- */

/* Adds a proof for a sealed record, as a document of JSON, to out. */
int must_check journal_prove(int dir, uint64_t seq, struct buf *out, struct err *e);
/* Checks one by the public key (32 bytes) alone. 0: it is good, and ret is its record (frame and
 * record point into memory of hold, for buf_free); -1. */
int must_check journal_proof_check(const char *text, size_t n, const uint8_t *key,
				   struct journal_entry *ret, union journal_record *record,
				   char cell[40], struct buf *hold, struct err *e);

#endif
