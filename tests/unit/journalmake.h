/* Raw files for tests, as a keeper writes them. */
#ifndef VIV_TESTS_UNIT_JOURNALMAKE_H
#define VIV_TESTS_UNIT_JOURNALMAKE_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/crc32c.h"
#include "wire/journalraw.h"

struct maker {
	int dir, fd;
	char cell[40];
	uint64_t number, seq; /* seq: of the next record */
	struct buf frames;
	uint32_t count;
	int64_t mono;
};

static inline void maker_file(struct maker *m)
{
	struct journal_raw head = { .magic = JOURNAL_RAW_MAGIC, .number = m->number, .seq = m->seq };
	char name[40];

	memcpy(head.cell, m->cell, sizeof(head.cell));
	snprintf(name, sizeof(name), "raw.%08llu", (unsigned long long)m->number);
	m->fd = openat(m->dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (m->fd < 0 || write(m->fd, &head, sizeof(head)) != sizeof(head)) {
		perror(name);
		abort();
	}
}

static inline void maker_init(struct maker *m, int dir, const char *cell)
{
	*m = (struct maker){ .dir = dir, .number = 1, .seq = 1, .mono = 1000 };
	snprintf(m->cell, sizeof(m->cell), "%s", cell);
	maker_file(m);
}

static inline void maker_add(struct maker *m, enum journal_kind kind, const void *record, int pid)
{
	static uint8_t frame[JOURNAL_FRAME_MAX] __attribute__((aligned(8)));
	size_t n;

	m->mono += 12345;
	n = journal_encode(kind, record, pid, m->mono, 1700000000 * NSEC_PER_SEC + m->mono, frame);
	buf_add(&m->frames, frame, n);
	m->count++;
}

static inline void maker_flush(struct maker *m)
{
	struct journal_batch b = { .magic = JOURNAL_BATCH_MAGIC,
				   .nbytes = (uint32_t)m->frames.len,
				   .count = m->count,
				   .seq = m->seq };
	struct buf all = { 0 };

	if (!m->count)
		return;
	b.crc = crc32c(crc32c(0, &b.nbytes, sizeof(b) - offsetof(struct journal_batch, nbytes)),
		       m->frames.p, m->frames.len);
	buf_add(&all, &b, sizeof(b));
	buf_add(&all, m->frames.p, m->frames.len);
	if (write(m->fd, all.p, all.len) != (ssize_t)all.len)
		abort();
	buf_free(&all);
	m->seq += m->count;
	m->count = 0;
	m->frames.len = 0;
}

/* The next raw file. */
static inline void maker_rotate(struct maker *m)
{
	maker_flush(m);
	close(m->fd);
	m->number++;
	maker_file(m);
}

static inline void maker_close(struct maker *m)
{
	maker_flush(m);
	close(m->fd);
	buf_free(&m->frames);
}

#endif
