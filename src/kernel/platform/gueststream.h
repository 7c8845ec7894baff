/* A large buffer of a guest's that comes or goes through shared memory while its call is worked on:
 * see stub/post.h.
 *
 * At most one at a time, that of the posted call in hand. File operations meet it in struct uio
 * (uio_take_at(), uio_room()). Whatever the runner does or leaves undone, the kernel waits for it
 * no longer than a moment in all of a call, and goes on without it. */
#ifndef VIV_KERNEL_PLATFORM_GUESTSTREAM_H
#define VIV_KERNEL_PLATFORM_GUESTSTREAM_H

#include <sys/types.h>

#include "base/base.h"

#define STREAM_CHUNK_IN (128UL << 10) /* the host is quicker with larger writes ... */
#define STREAM_CHUNK_OUT (64UL << 10) /* ... and the runner goes on while we read the next */

struct guest_stream {
	pid_t tid; /* 0: there is none */
	bool towards_guest;
	uaddr_t addr;
	size_t len;
	char *at; /* shared: the other side may write it at any time */
	const uint32_t *ready; /* shared */
	uint32_t *filled, *far; /* shared */
	size_t done; /* what filled says */
	int64_t patience; /* nanoseconds that may still be waited */
	int64_t start; /* when the room was given */
};

void guest_stream_open(const struct guest_stream *s);
void guest_stream_close(void);
/* After that, and after the call was answered: what there is left to do with the memory that it
 * went through. */
void guest_stream_clean(void);

/* From the guest: where the bytes at addr are, at most *n of them; *n becomes how many. NULL: not
 * here. */
const void *guest_stream_take(pid_t tid, uaddr_t addr, size_t *n);
/* Towards the guest: room for what is to go to addr, at most *n bytes; *n becomes how many. NULL:
 * not here. */
void *guest_stream_room(pid_t tid, uaddr_t addr, size_t *n);
/* The first n bytes of that room have been filled. False: the runner does not take them, they have
 * to be moved. */
bool guest_stream_put(uaddr_t addr, size_t n);

#endif
