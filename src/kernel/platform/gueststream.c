/* See gueststream.h.
 *
 * What "ready" says is read once for each decision and bounded by the stream's length. It can say
 * too much: then the bytes are those that happen to be there, which are the guest's own, or the
 * guest is shown none of those that it was given. */
#include "kernel/platform/gueststream.h"

#include <time.h>

#include "host/host.h"
#include "stub/post.h"

#define PATIENCE 100000 /* nanoseconds */
#define SPINS 32 /* between two looks at the clock */
#define FAR 15000 /* nanoseconds for a chunk, where five thousand are usual */

static struct guest_stream stream;
static struct far far;
static struct {
	const char *at;
	size_t n;
} unclean; /* what has been read of one that is */

void guest_stream_open(const struct guest_stream *s)
{
	stream = *s;
	stream.patience = PATIENCE;
	stream.done = 0;
	if (!stream.towards_guest && *(volatile uint32_t *)stream.far) {
		unclean.at = stream.at;
		unclean.n = stream.len;
	} else if (stream.towards_guest) {
		*(volatile uint32_t *)stream.far = far_take(&far);
	}
}

void guest_stream_clean(void)
{
	static int can = -1;

	if (!unclean.n)
		return;
	if (can < 0)
		can = area_can_flush();
	if (can)
		area_flush(unclean.at, unclean.n);
	unclean.n = 0;
}

void guest_stream_close(void)
{
	stream.tid = 0;
}

/* How far the runner is, when that is at least want or it does not get there. */
static size_t ready_wait(size_t want)
{
	int64_t start = 0, now;
	uint32_t said;
	size_t ready;

	for (uint32_t i = 0;; i++) {
		said = __atomic_load_n(stream.ready, __ATOMIC_ACQUIRE);
		ready = MIN(said & ~READY_NO_MORE, stream.len);
		if (ready >= want || said & READY_NO_MORE || stream.patience <= 0)
			return ready;
		__builtin_ia32_pause();
		if (i % SPINS)
			continue;
		now = host_clock(CLOCK_MONOTONIC);
		stream.patience -= start ? now - start : 0;
		start = now;
	}
}

/* Where addr is in the stream; len: not there. */
static size_t guest_stream_off(pid_t tid, uaddr_t addr, bool towards_guest)
{
	if (!stream.tid || tid != stream.tid || towards_guest != stream.towards_guest ||
	    addr < stream.addr || addr - stream.addr >= stream.len)
		return stream.len;
	return addr - stream.addr;
}

const void *guest_stream_take(pid_t tid, uaddr_t addr, size_t *n)
{
	size_t off = guest_stream_off(tid, addr, false), want, ready;

	if (off == stream.len)
		return NULL;
	want = MIN(MIN(*n, STREAM_CHUNK_IN), stream.len - off);
	ready = ready_wait(off + want);
	if (ready <= off)
		return NULL;
	*n = MIN(want, ready - off);
	return stream.at + off;
}

void *guest_stream_room(pid_t tid, uaddr_t addr, size_t *n)
{
	size_t off = guest_stream_off(tid, addr, true);

	/* Without a gap: what was moved past it is not to be overtaken. */
	if (off == stream.len || off != stream.done)
		return NULL;
	*n = MIN(MIN(*n, STREAM_CHUNK_OUT), stream.len - off);
	stream.start = host_clock(CLOCK_MONOTONIC);
	return stream.at + off;
}

bool guest_stream_put(uaddr_t addr, size_t n)
{
	size_t end = addr - stream.addr + n;

	if (n == STREAM_CHUNK_OUT)
		far_note(&far, host_clock(CLOCK_MONOTONIC) - stream.start > FAR);
	if (ready_wait(end) < end) {
		guest_stream_close();
		return false;
	}
	stream.done = end;
	__atomic_store_n(stream.filled, (uint32_t)end, __ATOMIC_RELEASE);
	return true;
}
