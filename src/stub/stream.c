/* The runner's side of a stream (stub/post.h): large buffers, a chunk at a time, while the kernel
 * is at work on the call.
 *
 * What is to be written is tried in large pieces by having the host fill in the pages (they are
 * about to be written), a little ahead of the kernel. What is to be read needs no trial under a
 * guard (stub/guard.c), and is not streamed without. One call of an address space has the area at a
 * time; another that comes meanwhile goes without a stream. */
#include "stub/post.h"
#include "stub/fastpath.h"

#define CHUNK 65536u /* tried, or copied in, at a time */
#define AHEAD (2 * CHUNK) /* of the kernel */
#define FAR_TICKS 30000 /* for a chunk: about ten microseconds, where two are usual */
#define POPULATE_WRITE 23
#define REFUSED 64 /* descriptors that are told apart */
#define REFUSED_FOR 32 /* calls */

#define BOX ((struct post_box *)POST_BASE)

static int area; /* it is mapped */
static uint32_t next; /* where the next stream lies in it */
static int can_flush;
static struct far far;
static uint8_t refused[REFUSED]; /* by a descriptor's number: calls that are made without asking */

void stub_area_open(void)
{
	long fd, p;

	if (area)
		return;
	fd = hyper(HC_POST, 1, 0, 0, 0);
	if (fd < 0)
		return;
	p = sys6(NR_MMAP, AREA_BASE, AREA_SIZE, 3, 0x100001 /* MAP_SHARED | MAP_FIXED_NOREPLACE */,
		 STUB_MAP_FD(fd), 0);
	native(NR_CLOSE, fd, 0, 0, 0);
	if (p != (long)AREA_BASE)
		return;
	native(NR_MADVISE, AREA_BASE, AREA_SIZE, POPULATE_WRITE, 0);
	if (native(NR_MADVISE, AREA_BASE, AREA_SIZE, MADV_DONTFORK_, 0) < 0) {
		native(NR_MUNMAP, AREA_BASE, AREA_SIZE, 0, 0);
		return;
	}
	stub_guard_open();
	can_flush = area_can_flush();
	area = 1;
}

void stub_area_forked(void)
{
	area = 0;
	stub_guard_forked();
}

FAST int stream_begin(struct stream *st, uint32_t tid, uint64_t fd, uint32_t kind)
{
	uint32_t nobody = 0;

	st->kind = STREAM_NONE;
	if (!area || st->len > STREAM_MAX)
		return 0;
	if (refused[fd % REFUSED]) {
		refused[fd % REFUSED]--;
		return 0;
	}
	if (kind == STREAM_IN && !guard_is_on())
		return 1;
	if (!__atomic_compare_exchange_n(&BOX->area_owner, &nobody, tid, 0, __ATOMIC_ACQUIRE,
					 __ATOMIC_RELAXED))
		return 1;
	st->kind = kind;
	st->at = next <= AREA_SIZE - st->len ? next : 0;
	next = (st->at + (uint32_t)st->len + 4095) & ~4095u;
	if (next >= AREA_SIZE)
		next = 0;
	st->ready = st->copied = 0;
	st->far = kind == STREAM_IN ? far_take(&far) : 0;
	return 1;
}

FAST void stream_end(uint32_t tid)
{
	if (__atomic_load_n(&BOX->area_owner, __ATOMIC_RELAXED) == tid)
		__atomic_store_n(&BOX->area_owner, 0, __ATOMIC_RELEASE);
}

FAST void stream_refused(uint64_t fd)
{
	refused[fd % REFUSED] = REFUSED_FOR;
}

FAST_INLINE uint32_t least(uint32_t a, uint64_t b)
{
	return a < b ? a : (uint32_t)b;
}

/* As far as n bytes more. */
FAST_INLINE void ready_tell(struct stream *st, struct post_slot *s, uint32_t n, int whole)
{
	st->ready += n;
	__atomic_store_n(&s->ready, st->ready | (whole ? 0 : READY_NO_MORE), __ATOMIC_RELEASE);
	if (!whole)
		st->len = st->ready;
}

FAST_INLINE uint64_t ticks(void)
{
	uint32_t lo, hi;

	__asm__ volatile("rdtsc" : "=a"(lo), "=d"(hi));
	return (uint64_t)hi << 32 | lo;
}

FAST_INLINE int step_in(struct stream *st, struct post_slot *s, int worked)
{
	uint32_t n = least(CHUNK, st->len - st->ready);
	uint64_t left, start;

	/* Of one that nobody works at only the beginning, in case that nobody will. */
	if (!n || (!worked && st->ready >= AHEAD))
		return 0;
	start = ticks();
	left = guard_copy((void *)(AREA_BASE + st->at + st->ready),
			  (const void *)(st->addr + st->ready), n);
	ready_tell(st, s, n - (uint32_t)left, !left);
	if (n == CHUNK)
		far_note(&far, ticks() - start > FAR_TICKS);
	return 1;
}

FAST_INLINE int step_out(struct stream *st, struct post_slot *s)
{
	uint32_t filled = __atomic_load_n(&s->filled, __ATOMIC_ACQUIRE);
	uint32_t n = least(CHUNK, st->len - st->ready);
	uint64_t from = (st->addr + st->ready) & ~(PAGE - 1), to = st->addr + st->ready + n;
	int can;

	if (n && st->ready < filled + AHEAD) {
		can = native(NR_MADVISE, from, to - from, POPULATE_WRITE, 0) == 0;
		ready_tell(st, s, can ? n : 0, can);
		return 1;
	}
	if (filled == st->copied)
		return 0;
	copy((void *)(st->addr + st->copied), (const void *)(AREA_BASE + st->at + st->copied),
	     filled - st->copied);
	if (s->far && can_flush)
		area_flush((const void *)(AREA_BASE + st->at + st->copied), filled - st->copied);
	st->copied = filled;
	return 1;
}

FAST int stream_step(struct stream *st, struct post_slot *s, int worked)
{
	return st->kind == STREAM_IN ? step_in(st, s, worked) : step_out(st, s);
}
