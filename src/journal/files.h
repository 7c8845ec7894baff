/* The files of a journal's directory: finding and opening them, reading heads of blocks and batches
 * of raw files. Everything that is a link, or of another user, is refused: somebody could have put
 * it there. */
#ifndef VIV_JOURNAL_FILES_H
#define VIV_JOURNAL_FILES_H

#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"
#include "journal/block.h"
#include "wire/journalraw.h"

#define JOURNAL_NAME_MAX 40

/* The journal of that id as journal_dir_open() does; -1: there is none, or it is refused. */
int must_check journal_dir_open_at(int journals, const char *id);

/* A regular file of ours with one name at most (none: it was removed since). A descriptor; -1:
 * ERR_NOT_FOUND if there is none. */
int must_check journal_file_open(int dir, const char *name, int flags, struct err *e);
int must_check journal_numbered_open(int dir, const char *format, uint64_t number, int flags,
				     struct err *e);
bool journal_numbered_exists(int dir, const char *format, uint64_t number);

/* All n bytes at a place: how many there are, -1 with errno. */
ssize_t read_at(int fd, void *to, size_t n, off_t at);

/* The numbers of segments and raw files, sorted (uint64_t). */
struct journal_names {
	struct buf segments, raws;
};
int must_check journal_names_read(struct journal_names *n, int dir, struct err *e);
void journal_names_free(struct journal_names *n);

/* ---- blocks ---- */

/* What stands at a place of a segment. */
enum block_at {
	BLOCK_HERE, /* a head that is plausible, and as many bytes as it says behind it */
	BLOCK_NONE, /* the end of the file */
	BLOCK_TORN, /* the beginning of a block, and then the end of the file */
	BLOCK_WRONG, /* no head, and not a beginning of one */
	BLOCK_FAILED, /* it cannot be read: errno */
};
enum block_at block_head_at(int fd, off_t at, struct journal_block *ret);
/* Reads its data into b and compares the hash: 1; 0: it is another; -1 with errno. */
int must_check block_data_at(int fd, off_t at, const struct journal_head *h, struct buf *b);

/* ---- raw files ---- */

struct raw {
	int fd; /* -1: none is open */
	uint64_t number, seq; /* seq: of the next batch */
	off_t at;
	struct journal_raw head;
	struct journal_batch batch; /* the last one that was read */
	struct buf frames; /* its frames */
};

enum raw_rc {
	RAW_FAILED = -1, /* it cannot be read, or is not what a keeper writes */
	RAW_END = 0, /* no more now */
	RAW_BATCH = 1,
	RAW_TORN = 2, /* a batch that was being written; nothing behind it */
	RAW_DAMAGED = 3, /* a batch whose sum is wrong, and something behind it */
};

#define RAW_INIT         \
	{                \
		.fd = -1 \
	}
/* RAW_BATCH: it is open. RAW_TORN: its head is not complete. RAW_END: there is none. */
enum raw_rc raw_open(struct raw *r, int dir, uint64_t number, struct err *e);
/* The next batch. Its frames are decoded (and so checked). */
enum raw_rc raw_next(struct raw *r, struct err *e);
void raw_close(struct raw *r);

/* The frame at a place of frames that raw_next has read. */
static inline struct journal_frame frame_at(const struct buf *frames, size_t at)
{
	struct journal_frame f;

	__builtin_memcpy(&f, frames->p + at, sizeof(f));
	return f;
}

#endif
