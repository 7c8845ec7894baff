/* Guest memory (guestmem.h) through the host's process_vm_readv and process_vm_writev.
 *
 * An address range that cannot be a guest's is refused without asking the host. The host moves whole pages up to the
 * first that is not there, so a partial count is exact to where the bad page begins. A process that has just died
 * reads as a bad address: its call is answered to nobody. */
#include <errno.h>
#include <string.h>

#include "host/procmem.h"
#include "kernel/platform/guestmem.h"
#include "kernel/platform/guestrange.h"

#define STR_FIRST 512 /* most strings are paths and end much earlier */

size_t guest_read_some(pid_t tid, void *dst, uaddr_t src, size_t n)
{
	struct iovec local, remote;
	int64_t got;

	if (src >= GUEST_END || n == 0)
		return 0;
	n = MIN(n, GUEST_END - src);
	local = (struct iovec){ dst, n };
	remote = (struct iovec){ (void *)src, n };
	got = host_vm_readv(tid, &local, 1, &remote, 1);
	return got < 0 ? 0 : (size_t)got;
}

size_t guest_write_some(pid_t tid, uaddr_t dst, const void *src, size_t n)
{
	struct iovec local, remote;
	int64_t got;

	if (dst >= GUEST_END || n == 0)
		return 0;
	n = MIN(n, GUEST_END - dst);
	local = (struct iovec){ (void *)(uintptr_t)src, n };
	remote = (struct iovec){ (void *)dst, n };
	got = host_vm_writev(tid, &local, 1, &remote, 1);
	return got < 0 ? 0 : (size_t)got;
}

int guest_read(pid_t tid, void *dst, uaddr_t src, size_t n)
{
	if (n == 0)
		return 0;
	if (!guest_range_ok(src, n))
		return -EFAULT;
	return guest_read_some(tid, dst, src, n) == n ? 0 : -EFAULT;
}

int guest_write(pid_t tid, uaddr_t dst, const void *src, size_t n)
{
	if (n == 0)
		return 0;
	if (!guest_range_ok(dst, n))
		return -EFAULT;
	return guest_write_some(tid, dst, src, n) == n ? 0 : -EFAULT;
}

static int pieces_move(pid_t tid, const struct guest_piece *p, unsigned count, bool towards_guest)
{
	struct iovec local[GUEST_PIECES], remote[GUEST_PIECES];
	unsigned used = 0;
	size_t total = 0;
	int64_t got;

	if (count > GUEST_PIECES)
		return -EFAULT;
	for (unsigned i = 0; i < count; i++) {
		if (p[i].n == 0)
			continue;
		if (!guest_range_ok(p[i].addr, p[i].n))
			return -EFAULT;
		local[used] = (struct iovec){ p[i].buf, p[i].n };
		remote[used++] = (struct iovec){ (void *)p[i].addr, p[i].n };
		total += p[i].n;
	}
	if (used == 0)
		return 0;
	got = towards_guest ? host_vm_writev(tid, local, used, remote, used)
			    : host_vm_readv(tid, local, used, remote, used);
	return got >= 0 && (size_t)got == total ? 0 : -EFAULT;
}

int guest_read_pieces(pid_t tid, const struct guest_piece *p, unsigned count)
{
	return pieces_move(tid, p, count, false);
}

int guest_write_pieces(pid_t tid, const struct guest_piece *p, unsigned count)
{
	return pieces_move(tid, p, count, true);
}

int guest_read_str(pid_t tid, char *dst, uaddr_t src, size_t size)
{
	size_t done = 0, want, got;
	char *end;

	while (done < size) {
		/* To the end of the page, but not more than a usual string needs at first. */
		want = PAGE_SIZE - ((src + done) & (PAGE_SIZE - 1));
		if (done == 0)
			want = MIN(want, (size_t)STR_FIRST);
		want = MIN(want, size - done);
		got = guest_read_some(tid, dst + done, src + done, want);
		end = memchr(dst + done, '\0', got);
		if (end)
			return (int)(end - dst);
		if (got < want)
			return -EFAULT;
		done += got;
	}
	return -ENAMETOOLONG;
}
