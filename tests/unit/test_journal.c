/* Records of a journal as bytes: every kind there and back, and hostile frames, which lie at the
 * end of a page, so that a read behind them ends the test. */
/* objects: src/wire/journal.c */
#include "wire/journal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tap.h"

static uint64_t state = 88172645463325252ull;

static uint64_t rnd(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static uint8_t *page_end; /* what is from here on cannot be read */

static char texts[8][3 * JOURNAL_TEXT_MAX];
static uint8_t hashes[JOURNAL_HASH];

static uint32_t some_length(void)
{
	static const uint32_t odd[] = {
		0, 1, 127, 128, JOURNAL_TEXT_MAX, JOURNAL_TEXT_MAX + 1, 3 * JOURNAL_TEXT_MAX
	};

	return rnd() % 3 ? (uint32_t)(rnd() % 40) : odd[rnd() % ARRAY_LEN(odd)];
}

static void fill(enum journal_kind kind, union journal_record *r)
{
	const struct journal_desc *d = &journal_kinds[kind];

	memset(r, 0, sizeof(*r));
	for (unsigned i = 0; i < d->nfields; i++) {
		const struct journal_field *f = &d->fields[i];
		void *at = (char *)r + f->offset;

		switch ((enum journal_type)f->type) {
		case JT_NUMBER:
		case JT_SIGNED:
			*(uint64_t *)at = rnd() >> (rnd() % 65 % 64);
			if (rnd() % 8 == 0)
				*(uint64_t *)at = rnd() % 2 ? UINT64_MAX : 1ull << 63;
			break;
		case JT_TEXT:
		case JT_WORDS:
			*(struct jtext *)at = (struct jtext){ texts[i], some_length() };
			if (rnd() % 16 == 0)
				*(struct jtext *)at = (struct jtext){ NULL, 0 };
			break;
		case JT_HASH:
			*(const uint8_t **)at = rnd() % 2 ? hashes : NULL;
			break;
		}
	}
}

static bool text_same(const struct journal_field *f, const struct jtext *a, const struct jtext *b,
		      bool cut)
{
	uint32_t n = b->n;

	if (n != (cut ? n : MIN(a->n, JOURNAL_TEXT_MAX)) || n > a->n)
		return false;
	return !n || !memcmp(b->p, a->p + (journal_field_is_path(f) ? a->n - n : 0), n);
}

static bool same(enum journal_kind kind, const union journal_record *a,
		 const union journal_record *b, bool cut)
{
	const struct journal_desc *d = &journal_kinds[kind];

	for (unsigned i = 0; i < d->nfields; i++) {
		const struct journal_field *f = &d->fields[i];
		const void *x = (const char *)a + f->offset, *y = (const char *)b + f->offset;
		const uint8_t *g = NULL, *h = NULL;

		switch ((enum journal_type)f->type) {
		case JT_NUMBER:
		case JT_SIGNED:
			if (memcmp(x, y, 8) != 0)
				return false;
			break;
		case JT_TEXT:
		case JT_WORDS:
			if (!text_same(f, x, y, cut))
				return false;
			break;
		case JT_HASH:
			memcpy(&g, x, sizeof(g));
			memcpy(&h, y, sizeof(h));
			if (!g != !h || (g && memcmp(g, h, JOURNAL_HASH) != 0))
				return false;
			break;
		}
	}
	return true;
}

/* All texts are too long for one frame. */
static bool too_long(enum journal_kind kind, const union journal_record *r)
{
	const struct journal_desc *d = &journal_kinds[kind];
	size_t n = 0;

	for (unsigned i = 0; i < d->nfields; i++)
		if (d->fields[i].type == JT_TEXT || d->fields[i].type == JT_WORDS)
			n += MIN(((const struct jtext *)(const void *)((const char *)r +
								       d->fields[i].offset))
					 ->n,
				 JOURNAL_TEXT_MAX);
	return n > JOURNAL_FRAME_MAX - 256;
}

/* Decodes n bytes of frame where nothing behind them can be read. */
static bool decode_at_end(const void *frame, size_t n, union journal_record *r)
{
	memcpy(page_end - n, frame, n);
	return journal_decode(page_end - n, n, r);
}

static void test_round_trip(void)
{
	static uint8_t frame[JOURNAL_FRAME_MAX] __attribute__((aligned(8))),
		again[JOURNAL_FRAME_MAX];
	bool good = true, stable = true, bounded = true, full = true, heads = true;

	for (unsigned kind = 1; kind < J_KINDS; kind++) {
		for (unsigned i = 0; i < 300; i++) {
			union journal_record in, out;
			struct journal_frame head;
			int32_t pid = (int32_t)(rnd() >> 33);
			int64_t mono = (int64_t)rnd(), wall = (int64_t)rnd();
			size_t n, m;

			fill(kind, &in);
			n = journal_encode(kind, &in, pid, mono, wall, frame);
			bounded &= n && n <= JOURNAL_FRAME_MAX && n % 8 == 0;
			good &= decode_at_end(frame, n, &out) &&
				same(kind, &in, &out, too_long(kind, &in));
			full &= !too_long(kind, &in) || n > JOURNAL_FRAME_MAX - 256;
			memcpy(&head, frame, sizeof(head));
			heads &= head.pid == pid && head.mono == mono && head.wall == wall &&
				 head.kind == kind && head.size == n;
			m = journal_encode(kind, &out, pid, mono, wall, again);
			stable &= m == n && !memcmp(frame, again, n);
		}
	}
	ok(good, "every kind is decoded as it was encoded");
	ok(heads, "with its head");
	ok(bounded, "no frame is larger than allowed");
	ok(full, "texts are cut only where it is needed");
	ok(stable, "what was decoded is encoded to the same bytes");
}

static void test_hostile(void)
{
	static uint8_t frame[JOURNAL_FRAME_MAX] __attribute__((aligned(8)));
	bool cut = true;
	unsigned flips = 0, taken = 0;

	for (unsigned kind = 1; kind < J_KINDS; kind++) {
		for (unsigned i = 0; i < 6; i++) {
			union journal_record r;
			size_t n;

			do {
				fill(kind, &r);
				n = journal_encode(kind, &r, 7, 1, 2, frame);
			} while (n > 1200);
			for (size_t k = 0; k < n; k++) {
				struct journal_frame head;

				cut &= !decode_at_end(frame, k, &r);
				/* The same with a head that says so. */
				memcpy(&head, frame, sizeof(head));
				if (k < sizeof(head))
					continue;
				head.size = (uint32_t)k;
				memcpy(page_end - k, frame, k);
				memcpy(page_end - k, &head, sizeof(head));
				taken += journal_decode(page_end - k, k, &r);
			}
			for (size_t bit = 0; bit < n * 8; bit++) {
				frame[bit / 8] ^= (uint8_t)(1 << bit % 8);
				flips++;
				taken += decode_at_end(frame, n, &r);
				frame[bit / 8] ^= (uint8_t)(1 << bit % 8);
			}
		}
	}
	ok(cut, "no frame is decoded when it is cut");
	ok(flips > 10000 && taken < flips, "flipped bits are refused or read within the frame");
}

/* A rename as it was before it said what it replaced, from an old journal's bytes. */
static void test_older(void)
{
	static const char body[] = "\x04/old\x04/new\x00";
	struct {
		struct journal_frame head;
		char body[16];
	} f = { .head = {
			.size = 48, .kind = J_RENAME, .pad = 5, .pid = 7, .mono = 1, .wall = 2 } };
	struct journal_RENAME now = { .path = { "/old", 4 },
				      .to = { "/new", 4 },
				      .replaced = 0100644 };
	static uint8_t frame[JOURNAL_FRAME_MAX] __attribute__((aligned(8)));
	union journal_record r;

	memcpy(f.body, body, sizeof(body) - 1);
	memset(&r, 0xff, sizeof(r));
	ok(decode_at_end(&f, sizeof(f), &r) && r.RENAME.to.n == 4 &&
		   !memcmp(r.RENAME.to.p, "/new", 4) && !r.RENAME.exchange && !r.RENAME.replaced,
	   "a record that is older than a field of its kind is decoded, the field is zero");
	f.head.pad = 6;
	ok(!decode_at_end(&f, sizeof(f), &r), "a field that was always there is not missing");
	ok(decode_at_end(frame, journal_encode(J_RENAME, &now, 7, 1, 2, frame), &r) &&
		   r.RENAME.replaced == 0100644,
	   "a newer one has it");
}

static bool refused(const void *frame, size_t n)
{
	union journal_record r;

	return !decode_at_end(frame, n, &r);
}

static void test_strict(void)
{
	struct {
		struct journal_frame head;
		uint8_t body[64];
	} f;
	struct journal_FORK fork = { .parent = 300 };
	size_t n = journal_encode(J_FORK, &fork, 7, 1, 2, &f);
	union journal_record r;

	eq(n, 40, "a small record is a head and 8 bytes");
	ok(!refused(&f, n) && journal_decode(&f, n, &r) && r.FORK.parent == 300, "it is decoded");
	f.head.zero = 1;
	ok(refused(&f, n), "the field that is zero");
	f.head.zero = 0;
	f.head.pid = -1;
	ok(refused(&f, n), "a negative process");
	f.head.pid = 7;
	f.head.kind = J_KINDS;
	ok(refused(&f, n), "a kind that there is not");
	f.head.kind = J_PAD;
	ok(refused(&f, n), "padding of the ring");
	f.head.kind = J_FORK;
	f.body[7] = 1;
	ok(refused(&f, n), "padding that is not zero");
	f.body[7] = 0;
	f.head.pad = 5;
	ok(refused(&f, n), "bytes behind the last field");
	f.head.pad = 7;
	ok(refused(&f, n), "a field that reaches into the padding");
	/* 300 in a form that is longer than needed. */
	memcpy(f.body, "\xac\x82\x00", 3);
	f.head.pad = 5;
	ok(refused(&f, n), "a number in a longer form than needed");
	memcpy(f.body, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10);
	memset(f.body + 10, 0, 6);
	f.head.size = 48;
	f.head.pad = 6;
	ok(!refused(&f, 48), "the largest number");
	f.body[9] = 2;
	ok(refused(&f, 48), "a number of 65 bits");
	eq(journal_encode(J_KINDS, &fork, 0, 0, 0, &f), 0,
	   "a kind that there is not is not encoded");
	eq(journal_encode(J_PAD, &fork, 0, 0, 0, &f), 0, "nor is padding");
}

int main(void)
{
	size_t size = 2 * JOURNAL_FRAME_MAX;
	uint8_t *map =
		mmap(NULL, size + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED || mprotect(map + size, 4096, PROT_NONE))
		return 1;
	page_end = map + size;
	for (size_t i = 0; i < sizeof(texts); i++)
		texts[i / sizeof(texts[0])][i % sizeof(texts[0])] = (char)rnd();
	for (size_t i = 0; i < sizeof(hashes); i++)
		hashes[i] = (uint8_t)rnd();
	test_round_trip();
	test_hostile();
	test_older();
	test_strict();
	return tap_end();
}
