/* See log.h. */
#include "keeper/log.h"

#include <unistd.h>

int log_next(int fd, uint64_t *at, struct log_head *h, char *buf)
{
	ssize_t n = pread(fd, h, sizeof(*h), (off_t)*at);

	if (n < 0)
		return -1;
	if (n < (ssize_t)sizeof(*h))
		return 0;
	if (h->magic != LOG_MAGIC || h->len > LOG_CHUNK_MAX)
		return -1;
	n = pread(fd, buf, h->len, (off_t)(*at + sizeof(*h)));
	if (n < (ssize_t)h->len)
		return n < 0 ? -1 : 0;
	*at += sizeof(*h) + h->len;
	return 1;
}
