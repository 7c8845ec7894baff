/* Guest memory: copied once, checked after copying, never trusted twice.
 * All functions take the number of any thread that uses the address space. */
#ifndef VIV_KERNEL_PLATFORM_GUESTMEM_H
#define VIV_KERNEL_PLATFORM_GUESTMEM_H

#include <sys/types.h>
#include <sys/uio.h>

#include "base/base.h"

/* All n bytes or -EFAULT. */
int must_check guest_read(pid_t tid, void *dst, uaddr_t src, size_t n);
int must_check guest_write(pid_t tid, uaddr_t dst, const void *src, size_t n);
/* As many bytes as are there: the count (0 when the first is not). */
size_t guest_read_some(pid_t tid, void *dst, uaddr_t src, size_t n);
size_t guest_write_some(pid_t tid, uaddr_t dst, const void *src, size_t n);
/* Several places with one host call: all bytes of all pieces, or -EFAULT, when some may have moved.
 * An empty piece moves nothing, wherever it lies. More than GUEST_PIECES: -EFAULT. */
#define GUEST_PIECES 16u
struct guest_piece {
	uaddr_t addr;
	void *buf; /* only read from when the guest is written to */
	size_t n;
};
int must_check guest_read_pieces(pid_t tid, const struct guest_piece *p, unsigned count);
int must_check guest_write_pieces(pid_t tid, const struct guest_piece *p, unsigned count);
/* A NUL-terminated string into dst of size bytes: its length, -EFAULT, or -ENAMETOOLONG when there
 * is no NUL in size. */
int must_check guest_read_str(pid_t tid, char *dst, uaddr_t src, size_t size);

/* ---- windows ---- While a posted call (stub/post.h) is worked on, parts of its thread's memory
 * are at hand in the slot. All of the above, and struct uio, move bytes there instead of asking the
 * host where they can: what is read from an in-window, and what is written from the start of the
 * out-window on without a gap. Everything else goes to the guest's memory, and what was in the
 * out-window before it. */
#define GUEST_WINDOWS 4
struct guest_window {
	pid_t tid; /* 0: none */
	unsigned nin;
	struct {
		uaddr_t addr;
		size_t len; /* never 0 */
		const void *at;
	} in[GUEST_WINDOWS];
	uaddr_t out;
	size_t out_room, out_len;
	void *out_at;
};
extern struct guest_window guest_window;
/* process_vm_readv and -writev, or by windows. The pieces of both sides are equally long in sum. */
int64_t guest_move(pid_t tid, const struct iovec *local, unsigned nlocal,
		   const struct iovec *remote, unsigned nremote, bool towards_guest);

#define guest_get(tid, obj, addr) guest_read(tid, obj, addr, sizeof(*(obj)))
#define guest_put(tid, addr, obj) guest_write(tid, addr, obj, sizeof(*(obj)))

#endif
