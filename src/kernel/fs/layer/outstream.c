/* See outstream.h. */
#include "kernel/fs/layer/outstream.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "host/host.h"

int outstream_init(struct outstream *o, int fd)
{
	*o = (struct outstream){ .fd = fd, .buf = blob_new(OUTSTREAM_SIZE) };
	return o->buf ? 0 : -ENOMEM;
}

void outstream_fini(struct outstream *o)
{
	if (o->buf)
		blob_free(o->buf, OUTSTREAM_SIZE);
	o->buf = NULL;
}

int outstream_flush(struct outstream *o)
{
	int r = host_write_all(o->fd, o->buf, o->len);

	if (r == 0)
		o->len = 0;
	return r;
}

int outstream_put(struct outstream *o, const void *p, size_t n)
{
	const char *from = p;
	int r = 0;

	while (n > 0 && r == 0) {
		size_t part = MIN(n, OUTSTREAM_SIZE - o->len);

		if (from)
			memcpy(o->buf + o->len, from, part);
		else
			memset(o->buf + o->len, 0, part);
		o->len += part;
		from = from ? from + part : NULL;
		n -= part;
		if (o->len == OUTSTREAM_SIZE)
			r = outstream_flush(o);
	}
	return r;
}

int outstream_printf(struct outstream *o, const char *fmt, ...)
{
	char text[256];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return n < 0 || (size_t)n >= sizeof(text) ? -E2BIG : outstream_put(o, text, (size_t)n);
}

int outstream_copy(struct outstream *o, int fd, uint64_t off, uint64_t len)
{
	int r = 0;

	while (len > 0 && r == 0) {
		size_t room = MIN((uint64_t)(OUTSTREAM_SIZE - o->len), len);
		int64_t n = host_pread(fd, o->buf + o->len, room, (int64_t)off);

		if (n < 0)
			return (int)n;
		if (n == 0)
			return outstream_put(o, NULL, len);
		o->len += (size_t)n;
		off += (uint64_t)n;
		len -= (uint64_t)n;
		if (o->len == OUTSTREAM_SIZE)
			r = outstream_flush(o);
	}
	return r;
}
