/* What a kernel without guests writes to its pipe, in large blocks. What is not taken at once is
 * waited for. */
#ifndef VIV_KERNEL_FS_LAYER_OUTSTREAM_H
#define VIV_KERNEL_FS_LAYER_OUTSTREAM_H

#include "base/base.h"

#define OUTSTREAM_SIZE (256u << 10)

struct outstream {
	int fd; /* borrowed */
	char *buf; /* blob of OUTSTREAM_SIZE */
	size_t len;
};

/* 0 or -errno, all of them. */
int must_check outstream_init(struct outstream *o, int fd);
void outstream_fini(struct outstream *o); /* without what was not flushed */
int must_check outstream_flush(struct outstream *o);
int must_check outstream_put(struct outstream *o, const void *p_or_NULL,
			     size_t n); /* NULL: zeros */
int must_check outstream_printf(struct outstream *o, const char *fmt, ...) printf_like(2, 3);
/* len bytes of a file; where it has become shorter, zeros. */
int must_check outstream_copy(struct outstream *o, int fd, uint64_t off, uint64_t len);

#endif
