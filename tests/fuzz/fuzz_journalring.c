/* The keeper's side of a journal's ring, whose other side is a kernel or a gate that was broken
 * into: the input is a start position, the writer's claims, and bytes that lie all over the ring,
 * partly shaped as frames. Whatever is there, the reader stays within the ring and its buffer,
 * ends, gives only frames that can be decoded and are of the writer's kinds, and is at the writer's
 * head when it says that the ring is damaged. */
/* objects: src/host/journalring.c src/wire/journal.c */
#include "host/journalring.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"

static const uint64_t writers[] = {
	JOURNAL_KIND_BIT(J_READ) | JOURNAL_KIND_BIT(J_EXEC) | JOURNAL_KIND_BIT(J_CONTENT),
	JOURNAL_KIND_BIT(J_NAME) | JOURNAL_KIND_BIT(J_CONNECT) | JOURNAL_KIND_BIT(J_REQUEST) |
		JOURNAL_KIND_BIT(J_RESPONSE) | JOURNAL_KIND_BIT(J_DENIAL),
};
static const uint16_t shapes[][4] = { { J_READ, J_EXEC, J_CONTENT, J_CONNECT },
				      { J_NAME, J_CONNECT, J_REQUEST, J_EXEC } };

const char fuzz_name[] = "journalring";
const size_t fuzz_max = 8192;

static struct ring_writer w;
static struct ring_reader r;

void fuzz_init(void)
{
	int fd = memfd_create("ring", MFD_CLOEXEC);

	if (fd < 0 || journal_ring_make(fd, 1) || ring_writer_init(&w, fd, -1) ||
	    ring_reader_init(&r, fd, writers[0]))
		abort();
	close(fd);
}

static void frames_check(const uint8_t *p, size_t n, uint32_t count)
{
	size_t at = 0;

	while (count--) {
		const struct journal_frame *f = (const void *)(p + at);
		union journal_record rec;

		FUZZ_CHECK(n - at >= sizeof(*f) && f->size <= n - at);
		FUZZ_CHECK(f->kind < J_KINDS && (r.kinds & JOURNAL_KIND_BIT(f->kind)));
		FUZZ_CHECK(journal_decode(f, f->size, &rec));
		at += f->size;
	}
	FUZZ_CHECK(at == n);
}

void fuzz_one(const uint8_t *data, size_t size)
{
	uint64_t from, ahead;
	unsigned who;
	const char *damage;
	uint32_t count;

	if (size < 2 * sizeof(uint64_t))
		return;
	memcpy(&from, data, sizeof(from));
	memcpy(&ahead, data + 8, sizeof(ahead));
	data += 16;
	size -= 16;
	from &= ~7ull;
	/* Mostly possible ones. */
	if (ahead % 4)
		ahead = (ahead >> 2) % (size + 64) & ~7ull;
	who = (unsigned)(from / 8 % 2);
	r.position = r.spoiled = from;
	r.kinds = writers[who];
	w.ring->head = from + ahead;
	for (size_t i = 0; i < size; i++)
		w.data[(from + i) % JOURNAL_RING_DATA] = data[i];
	/* Lengths that fit, so that what is in frames is reached. */
	if (size >= sizeof(struct journal_frame) &&
	    from % JOURNAL_RING_DATA < JOURNAL_RING_DATA / 2) {
		struct journal_frame *f = (void *)(w.data + from % JOURNAL_RING_DATA);

		if (f->zero % 2) {
			f->size = (uint32_t)(size & ~7ull);
			f->zero = 0;
			f->kind = shapes[who][f->kind % 4];
			f->pad %= 8;
		}
	}
	for (int round = 0; round < 4; round++) {
		int64_t next = ring_reader_next(&r),
			until = round == 2 ? (int64_t)ahead : INT64_MAX;
		size_t room = round == 1 ? JOURNAL_FRAME_MAX : JOURNAL_RING_DATA, n;
		uint8_t *to = aligned_alloc(8, room);

		n = ring_reader_take(&r, to, room, until, &count, &damage);
		FUZZ_CHECK(n <= room);
		frames_check(to, n, count);
		FUZZ_CHECK(!n || next != INT64_MAX);
		for (size_t at = 0; at < n; at += ((struct journal_frame *)(void *)(to + at))->size)
			FUZZ_CHECK(!ring_is_later(((struct journal_frame *)(void *)(to + at))->mono,
						  until));
		/* What is damaged is damaged once. */
		FUZZ_CHECK(!damage || !ring_reader_has(&r));
		if (damage)
			FUZZ_CHECK(r.position == ((from + ahead) & ~7ull));
		ring_reader_done(&r);
		FUZZ_CHECK(w.ring->tail == r.position);
		free(to);
	}
}
