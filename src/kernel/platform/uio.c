/* The caller's side of a read or write (uio.h).
 *
 * Bytes of a guest move with one host call for up to BATCH of its buffers. The vectors were copied
 * from the guest once and checked; that a guest unmaps a buffer meanwhile only makes the count
 * smaller. */
#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "kernel/platform/guestmem.h"
#include "kernel/platform/guestrange.h"
#include "kernel/platform/gueststream.h"
#include "kernel/platform/uio.h"

#define BATCH 16

static char zeros[16384]; /* never written */

static void uio_reset(struct uio *u, pid_t tid)
{
	u->tid = tid;
	u->kbuf = NULL;
	u->vec = &u->one;
	u->nvec = 1;
	u->cur = 0;
	u->cur_off = 0;
	u->left = 0;
	u->blob_vecs = 0;
}

void uio_init_kernel(struct uio *u, void *buf, size_t n)
{
	uio_reset(u, 0);
	u->kbuf = buf;
	u->one = (struct uio_vec){ 0, n };
	u->left = n;
}

void uio_init_guest(struct uio *u, pid_t tid, uaddr_t buf, uint64_t len)
{
	uio_reset(u, tid);
	/* Linux refuses a range that ends outside before it looks at the file. Here the first byte
	 * that moves fails: a base that no guest has. */
	if (!guest_range_ok(buf, len))
		buf = GUEST_END;
	u->one = (struct uio_vec){ buf, MIN(len, UIO_MAX_BYTES) };
	u->left = u->one.len;
}

int uio_init_iov(struct uio *u, pid_t tid, uaddr_t iov, uint64_t count)
{
	uint64_t total = 0;
	int err = -EFAULT;

	uio_reset(u, tid);
	if (count > UIO_MAX_IOV)
		return -EINVAL;
	u->nvec = (uint32_t)count;
	u->vec = u->small;
	if (count > ARRAY_LEN(u->small)) {
		u->vec = blob_new(count * sizeof(*u->vec));
		if (!u->vec)
			return -ENOMEM;
		u->blob_vecs = u->nvec;
	}
	if (guest_read(tid, u->vec, iov, count * sizeof(*u->vec)) < 0)
		goto out_fini;
	for (uint32_t i = 0; i < u->nvec; i++) {
		err = -EINVAL;
		if ((int64_t)u->vec[i].len < 0)
			goto out_fini;
	}
	for (uint32_t i = 0; i < u->nvec; i++) {
		err = -EFAULT;
		if (!guest_range_ok(u->vec[i].base, u->vec[i].len))
			goto out_fini;
		u->vec[i].len = MIN(u->vec[i].len, UIO_MAX_BYTES - total);
		total += u->vec[i].len;
	}
	u->left = total;
	return 0;
out_fini:
	uio_fini(u);
	return err;
}

void uio_fini(struct uio *u)
{
	if (u->blob_vecs)
		blob_free(u->vec, u->blob_vecs * sizeof(*u->vec));
	u->blob_vecs = 0;
	u->vec = &u->one;
	u->nvec = 0;
	u->left = 0;
}

static void uio_advance(struct uio *u, uint64_t n)
{
	uint64_t room;

	u->left -= n;
	while (n) {
		room = u->vec[u->cur].len - u->cur_off;
		if (n < room) {
			u->cur_off += n;
			return;
		}
		n -= room;
		u->cur++;
		u->cur_off = 0;
	}
}

/* Where the next bytes lie, at most n of them and BATCH pieces; *ret_n: how many are covered. */
static unsigned uio_pieces(const struct uio *u, uint64_t n, struct iovec piece[BATCH],
			   uint64_t *ret_n)
{
	uint64_t off = u->cur_off, len, covered = 0;
	unsigned count = 0;

	for (uint32_t i = u->cur; i < u->nvec && covered < n && count < BATCH; i++, off = 0) {
		len = MIN(u->vec[i].len - off, n - covered);
		if (len == 0)
			continue;
		piece[count++] = (struct iovec){ (void *)(u->vec[i].base + off), len };
		covered += len;
	}
	*ret_n = covered;
	return count;
}

static int64_t uio_move_guest(struct uio *u, void *buf, uint64_t n, bool towards_guest)
{
	struct iovec piece[BATCH], local;
	uint64_t done = 0, covered;
	unsigned count;
	int64_t got;

	while (done < n) {
		count = uio_pieces(u, n - done, piece, &covered);
		if (count == 0)
			break;
		/* Only the stand-in for a bad range lies there; see uio_init_guest. */
		if ((uaddr_t)piece[0].iov_base >= GUEST_END)
			break;
		local = (struct iovec){ (char *)buf + done, covered };
		got = guest_move(u->tid, &local, 1, piece, count, towards_guest);
		if (got <= 0)
			break;
		uio_advance(u, (uint64_t)got);
		done += (uint64_t)got;
		if ((uint64_t)got < covered)
			break;
	}
	return done ? (int64_t)done : -EFAULT;
}

static int64_t uio_move(struct uio *u, void *buf, size_t n, bool towards_guest)
{
	char *kernel;

	n = MIN(n, u->left);
	if (n == 0)
		return 0;
	if (u->tid)
		return uio_move_guest(u, buf, n, towards_guest);
	kernel = u->kbuf + u->cur_off;
	if (towards_guest)
		memcpy(kernel, buf, n);
	else
		memcpy(buf, kernel, n);
	u->cur_off += n;
	u->left -= n;
	return (int64_t)n;
}

int64_t uio_put(struct uio *u, const void *src, size_t n)
{
	return uio_move(u, (void *)(uintptr_t)src, n, true);
}

int64_t uio_take(struct uio *u, void *dst, size_t n)
{
	return uio_move(u, dst, n, false);
}

/* How much of the next n bytes lies in one piece at *ret_addr of a guest's memory. */
static size_t uio_next(const struct uio *u, size_t n, uaddr_t *ret_addr)
{
	if (!u->tid || u->cur >= u->nvec)
		return 0;
	*ret_addr = u->vec[u->cur].base + u->cur_off;
	return MIN(MIN(n, u->left), u->vec[u->cur].len - u->cur_off);
}

int64_t uio_take_at(struct uio *u, void *buf, size_t n, const void **ret_at)
{
	uaddr_t addr;
	size_t next = uio_next(u, n, &addr);

	*ret_at = next ? guest_stream_take(u->tid, addr, &next) : NULL;
	if (!*ret_at) {
		*ret_at = buf;
		return uio_take(u, buf, n);
	}
	uio_advance(u, next);
	return (int64_t)next;
}

void *uio_room(struct uio *u, void *buf, size_t *n)
{
	uaddr_t addr;
	size_t next = uio_next(u, *n, &addr);
	void *at = next ? guest_stream_room(u->tid, addr, &next) : NULL;

	if (!at)
		return buf;
	*n = next;
	return at;
}

int64_t uio_put_at(struct uio *u, const void *at, const void *buf, size_t n)
{
	if (at == buf || !guest_stream_put(u->vec[u->cur].base + u->cur_off, n))
		return uio_put(u, at, n);
	uio_advance(u, n);
	return (int64_t)n;
}

int64_t uio_put_zero(struct uio *u, size_t n)
{
	size_t done = 0, want;
	int64_t got;

	n = MIN(n, u->left);
	while (done < n) {
		want = MIN(n - done, sizeof(zeros));
		got = uio_put(u, zeros, want);
		if (got < 0)
			return done ? (int64_t)done : got;
		done += (size_t)got;
		if ((size_t)got < want)
			break;
	}
	return (int64_t)done;
}

void uio_back(struct uio *u, size_t n)
{
	u->left += n;
	while (n > u->cur_off) {
		n -= u->cur_off;
		if (u->cur == 0) { /* more than was ever moved: a caller's mistake, kept harmless */
			u->left -= n;
			u->cur_off = 0;
			return;
		}
		u->cur--;
		u->cur_off = u->vec[u->cur].len;
	}
	u->cur_off -= n;
}
