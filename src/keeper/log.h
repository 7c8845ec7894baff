/* Kept output of a process: files of records, each a struct log_head and then its bytes. There are at most two files for a process,
 * the current one and the one before it; each is at most LOG_FILE_MAX bytes, so the beginning of a long output is forgotten. Readers have
 * descriptors of their own (KEEP_LOGS); the current file only ever grows, and becomes the one before by a rename. */
#ifndef VIV_KEEPER_LOG_H
#define VIV_KEEPER_LOG_H

#include "base/base.h"

#define LOG_FILE_MAX (8UL << 20)
#define LOG_CHUNK_MAX 16384 /* bytes of one record */
#define LOG_MAGIC 0x766c

struct log_head {
	int64_t time; /* nanoseconds since 1970 */
	uint32_t len; /* bytes that follow; at most LOG_CHUNK_MAX */
	uint16_t stream; /* 1 output, 2 errors */
	uint16_t magic; /* LOG_MAGIC */
};
_Static_assert(sizeof(struct log_head) == 16, "the size of a record's head is fixed");

/* Reading: the next record at *at of the file, whose bytes go to buf (LOG_CHUNK_MAX). 1 and *at moves on; 0: there is no whole record yet;
 * -1: the file is damaged. */
int log_next(int fd, uint64_t *at, struct log_head *ret, char *buf);

#endif
