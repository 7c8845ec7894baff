/* The ring of a journal: what goes in comes out, in order and whole, also when it is full; and a
 * writer that lies, whose reader stays within its memory, ends, and goes on. */
/* objects: src/host/journalring.c src/wire/journal.c */
#include "host/journalring.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"

#define KINDS (JOURNAL_KIND_BIT(J_READ) | JOURNAL_KIND_BIT(J_REMOVE))

static uint64_t state = 88172645463325252ull;

static uint64_t rnd(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static uint8_t frame[JOURNAL_FRAME_MAX] __attribute__((aligned(8)));
static uint8_t out[JOURNAL_RING_DATA + JOURNAL_FRAME_MAX] __attribute__((aligned(8)));
static struct ring_writer w;
static struct ring_reader r;

static void ring_new(void)
{
	int fd = memfd_create("ring", MFD_CLOEXEC), bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	if (journal_ring_make(fd, 7) || ring_writer_init(&w, fd, bell) ||
	    ring_reader_init(&r, fd, KINDS))
		abort();
	close(fd);
}

static void ring_end(void)
{
	ring_reader_fini(&r);
	munmap(w.ring, JOURNAL_RING_SIZE);
	close(w.bell);
}

static size_t frame_make(int32_t n, uint32_t len)
{
	static char text[JOURNAL_TEXT_MAX];
	struct journal_READ rec = { .path = { text, len } };

	memset(text, 'a' + n % 26, sizeof(text));
	return journal_encode(J_READ, &rec, n, n, n, frame);
}

static bool is_rung(void)
{
	uint64_t n;

	return read(w.bell, &n, sizeof(n)) == sizeof(n);
}

/* All that is there; the number of the next one that is expected, or -1. */
static int32_t take_all(int32_t next, size_t room)
{
	const char *damage;
	uint32_t count;
	size_t n;

	while ((n = ring_reader_take(&r, out, room, INT64_MAX, &count, &damage)) > 0) {
		size_t at = 0;

		for (uint32_t i = 0; i < count; i++) {
			const struct journal_frame *f = (const void *)(out + at);
			union journal_record rec;

			if (f->pid != next++ || !journal_decode(f, f->size, &rec))
				return -1;
			at += f->size;
		}
		if (at != n || damage)
			return -1;
		ring_reader_done(&r);
	}
	return damage ? -1 : next;
}

static void order(void)
{
	int32_t put = 0, taken = 0;

	ring_new();
	for (int round = 0; round < 4000 && taken >= 0; round++) {
		unsigned some = (unsigned)(rnd() % 30);

		for (unsigned i = 0; i < some; i++)
			ring_writer_put(&w, frame,
					frame_make(put++,
						   (uint32_t)(rnd() % (rnd() % 8 ? 60 : 4096))));
		taken = take_all(taken, rnd() % 2 ? sizeof(out) : JOURNAL_FRAME_MAX);
		if (taken != put)
			break;
	}
	eq(taken, put, "many rounds: nothing is lost or changed");
	ring_end();
}

static void bells(void)
{
	ring_new();
	ok(ring_reader_wait(&r, RING_ASLEEP), "the reader sleeps while there is nothing");
	ring_writer_put(&w, frame, frame_make(0, 10));
	ok(is_rung(), "the first frame rings");
	ring_writer_put(&w, frame, frame_make(1, 10));
	ok(!is_rung(), "the second does not");
	ok(!ring_reader_wait(&r, RING_ASLEEP), "it does not sleep while there is something");
	(void)ring_reader_wait(&r, RING_GATHERS);
	ring_writer_put(&w, frame, frame_make(2, 10));
	ok(!is_rung(), "nor one of a reader that gathers");
	for (int i = 3; i < 40; i++)
		ring_writer_put(&w, frame, frame_make(i, 4000));
	ok(is_rung(), "unless the ring is half full");
	eq(take_all(0, sizeof(out)), 40, "all are there");
	ring_end();
}

/* A writer that is faster than its reader waits. */
static void full(void)
{
	int32_t taken = 0;
	pid_t pid;
	int status;

	ring_new();
	pid = fork();
	if (pid == 0) {
		for (int i = 0; i < 3000; i++)
			ring_writer_put(&w, frame, frame_make(i, 500 + i % 3000));
		_exit(0);
	}
	while (taken >= 0 && taken < 3000) {
		struct pollfd p = { .fd = w.bell, .events = POLLIN };

		if (ring_reader_wait(&r, RING_ASLEEP))
			poll(&p, 1, 1000);
		(void)is_rung();
		if (rnd() % 8 == 0)
			usleep(1000);
		taken = take_all(taken, sizeof(out));
	}
	eq(taken, 3000, "a ring that is full loses nothing");
	waitpid(pid, &status, 0);
	eq(status, 0, "its writer ends");
	ring_end();
}

static bool one_damage(void)
{
	const char *damage;
	uint32_t count;
	uint64_t head = w.ring->head & ~7ull;

	(void)ring_reader_take(&r, out, sizeof(out), INT64_MAX, &count, &damage);
	if (!damage || r.position != head)
		return false;
	ring_reader_done(&r);
	return true;
}

static void lies(void)
{
	static const uint64_t heads[] = { 1,	      4,
					  7,	      JOURNAL_RING_DATA + 8,
					  UINT64_MAX, UINT64_MAX - 7,
					  1ull << 63, JOURNAL_RING_DATA + 1 };
	static const uint32_t sizes[] = {
		0, 4, 8, 24, 28, 31, JOURNAL_FRAME_MAX + 8, 1u << 20, UINT32_MAX, UINT32_MAX - 7
	};
	static const uint16_t kinds[] = { J_EXEC, J_KINDS, 63, 64, UINT16_MAX };
	struct journal_frame *f;
	size_t n = frame_make(1, 100);

	for (unsigned i = 0; i < ARRAY_LEN(heads); i++) {
		ring_new();
		ring_writer_put(&w, frame, n);
		w.ring->head = heads[i];
		ok(one_damage(), "an impossible head");
		ring_end();
	}
	for (unsigned i = 0; i < ARRAY_LEN(sizes); i++) {
		ring_new();
		ring_writer_put(&w, frame, n);
		ring_writer_put(&w, frame, n);
		f = (void *)(w.data + n);
		f->size = sizes[i];
		ok(one_damage(), "an impossible size");
		ring_end();
	}
	for (unsigned i = 0; i < ARRAY_LEN(kinds); i++) {
		ring_new();
		ring_writer_put(&w, frame, n);
		f = (void *)w.data;
		f->kind = kinds[i];
		ok(one_damage(), "a kind that it must not write");
		w.head = w.ring->head;
		ring_writer_put(&w, frame, n);
		eq(take_all(1, sizeof(out)), 2, "it goes on after that");
		ring_end();
	}
	ring_new();
	ring_writer_put(&w, frame, n);
	((struct journal_frame *)(void *)w.data)->kind = J_PAD;
	ok(one_damage(), "padding that does not end the ring");
	ring_end();
}

/* In the order of times, up to one of them. */
static void times(void)
{
	static const int64_t monos[] = { 10, 20, 30, INT64_MAX, 40 };
	const struct journal_READ rec = { .path = { "/x", 2 } };
	const char *damage;
	uint32_t count;

	ring_new();
	eq(ring_reader_next(&r), INT64_MAX, "an empty ring has no time");
	for (unsigned i = 0; i < 5; i++)
		ring_writer_put(&w, frame, journal_encode(J_READ, &rec, 1, monos[i], 1, frame));
	eq(ring_reader_next(&r), 10, "the time of the next one");
	(void)ring_reader_take(&r, out, sizeof(out), 20, &count, &damage);
	eq(count, 2, "those up to a time");
	eq(ring_reader_next(&r), 30, "and where that ends");
	(void)ring_reader_take(&r, out, sizeof(out), 29, &count, &damage);
	ok(!count && !damage, "a later one stays");
	(void)ring_reader_take(&r, out, sizeof(out), 30, &count, &damage);
	eq(count, 2, "a time that cannot be true holds nothing up");
	(void)ring_reader_take(&r, out, sizeof(out), INT64_MAX, &count, &damage);
	eq(count, 1, "and the rest");
	ok(ring_is_later(31, 30) && !ring_is_later(30, 30) && !ring_is_later(INT64_MAX, 30) &&
		   !ring_is_later(INT64_MIN, 30) && !ring_is_later(INT64_MAX, INT64_MAX) &&
		   ring_is_later(INT64_MAX, INT64_MAX - 1),
	   "what is later");
	ring_end();
}

/* A writer whose last position is impossible is told of once, however often it is looked at. */
static void last_lie(void)
{
	const char *damage;
	uint32_t count;

	ring_new();
	ring_writer_put(&w, frame, frame_make(1, 10));
	w.ring->head += 3;
	(void)ring_reader_take(&r, out, sizeof(out), INT64_MAX, &count, &damage);
	ok(damage != NULL, "a position between frames is damage");
	ok(!ring_reader_has(&r) && ring_reader_next(&r) == INT64_MAX,
	   "after which there is nothing");
	(void)ring_reader_take(&r, out, sizeof(out), INT64_MAX, &count, &damage);
	ok(!count && !damage, "and nothing more to tell");
	w.ring->head += 8;
	(void)ring_reader_take(&r, out, sizeof(out), INT64_MAX, &count, &damage);
	ok(damage != NULL, "until it moves again");
	ring_end();
}

int main(void)
{
	order();
	bells();
	full();
	lies();
	times();
	last_lie();
	return tap_end();
}
