/* The keeper's side of a journal's ring, whose other side is a kernel that was broken into: the
 * input is a start position, the writer's claims, and bytes that lie all over the ring, partly
 * shaped as frames. Whatever is there, the reader stays within the ring and its buffer, ends, gives
 * only frames that can be decoded and are of the writer's kinds, and is at the writer's head when
 * it says that the ring is damaged. */
/* objects: src/host/journalring.c src/wire/journal.c */
#include "host/journalring.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"

#define KINDS (JOURNAL_KIND_BIT(J_READ) | JOURNAL_KIND_BIT(J_EXEC) | JOURNAL_KIND_BIT(J_CONTENT))

const char fuzz_name[] = "journalring";
const size_t fuzz_max = 8192;

static struct ring_writer w;
static struct ring_reader r;

void fuzz_init(void)
{
	int fd = memfd_create("ring", MFD_CLOEXEC);

	if (fd < 0 || journal_ring_make(fd, 1) || ring_writer_init(&w, fd, -1) ||
	    ring_reader_init(&r, fd, KINDS))
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
		FUZZ_CHECK(f->kind < J_KINDS && (KINDS & JOURNAL_KIND_BIT(f->kind)));
		FUZZ_CHECK(journal_decode(f, f->size, &rec));
		at += f->size;
	}
	FUZZ_CHECK(at == n);
}

void fuzz_one(const uint8_t *data, size_t size)
{
	uint64_t from, ahead;
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
	r.position = from;
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
			f->kind = f->kind % 2 ? J_READ : J_EXEC;
			f->pad %= 8;
		}
	}
	for (int round = 0; round < 3; round++) {
		size_t room = round == 1 ? JOURNAL_FRAME_MAX : JOURNAL_RING_DATA, n;
		uint8_t *to = aligned_alloc(8, room);

		n = ring_reader_take(&r, to, room, &count, &damage);
		FUZZ_CHECK(n <= room);
		frames_check(to, n, count);
		if (damage)
			FUZZ_CHECK(r.position == ((from + ahead) & ~7ull));
		ring_reader_done(&r);
		FUZZ_CHECK(w.ring->tail == r.position);
		free(to);
	}
}
