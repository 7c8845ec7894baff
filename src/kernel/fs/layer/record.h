/* The records of a log, one after the other, and the parts of one. Both were written by a stranger:
 * what is missing or makes no sense is told by cursor.bad, once at the end. */
#ifndef VIV_KERNEL_FS_LAYER_RECORD_H
#define VIV_KERNEL_FS_LAYER_RECORD_H

#include <string.h>

#include "kernel/fs/layer/store.h"

#define RECORD_WINDOW (1u << 20)

struct reader {
	int fd;
	char *buf; /* blob of RECORD_WINDOW */
	size_t len, at;
	uint64_t off; /* of buf[0] in the file */
	uint32_t crc;
	int error;
};

/* The parts of a payload. */
struct cursor {
	const char *p;
	size_t left;
	bool bad;
};

/* Moves to the next. false: there is none that is whole; error: the host could not read it. */
bool record_next(struct reader *rd, struct cursor *c);

static inline const char *take(struct cursor *c, size_t n)
{
	const char *p = c->p;

	if (c->left < n) {
		c->bad = true;
		return NULL;
	}
	c->p += n;
	c->left -= n;
	return p;
}

static inline uint64_t take_number(struct cursor *c, size_t n)
{
	const char *p = take(c, n);
	uint64_t v = 0;

	if (p)
		memcpy(&v, p, n);
	return v;
}

#define take_u8(c) ((uint8_t)take_number(c, 1))
#define take_u16(c) ((uint16_t)take_number(c, 2))
#define take_u32(c) ((uint32_t)take_number(c, 4))
#define take_u64(c) take_number(c, 8)

struct name_ref {
	const char *str;
	size_t len;
};

static inline struct name_ref take_name(struct cursor *c)
{
	struct name_ref n = { .len = take_u8(c) };

	n.str = take(c, n.len);
	if (!n.str || n.len == 0 || memchr(n.str, '/', n.len) || memchr(n.str, 0, n.len) ||
	    (n.str[0] == '.' && (n.len == 1 || (n.len == 2 && n.str[1] == '.'))))
		c->bad = true;
	return n;
}

static inline struct timespec take_time(struct cursor *c)
{
	struct timespec ts = { .tv_sec = (time_t)take_u64(c) };

	ts.tv_nsec = take_u32(c);
	if (ts.tv_nsec >= NSEC_PER_SEC)
		c->bad = true;
	return ts;
}

#endif
