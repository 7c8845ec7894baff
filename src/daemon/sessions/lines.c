/* See lines.h. */
#include "daemon/sessions/lines.h"

#include <string.h>

/* A buffer that was needed for one long line is given back. */
#define KEEP 65536

static void part_reset(struct lines *l)
{
	if (l->part.cap > KEEP)
		buf_free(&l->part);
	l->part.len = 0;
}

static void skip_begin(struct lines *l, const char *p, size_t n)
{
	size_t have = MIN(l->part.len, sizeof(l->shown));
	size_t more = MIN(n, sizeof(l->shown) - have);

	memcpy(l->shown, l->part.p, have);
	memcpy(l->shown + have, p, more);
	l->nshown = have + more;
	l->skipped = l->part.len + n;
	part_reset(l);
}

/* Some of a line, which goes on. */
static void part_add(struct lines *l, const char *p, size_t n)
{
	if (l->skipped)
		l->skipped += n;
	else if (l->part.len + n > LINE_MAX_BYTES)
		skip_begin(l, p, n);
	else
		buf_add(&l->part, p, n);
}

static void line_end(struct lines *l, const struct lines_user *u)
{
	if (l->skipped) {
		uint64_t length = l->skipped;

		l->skipped = 0;
		u->skipped(u->arg, l->shown, l->nshown, length);
		l->nshown = 0;
		return;
	}
	buf_add(&l->part, "", 1);
	u->line(u->arg, (char *)l->part.p, l->part.len - 1);
	part_reset(l);
}

void lines_feed(struct lines *l, const char *p, size_t n, const struct lines_user *u)
{
	while (n) {
		const char *end = memchr(p, '\n', n);
		size_t some = end ? (size_t)(end - p) : n;

		part_add(l, p, some);
		if (!end)
			return;
		line_end(l, u);
		p += some + 1;
		n -= some + 1;
	}
}

void lines_end(struct lines *l, const struct lines_user *u)
{
	if (l->skipped || l->part.len)
		line_end(l, u);
}

size_t lines_kept(const struct lines *l)
{
	return l->part.len;
}

void lines_free(struct lines *l)
{
	buf_free(&l->part);
	l->skipped = 0;
	l->nshown = 0;
}
