/* Guest memory (guestmem.h) through the host's process_vm_readv and process_vm_writev.
 *
 * An address range that cannot be a guest's is refused without asking the host. The host moves
 * whole pages up to the first that is not there, so a partial count is exact to where the bad page
 * begins. A process that has just died reads as a bad address: its call is answered to nobody. */
#include <errno.h>
#include <string.h>

#include "host/procmem.h"
#include "kernel/platform/guestmem.h"
#include "kernel/platform/guestrange.h"

#define STR_FIRST 512 /* most strings are paths and end much earlier */

struct guest_window guest_window;

static const char *in_window(uaddr_t addr, size_t n)
{
	const struct guest_window *w = &guest_window;

	for (unsigned i = 0; i < w->nin; i++)
		if (addr >= w->in[i].addr && addr - w->in[i].addr <= w->in[i].len &&
		    n <= w->in[i].len - (addr - w->in[i].addr))
			return (const char *)w->in[i].at + (addr - w->in[i].addr);
	return NULL;
}

/* What the out-window holds goes where it belongs, and nothing is put there any more. */
static void out_window_close(void)
{
	struct guest_window *w = &guest_window;
	struct iovec local = { w->out_at, w->out_len }, remote = { (void *)w->out, w->out_len };

	if (w->out_len) /* it can be written to: the stub has tried */
		(void)host_vm_writev(w->tid, &local, 1, &remote, 1);
	w->out_len = w->out_room = 0;
}

static bool is_in_out_window(uaddr_t addr, size_t n)
{
	const struct guest_window *w = &guest_window;

	return addr >= w->out && addr - w->out <= w->out_len && n <= w->out_room - (addr - w->out);
}

static bool meets_out_window(const struct iovec *remote, unsigned nremote)
{
	const struct guest_window *w = &guest_window;

	for (unsigned i = 0; i < nremote; i++) {
		uaddr_t a = (uaddr_t)remote[i].iov_base;

		if (a < w->out + w->out_room && w->out < a + remote[i].iov_len)
			return true;
	}
	return false;
}

/* All of it, or nothing. */
static bool window_move(const struct iovec *local, unsigned nlocal, const struct iovec *remote,
			unsigned nremote, bool towards_guest)
{
	struct guest_window *w = &guest_window;
	size_t off = 0;

	if (nlocal != 1 && (towards_guest || nlocal != nremote))
		return false;
	if (towards_guest) {
		if (nremote != 1 || !is_in_out_window((uaddr_t)remote->iov_base, remote->iov_len))
			return false;
		off = (uaddr_t)remote->iov_base - w->out;
		memcpy((char *)w->out_at + off, local->iov_base, remote->iov_len);
		w->out_len = MAX(w->out_len, off + remote->iov_len);
		return true;
	}
	for (unsigned i = 0; i < nremote; i++)
		if (!in_window((uaddr_t)remote[i].iov_base, remote[i].iov_len))
			return false;
	for (unsigned i = 0; i < nremote; i++) {
		char *to = nlocal == 1 ? (char *)local->iov_base + off : local[i].iov_base;

		memcpy(to, in_window((uaddr_t)remote[i].iov_base, remote[i].iov_len),
		       remote[i].iov_len);
		off += remote[i].iov_len;
	}
	return true;
}

int64_t guest_move(pid_t tid, const struct iovec *local, unsigned nlocal,
		   const struct iovec *remote, unsigned nremote, bool towards_guest)
{
	if (tid == guest_window.tid && tid) {
		if (window_move(local, nlocal, remote, nremote, towards_guest)) {
			size_t n = 0;

			for (unsigned i = 0; i < nremote; i++)
				n += remote[i].iov_len;
			return (int64_t)n;
		}
		if (guest_window.out_room && meets_out_window(remote, nremote))
			out_window_close();
	}
	return towards_guest ? host_vm_writev(tid, local, nlocal, remote, nremote)
			     : host_vm_readv(tid, local, nlocal, remote, nremote);
}

size_t guest_read_some(pid_t tid, void *dst, uaddr_t src, size_t n)
{
	struct iovec local, remote;
	int64_t got;

	if (src >= GUEST_END || n == 0)
		return 0;
	n = MIN(n, GUEST_END - src);
	local = (struct iovec){ dst, n };
	remote = (struct iovec){ (void *)src, n };
	got = guest_move(tid, &local, 1, &remote, 1, false);
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
	got = guest_move(tid, &local, 1, &remote, 1, true);
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
	got = guest_move(tid, local, used, remote, used, towards_guest);
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
		for (unsigned i = 0; tid == guest_window.tid && i < guest_window.nin; i++)
			if (src + done == guest_window.in[i].addr)
				want = MIN(want, guest_window.in[i].len);
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
