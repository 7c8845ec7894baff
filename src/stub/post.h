/* Calls that are posted: a box of memory that one address space shares with the kernel, and how a
 * call goes through it.
 *
 * While the kernel is awake and looks at the boxes (fast_region.awake), a rewritten call
 * (stub/fast.c) need not switch to it and back: the stub writes the call into a slot and waits for
 * the moment that it takes. A posted call never waits for anything else: what cannot be answered at
 * once, and whatever is unusual, the kernel sends back (POST_ASK), and it is made as a system call.
 *
 *   FREE -> TAKEN (stub) -> POSTED (stub) -> WORKED (kernel) -> DONE or ASK (kernel) -> FREE (stub)
 *                           POSTED -> FREE (stub: it waits no longer)
 *
 * What the call reads and writes goes through the slot as well, as far as there is room: the stub
 * copies what the call reads into it (in), and the kernel leaves there what the call writes (out),
 * instead of reaching into the other's memory.
 *
 * What is too large for a slot goes as a *stream*, through the area: more memory that is shared,
 * made for the address spaces that have use for it. Both sides work at it at the same time. What
 * the call reads is copied into the area by the stub, and "ready" says how much is there; what it
 * writes is put there by the kernel, "filled" says how much, and the stub copies it on, having told
 * in "ready" how far the place for it can be written. Where either does not go on, the kernel moves
 * the rest without its help. Processors that take turns at the same memory are slow as long as it
 * is in the cache of one of them, so the streams of one call after the other lie in different parts
 * of the area, which is larger than the caches near to one processor. That does not help where the
 * processors have no cache in common: who writes the area and finds it slow says so ("far"), and
 * who reads takes what it has read out of its caches.
 *
 * Both sides write a box, so the kernel trusts nothing in it: it copies what it needs of a slot
 * once and checks the copy. A guest that writes nonsense there makes calls that it could have made
 * anyway; one that posts in the name of another of its threads does nothing that it could not do to
 * that thread's memory. */
#ifndef VIV_STUB_POST_H
#define VIV_STUB_POST_H

#include "stub/stub.h"

#define POST_BASE (STUB_BASE + 0xe0000)
#define POST_SIZE 0x8000
#define AREA_BASE (STUB_BASE + 0x400000)
#define AREA_SIZE 0x200000

#ifndef __ASSEMBLER__
#include <stddef.h>
#include <stdint.h>

#define POST_SLOTS 15
#define POST_INS 4
#define POST_ROOM 1864
/* longer reads and writes are posted only with a stream: the switch is little of what they cost */
#define POST_LEN_MAX 65536
#define STREAM_MAX AREA_SIZE /* longer ones are not */
#define STREAM_MIN 32768 /* shorter ones have no stream */

#define READY_NO_MORE 0x80000000u
enum post_stream { STREAM_NONE, STREAM_IN, STREAM_OUT };

/* In the low bits of a slot's state; above them the number of the thread whose call it is. A free
 * slot's state is 0. */
enum post_step { POST_FREE, POST_TAKEN, POST_POSTED, POST_WORKED, POST_DONE, POST_ASK };
#define POST_STATE(tid, step) ((uint32_t)(tid) << 3 | (step))
#define POST_STEP(state) ((state)&7)
#define POST_TID(state) ((state) >> 3)

struct post_in {
	uint64_t addr; /* in the runner's memory */
	uint32_t len, at; /* at: where in room */
};

struct post_slot {
	uint32_t nin;
	uint32_t pad;
	uint64_t nr, ip;
	uint64_t a[6];
	struct post_in in[POST_INS];
	uint64_t out; /* what the call writes from here on goes into room, from its start ... */
	uint32_t out_room; /* ... up to so much; the stub has seen that it can be written */
	uint32_t out_len; /* by the kernel: so much of it is to be copied */
	int64_t ret; /* by the kernel */
	uint32_t stream_len, stream_at; /* of the call's buffer, and where in the area */
	uint32_t stream; /* enum post_stream */
	uint32_t ready; /* by the stub; with READY_NO_MORE: it stops there */
	uint32_t filled; /* by the kernel */
	uint32_t far; /* by who writes the area */
	uint8_t room[POST_ROOM];
};
_Static_assert(sizeof(struct post_slot) == 2048, "post_slot");

struct post_box {
	/* of each slot: in one line, all that the kernel looks at while it waits */
	uint32_t state[16];
	uint32_t area_owner; /* the thread whose stream it is; 0: nobody's */
	uint8_t unused[2048 - 64 - 4];
	struct post_slot slot[POST_SLOTS];
};
_Static_assert(sizeof(struct post_box) == POST_SIZE, "post_box");

/* Whether streams are far, as whoever writes them finds. */
struct far {
	uint32_t score; /* slow chunks raise it */
	uint32_t calls; /* so many streams to come are taken to be */
};
#define FAR_CALLS 256
#define FAR_SCORE 8

static inline void far_note(struct far *f, int slow)
{
	if (slow)
		f->score += 2;
	else if (f->score)
		f->score--;
	if (f->score < FAR_SCORE)
		return;
	f->score = 0;
	f->calls = FAR_CALLS;
}

static inline uint32_t far_take(struct far *f)
{
	if (!f->calls)
		return 0;
	f->calls--;
	return 1;
}

/* Whether the processor can do what area_flush() does. */
static inline int area_can_flush(void)
{
	uint32_t a = 7, b, c = 0, d;

	__asm__("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
	return b >> 23 & 1;
}

/* Out of all caches. */
static inline void area_flush(const void *at, size_t n)
{
	const char *p = (const char *)((uintptr_t)at & ~63UL), *end = (const char *)at + n;

	for (; p < end; p += 64)
		__asm__ volatile("clflushopt (%0)" : : "r"(p) : "memory");
}
#endif

#endif
