/* A uio is the caller's side of a read or a write: a list of buffers in a guest's memory, or one in
 * the kernel's own, and how far it has been used. File operations move bytes with uio_put (a read:
 * towards the caller) and uio_take (a write: from the caller) and need not know where the buffers
 * are. */
#ifndef VIV_KERNEL_PLATFORM_UIO_H
#define VIV_KERNEL_PLATFORM_UIO_H

#include <sys/types.h>

#include "base/base.h"

#define UIO_MAX_IOV 1024
#define UIO_MAX_BYTES 0x7ffff000UL /* Linux's MAX_RW_COUNT */

struct uio_vec {
	uint64_t base, len; /* as struct iovec lies in guest memory */
};

struct uio {
	pid_t tid; /* whose memory; 0: the kernel's own buffer */
	char *kbuf; /* when tid is 0 */
	struct uio_vec one; /* when there is only one */
	struct uio_vec *vec;
	uint32_t nvec, cur; /* current vector */
	uint64_t cur_off; /* used of the current vector */
	uint64_t left; /* bytes that remain */
	struct uio_vec small[8];
	uint32_t blob_vecs; /* vec is a blob of that many, freed by uio_fini; 0: it is not */
};

void uio_init_kernel(struct uio *u, void *buf, size_t n);
/* One guest buffer. Lengths over UIO_MAX_BYTES are cut as Linux does. */
void uio_init_guest(struct uio *u, pid_t tid, uaddr_t buf, uint64_t len);
/* readv/writev: copies and checks the vectors: -EINVAL (count, negative length), -EFAULT,
 * -ENOMEM. */
int must_check uio_init_iov(struct uio *u, pid_t tid, uaddr_t iov, uint64_t count);
void uio_fini(struct uio *u);

/* Moves up to n bytes (never more than u->left) and advances. The count moved; less than asked
 * means a bad address there; -EFAULT when nothing could be moved and n and left were not 0. */
int64_t uio_put(struct uio *u, const void *src, size_t n);
int64_t uio_take(struct uio *u, void *dst, size_t n);
int64_t uio_put_zero(struct uio *u, size_t n);
/* The same without a copy where the bytes are in memory that is shared with the guest
 * (gueststream.h), else by way of buf, which has room for n. uio_take_at: *ret_at is where the
 * bytes are, which the guest may still change. uio_room: where up to *n bytes for the caller can be
 * put; *n may become less, never 0. uio_put_at puts what is there. */
int64_t uio_take_at(struct uio *u, void *buf, size_t n, const void **ret_at);
void *uio_room(struct uio *u, void *buf, size_t *n);
int64_t uio_put_at(struct uio *u, const void *at, const void *buf, size_t n);
/* Steps back over the last n bytes moved in this uio (a consumer took fewer than it was given). */
void uio_back(struct uio *u, size_t n);

#endif
