/* Kept output of a process: files of records, each a struct log_head and then its bytes. There are
 * at most two files for a process, the current one and the one before it; each is at most
 * LOG_FILE_MAX bytes, so the beginning of a long output is forgotten. Readers have descriptors of
 * their own (KEEP_LOGS); the current file only ever grows, and becomes the one before by a
 * rename. */
#ifndef VIV_KEEPER_LOG_H
#define VIV_KEEPER_LOG_H

#include "base/base.h"
#include "wire/keeper.h"

#define LOG_FILE_MAX (8UL << 20)
#define LOG_CHUNK_MAX 16384 /* bytes of one record */
#define LOG_MAGIC 0x766d

struct log_head {
	uint64_t at; /* bytes of the process's output before these */
	int64_t time; /* nanoseconds since 1970 */
	uint32_t len; /* bytes that follow; at most LOG_CHUNK_MAX */
	uint16_t stream; /* 1 output, 2 errors */
	uint16_t magic; /* LOG_MAGIC */
};
_Static_assert(sizeof(struct log_head) == 24, "the size of a record's head is fixed");

/* Reading: the next record at *at of the file, whose bytes go to buf (LOG_CHUNK_MAX). 1 and *at
 * moves on; 0: there is no whole record yet; -1: the file is damaged. */
int log_next(int fd, uint64_t *at, struct log_head *ret, char *buf);

/* The records of one process, by its files' names in RUN/cells, from a position on; whether the
 * keeper is there or not. */
struct log_reader {
	char id[KEEP_ID_LEN + 1]; /* of the cell */
	uint32_t proc;
	int files[2]; /* the one before and the current one; -1: none */
	uint64_t at[2];
	unsigned opened; /* how often they were opened */
	uint64_t position; /* in the output, of the byte at given */
	/* bytes before that byte which the reader wanted and are forgotten; the user sets it to
	 * 0 */
	uint64_t dropped;
	struct log_head head; /* of the record in data, of which given to len are not read yet */
	size_t given, len;
	char data[LOG_CHUNK_MAX];
};

/* LOG_OLDEST: from the oldest record that is kept. 0, or -ENOENT: there is no log. */
#define LOG_OLDEST UINT64_MAX
int log_reader_open(struct log_reader *r, const char *id, uint32_t proc, uint64_t position);
void log_reader_close(struct log_reader *r);
/* The next record, when the one before is read. 1: it is in data; 0: there is none yet; LOG_AGAIN:
 * many were skipped, and there are more. */
#define LOG_AGAIN 2
int log_reader_next(struct log_reader *r);
void log_reader_take(struct log_reader *r, size_t n);

#endif
