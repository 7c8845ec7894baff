/* What code on a rewritten call's way has in common (stub/fast.c, stub/post.c): the frame that
 * entry.S made, which r15 points to throughout, and trials of guest pointers.
 *
 * What lies between the stack pointer and the first stack pointer of the program is there. Anything
 * else is tried by a native call that touches it and changes nothing. */
#ifndef VIV_STUB_FASTPATH_H
#define VIV_STUB_FASTPATH_H

#include "stub/sys.h"

#define MISS (-0x7fffffffffffffffL) /* no answer: make the call */
#define STACK_SPAN (64UL << 20)
#define PAGE 4096UL
#define NR_SCHED_YIELD 24
#define NR_MADVISE 28
#define MADV_DONTFORK_ 10

/* As entry.S lays it out. */
struct fast_frame {
	uint64_t rax, rcx; /* the number; where the system call instruction is */
	uint64_t rdi, rsi, rdx, r10, r8, r9, rbx, rbp, r12, r13, r14, r15;
	uint64_t slot; /* number of the slot that the call is posted in, and one; 0: none */
	uint64_t answered; /* the call has been made, and gave ret */
	uint64_t ret;
};
#define FRAME_ROOM 256

#define FAST __attribute__((section("fasttext"), noinline))
#define FAST_INLINE static inline __attribute__((always_inline))

/* The compiler leaves it alone in files that include this. */
register struct fast_frame *frame __asm__("r15");

extern uint64_t stub_stack_top; /* the program's first stack pointer */

FAST_INLINE int on_stack(uint64_t p, uint64_t n)
{
	uint64_t sp = (uint64_t)frame + FRAME_ROOM;

	return stub_stack_top - sp < STACK_SPAN && p >= sp && p < stub_stack_top &&
	       n <= stub_stack_top - p;
}

/* An impossible operation: the set is read first, then refused. */
FAST_INLINE int there_to_read(uint64_t p)
{
	return native(NR_SIGPROCMASK, 99, p & ~7UL, 0, 8) == -EINVAL_;
}

/* The present mask is written there. */
FAST_INLINE int there_to_write(uint64_t p)
{
	return p && native(NR_SIGPROCMASK, 0, 0, p, 8) == 0;
}

/* Length and hash of a path; 0: none that could be answered. */
FAST uint32_t fast_path_scan(uint64_t path, uint32_t *ret_hash);

/* A call's stream (stub/stream.c). */
struct stream {
	uint64_t addr, len; /* the call's buffer; len becomes less where it turns out bad */
	uint32_t kind, at; /* enum post_stream; where in the area */
	uint32_t ready, copied; /* what was told to be ready; what has been copied out */
	uint32_t far;
};
struct post_slot;
/* st has the buffer. False: it is not a call for this. Else it is posted, with a stream or, if kind
 * is STREAM_NONE, for the kernel to move the bytes. */
FAST int stream_begin(struct stream *st, uint32_t tid, uint64_t fd, uint32_t kind);
/* Something that there is to do. False: there is nothing at the moment. worked: the kernel is at
 * work on the call. */
FAST int stream_step(struct stream *st, struct post_slot *s, int worked);
/* The kernel does not do this with such a file. */
FAST void stream_refused(uint64_t fd);
/* The area is another's to have, if it was this thread's. */
FAST void stream_end(uint32_t tid);

/* Whether guard_copy() may meet a bad address. */
FAST int guard_is_on(void);
/* What could not be copied. */
uint64_t guard_copy(void *d, const void *s, uint64_t n);
extern char guard_copy_at[], guard_copy_end[];

/* The call through the box (stub/post.h): what it gives, or MISS. */
FAST long post_call(void);
/* A signal came while the answering code was at work: a posted call is taken back, or its end
 * waited for. */
void stub_post_leave(struct fast_frame *f);

#endif
