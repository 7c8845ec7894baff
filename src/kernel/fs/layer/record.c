/* See record.h. */
#include "kernel/fs/layer/record.h"

#include "base/crc32c.h"
#include "host/host.h"

/* Whether n bytes lie at buf + at. */
static bool reader_has(struct reader *rd, size_t n)
{
	int64_t got;

	if (rd->len - rd->at >= n)
		return true;
	memmove(rd->buf, rd->buf + rd->at, rd->len - rd->at);
	rd->off += rd->at;
	rd->len -= rd->at;
	rd->at = 0;
	while (rd->len < n) {
		got = host_pread(rd->fd, rd->buf + rd->len, RECORD_WINDOW - rd->len,
				 (int64_t)(rd->off + rd->len));
		if (got <= 0) {
			rd->error = (int)got;
			return false;
		}
		rd->len += (size_t)got;
	}
	return true;
}

bool record_next(struct reader *rd, struct cursor *c)
{
	uint32_t len, want, crc;

	if (!reader_has(rd, 8))
		return false;
	memcpy(&len, rd->buf + rd->at, 4);
	memcpy(&want, rd->buf + rd->at + 4, 4);
	if (len == 0 || len > LOG_RECORD_MAX || !reader_has(rd, 8 + (size_t)len))
		return false;
	crc = crc32c(crc32c(rd->crc, &len, 4), rd->buf + rd->at + 8, len);
	if (crc != want)
		return false;
	*c = (struct cursor){ rd->buf + rd->at + 8, len, false };
	rd->crc = crc;
	rd->at += 8 + (size_t)len;
	return true;
}
