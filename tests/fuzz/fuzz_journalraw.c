/* A raw file of a journal. The first byte is how the rest is made one: bit 0: a head is put before it,
 * bit 1: the sums of its batches are made right. What is accepted can be read by the reader, record
 * by record, in order. */
/* objects: src/wire/journal.c src/journal/block.c src/journal/files.c src/journal/reader.c src/journal/hash.c src/base/buf.c src/base/crc32c.c src/base/err.c src/base/utf8.c src/base/jsontext.c src/base/log.c */
/* libraries: -lcrypto -lzstd */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "fuzz.h"
#include "journal/files.h"

const char fuzz_name[] = "journalraw";
const size_t fuzz_max = 65536;

static int dir;

void fuzz_init(void)
{
	char path[4096];
	const char *tmp = getenv("TMPDIR");

	snprintf(path, sizeof(path), "%s/fuzz-journalraw.XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(path) || (dir = open(path, O_RDONLY | O_DIRECTORY)) < 0)
		exit(2);
}

static void sums_fix(struct buf *b, size_t at)
{
	struct journal_batch batch;

	while (b->len - at >= sizeof(batch)) {
		size_t n;

		memcpy(&batch, b->p + at, sizeof(batch));
		n = MIN(batch.nbytes, b->len - at - sizeof(batch));
		batch.crc = crc32c(0, b->p + at + 8, sizeof(batch) - 8 + n);
		memcpy(b->p + at, &batch, sizeof(batch));
		at += sizeof(batch) + n;
	}
}

static uint64_t records_read(void)
{
	struct journal_reader *r;
	struct journal_entry j;
	uint64_t n = 0, last = 0;
	struct err e;
	int rc;

	FUZZ_CHECK(!journal_reader_new(dir, 1, &r, &e));
	for (int wrong = 0; wrong < 3 && (rc = journal_reader_next(r, &j, &e)) != 0;) {
		wrong += rc < 0;
		if (rc < 0)
			continue;
		FUZZ_CHECK(j.seq > last && j.kind > J_PAD && j.kind < J_KINDS);
		last = j.seq;
		n++;
	}
	journal_reader_free(r);
	return n;
}

void fuzz_one(const uint8_t *data, size_t size)
{
	struct journal_raw head = { .magic = JOURNAL_RAW_MAGIC, .number = 1, .seq = 1, .cell = "c" };
	struct raw raw = RAW_INIT;
	struct buf b = { 0 };
	uint64_t n = 0;
	struct err e;
	int fd;

	if (!size)
		return;
	if (data[0] & 1)
		buf_add(&b, &head, sizeof(head));
	buf_add(&b, data + 1, size - 1);
	if (data[0] & 2 && b.len > sizeof(head))
		sums_fix(&b, sizeof(head));
	fd = openat(dir, "raw.00000001", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || write(fd, b.p, b.len) != (ssize_t)b.len)
		exit(2);
	close(fd);
	if (raw_open(&raw, dir, 1, &e) == RAW_BATCH)
		while (raw_next(&raw, &e) == RAW_BATCH)
			n += raw.batch.count;
	raw_close(&raw);
	FUZZ_CHECK(records_read() == n);
	buf_free(&b);
}
