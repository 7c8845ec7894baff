/* The journal's ring of a gate in a fuzzer, and its reader: whatever a gate is told, what it records can be decoded, is of its kinds and
 * of processes that can be; each request that is sent on ends once; and no value of a secret is in it. */
#ifndef VIV_TESTS_FUZZ_GATERING_H
#define VIV_TESTS_FUZZ_GATERING_H

#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gate/record.h"
#include "host/journalring.h"

#define GATE_KINDS                                                                                  \
	(JOURNAL_KIND_BIT(J_NAME) | JOURNAL_KIND_BIT(J_CONNECT) | JOURNAL_KIND_BIT(J_REQUEST) |     \
	 JOURNAL_KIND_BIT(J_RESPONSE) | JOURNAL_KIND_BIT(J_DENIAL))

static struct ring_reader ring;
static int64_t under_way; /* requests that were sent on and have not ended */

static void ring_begin(void)
{
	int fd = memfd_create("ring", 0), bell = eventfd(0, EFD_NONBLOCK);
	struct err e = { 0 };

	FUZZ_CHECK(fd >= 0 && bell >= 0 && journal_ring_make(fd, 1) == 0 &&
		   ring_reader_init(&ring, fd, GATE_KINDS) == 0);
	/* Out of the way of each other first. */
	fd = dup2(fd, 100), bell = dup2(bell, 101);
	FUZZ_CHECK(dup2(fd, GATE_FD_RING) == GATE_FD_RING && dup2(bell, GATE_FD_BELL) == GATE_FD_BELL);
	for (int i = GATE_FD_BELL + 1; i < 110; i++)
		close(i);
	FUZZ_CHECK(record_open(&e) == 0 && record_is_on());
}

static bool frame_has(const struct journal_frame *f, const char *text)
{
	return memmem(f, f->size, text, strlen(text)) != NULL;
}

/* never: a text that is in no record; may be NULL. */
static void ring_read(const char *never)
{
	static uint8_t out[JOURNAL_RING_DATA] __attribute__((aligned(8)));
	union journal_record r;
	const char *damage;
	uint32_t count;
	size_t n = ring_reader_take(&ring, out, sizeof(out), INT64_MAX, &count, &damage);

	FUZZ_CHECK(!damage);
	for (size_t at = 0; at < n;) {
		const struct journal_frame *f = (const void *)(out + at);

		FUZZ_CHECK(journal_decode(f, f->size, &r) && f->pid >= 0 && f->pid <= 1 << 22);
		FUZZ_CHECK(!never || !frame_has(f, never));
		if (f->kind == J_REQUEST && r.REQUEST.decision.n == 5 && !r.REQUEST.status)
			under_way++; /* allow, audit */
		if (f->kind == J_RESPONSE)
			FUZZ_CHECK(--under_way >= 0);
		at += f->size;
	}
	ring_reader_done(&ring);
}

#endif
