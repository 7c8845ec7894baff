/* A record of a journal as a captured kernel could put it into its ring. The first byte is the
 * kind, with bit 7 set the rest is the whole frame; else the rest is its fields, and head and
 * padding are right. What is accepted is encoded to the same bytes, or is an older frame: then it
 * is what is encoded without its last fields. */
/* objects: src/wire/journal.c */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "wire/journal.h"

const char fuzz_name[] = "journal";
const size_t fuzz_max = JOURNAL_FRAME_MAX + 1;

void fuzz_init(void)
{
}

void fuzz_one(const uint8_t *data, size_t size)
{
	static uint8_t again[JOURNAL_FRAME_MAX];
	struct journal_frame head = { .mono = 1, .wall = 2, .pid = 3 };
	union journal_record r;
	uint8_t *frame;
	size_t n;

	if (!size)
		return;
	n = data[0] & 0x80 ? size - 1 : ALIGN_UP(sizeof(head) + size - 1, 8);
	/* Of exactly its size: the sanitizer sees what is read behind it. */
	frame = calloc(1, n ? n : 1);
	if (!frame)
		return;
	if (data[0] & 0x80) {
		memcpy(frame, data + 1, size - 1);
	} else {
		head.kind = data[0] % (J_KINDS + 1);
		head.size = (uint32_t)n;
		head.pad = (uint16_t)(n - sizeof(head) - (size - 1));
		memcpy(frame, &head, sizeof(head));
		memcpy(frame + sizeof(head), data + 1, size - 1);
	}
	if (journal_decode(frame, n, &r)) {
		memcpy(&head, frame, sizeof(head));
		FUZZ_CHECK(head.kind < J_KINDS && head.size == n);
		size_t m = journal_encode(head.kind, &r, head.pid, head.mono, head.wall, again);
		size_t body = n - head.pad;

		FUZZ_CHECK(m >= n);
		FUZZ_CHECK(
			!memcmp(frame + sizeof(head), again + sizeof(head), body - sizeof(head)));
		/* More than that is of fields that are missing, and so zero. */
		for (size_t i = body; i < m; i++)
			FUZZ_CHECK(!again[i]);
		FUZZ_CHECK(m != n || !memcmp(again, frame, sizeof(head)) || body < m);
	}
	free(frame);
}
