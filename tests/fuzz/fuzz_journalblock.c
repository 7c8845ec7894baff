/* A sealed block and a segment. The first byte is what the rest is: 0: packed data, 1: unpacked
 * columns, with the count of records in two bytes before it; 2: a segment as it is; 3: a segment
 * whose hashes of data are made right; 4: a
 * table of processes. All of it is hostile: whoever can write here has the
 * operator's uid, and still neither reader nor verifier may trip. */
/* objects: src/wire/journal.c src/journal/block.c src/journal/files.c src/journal/reader.c src/journal/processes.c src/journal/table.c src/journal/verify.c src/journal/key.c src/journal/keys.c src/journal/hash.c src/base/buf.c src/base/crc32c.c src/base/err.c src/base/utf8.c src/base/jsontext.c src/base/log.c */
/* libraries: -lcrypto -lzstd */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "fuzz.h"
#include "journal/files.h"
#include "journal/hash.h"
#include "journal/key.h"
#include "journal/table.h"

const char fuzz_name[] = "journalblock";
const size_t fuzz_max = 65536;

static int dir;
static uint8_t public[JOURNAL_PUBLIC];

void fuzz_init(void)
{
	char path[4096];
	const char *tmp = getenv("TMPDIR");
	struct journal_key k;
	struct err e;

	snprintf(path, sizeof(path), "%s/fuzz-journalblock.XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(path) || (dir = open(path, O_RDONLY | O_DIRECTORY)) < 0 ||
	    key_open(&k, dir, true, &e) < 0)
		exit(2);
	memcpy(public, k.public, sizeof(public));
	key_close(&k);
}

static void block_one(const uint8_t *data, size_t size, bool pack)
{
	size_t room = ZSTD_compressBound(size);
	uint8_t *packed = malloc(room);
	struct journal_head h = { .seq = 1, .number = 1 };
	struct journal_entry j;
	struct unpacker u;
	uint32_t n = 0;

	if (!packed)
		return;
	h.count = (uint32_t)(data[0] | data[1] << 8);
	h.unpacked = pack ? (uint32_t)size - 2 : 65536;
	h.table = data[1] >= 128 ? data[0] : 0;
	if (pack)
		h.packed = (uint32_t)ZSTD_compress(packed, room, data + 2, size - 2, 1);
	else
		memcpy(packed, data + 2, h.packed = (uint32_t)size - 2);
	unpacker_init(&u);
	if (!unpacker_start(&u, &h, packed)) {
		while (unpacker_next(&u, &j) > 0) {
			FUZZ_CHECK(j.seq == ++n && j.kind > J_PAD && j.kind < J_KINDS);
			FUZZ_CHECK(j.nframe <= JOURNAL_FRAME_MAX);
		}
		FUZZ_CHECK(n <= h.count);
	}
	unpacker_fini(&u);
	free(packed);
}

static void hashes_fix(uint8_t *p, size_t n)
{
	struct journal_head h;

	while (n >= sizeof(struct journal_block)) {
		memcpy(&h, p, sizeof(h));
		if (h.packed > n - sizeof(struct journal_block))
			return;
		hash_bytes(p + sizeof(struct journal_block), h.packed, h.data);
		memcpy(p, &h, sizeof(h));
		p += BLOCK_SIZE(&h);
		n -= (size_t)BLOCK_SIZE(&h);
	}
}

static bool table_take(void *arg, const void *data, size_t n)
{
	struct processes t;
	bool good;

	(void)arg;
	processes_init(&t, NULL, NULL);
	good = table_read(&t, data, n, NULL, NULL);
	processes_fini(&t);
	return good;
}

static void start_keep(void *arg, const struct journal_entry *e)
{
	struct buf *start = arg;

	FUZZ_CHECK(e->kind == J_START);
	start->len = 0;
	buf_add(start, e->frame, ALIGN_UP(e->nframe, 8));
}

static void processes_check(const struct processes *t)
{
	size_t n = 0;

	for (const struct process *p = t->running_first; p; p = p->list_next, n++) {
		FUZZ_CHECK(!p->ended && p->refs && p->pid > 0);
		FUZZ_CHECK(!p->parent || p->parent->id < p->id);
	}
	FUZZ_CHECK(n == t->nrunning);
	for (const struct process *p = t->ended_first; p; p = p->list_next, n++)
		FUZZ_CHECK(p->ended);
	FUZZ_CHECK(n == t->nrunning + t->nended && n == t->count);
}

/* What is a table is one again after it was written anew, and then stays the same. */
static void table_one(const uint8_t *data, size_t size)
{
	struct buf start = { 0 }, once = { 0 }, twice = { 0 };
	struct processes t;

	processes_init(&t, NULL, NULL);
	if (table_read(&t, data, size, start_keep, &start)) {
		processes_check(&t);
		FUZZ_CHECK(table_write(&t, &start, &once));
		FUZZ_CHECK(table_read(&t, once.p, once.len, start_keep, &start));
		processes_check(&t);
		FUZZ_CHECK(table_write(&t, &start, &twice));
		FUZZ_CHECK(once.len == twice.len && !memcmp(once.p, twice.p, once.len));
	}
	processes_fini(&t);
	buf_free(&start);
	buf_free(&once);
	buf_free(&twice);
}

static void segment_one(const uint8_t *data, size_t size, bool fix)
{
	struct journal_check c = { .deep = true, .key = public };
	struct journal_reader *r;
	struct journal_entry j;
	uint8_t *copy = malloc(size ? size : 1);
	uint64_t last = 0;
	const struct journal_seek seek = {
		.first = size % 7, .earliest = INT64_MIN, .latest = INT64_MAX, .table = table_take
	};
	struct err e;
	int fd, rc;

	if (!copy)
		return;
	memcpy(copy, data, size);
	if (fix)
		hashes_fix(copy, size);
	fd = openat(dir, "00000001.vjs", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || write(fd, copy, size) != (ssize_t)size)
		exit(2);
	close(fd);
	FUZZ_CHECK(!journal_reader_new(dir, 1, &r, &e));
	if (size & 1)
		journal_reader_seek(r, &seek);
	for (int wrong = 0; wrong < 100 && (rc = journal_reader_next(r, &j, &e)) != 0;) {
		wrong += rc < 0;
		if (rc < 0)
			continue;
		FUZZ_CHECK(j.seq > last);
		last = j.seq;
	}
	journal_reader_free(r);
	/* Nobody here has the key: only an empty one is good. */
	rc = journal_verify(dir, &c, &e);
	FUZZ_CHECK(rc || c.nwrong || !c.blocks);
	free(copy);
}

void fuzz_one(const uint8_t *data, size_t size)
{
	if (size < 3)
		return;
	if (data[0] < 2)
		block_one(data + 1, size - 1, data[0]);
	else if (data[0] == 4)
		table_one(data + 1, size - 1);
	else
		segment_one(data + 1, size - 1, data[0] & 1);
}
