/* The headers of tar archives; see tar.h. What is parsed here comes from strangers. */
#include <string.h>

#include "files/tar.h"

bool tar_number(const char *field, size_t n, int64_t *ret)
{
	uint64_t v = 0;
	size_t i = 0;

	if (field[0] & 0x80) { /* base 256, with its sign */
		bool negative = field[0] & 0x40;

		v = negative ? UINT64_MAX : 0;
		v = v << 6 | (field[0] & 0x3f);
		for (i = 1; i < n; i++) {
			if (v >> 55 != (negative ? 0x1ff : 0))
				return false;
			v = v << 8 | (unsigned char)field[i];
		}
		*ret = (int64_t)v;
		return true;
	}
	while (i < n && field[i] == ' ')
		i++;
	for (; i < n && field[i] >= '0' && field[i] <= '7'; i++) {
		if (v >> 60)
			return false;
		v = v << 3 | (uint64_t)(field[i] - '0');
	}
	for (; i < n; i++)
		if (field[i] && field[i] != ' ')
			return false;
	*ret = (int64_t)v;
	return true;
}

void tar_number_put(char *field, size_t n, uint64_t v)
{
	field[n - 1] = '\0';
	for (size_t i = n - 1; i-- > 0; v >>= 3)
		field[i] = (char)('0' + (v & 7));
}

uint32_t tar_sum(const struct tar_header *h)
{
	const unsigned char *p = (const unsigned char *)h;
	uint32_t sum = 0;

	for (size_t i = 0; i < sizeof(*h); i++) {
		bool own = i >= offsetof(struct tar_header, sum) &&
			   i < offsetof(struct tar_header, type);

		sum += own ? ' ' : p[i];
	}
	return sum;
}

bool tar_is_zero(const struct tar_header *h)
{
	const char *p = (const char *)h;

	return !p[0] && !memcmp(p, p + 1, sizeof(*h) - 1);
}

bool tar_parse(const struct tar_header *h, struct tar_entry *e)
{
	int64_t sum, mode, size, major = 0, minor = 0;

	if (!tar_number(h->sum, sizeof(h->sum), &sum) || sum != (int64_t)tar_sum(h))
		return false;
	if (!tar_number(h->mode, sizeof(h->mode), &mode) ||
	    !tar_number(h->size, sizeof(h->size), &size) || size < 0 ||
	    !tar_number(h->uid, sizeof(h->uid), &e->uid) ||
	    !tar_number(h->gid, sizeof(h->gid), &e->gid) ||
	    !tar_number(h->mtime, sizeof(h->mtime), &e->mtime))
		return false;
	if (!memcmp(h->magic, "ustar", 5)) {
		(void)tar_number(h->major, sizeof(h->major), &major);
		(void)tar_number(h->minor, sizeof(h->minor), &minor);
	}
	e->type = h->type == '\0' || h->type == '7' ? '0' : h->type;
	e->mode = (uint32_t)mode & 07777;
	e->size = (uint64_t)size;
	e->major = (uint32_t)major;
	e->minor = (uint32_t)minor;
	return true;
}
