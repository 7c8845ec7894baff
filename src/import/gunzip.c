/* A gzip stream by zlib, which compares checksum and length at the end of each member: a tar
 * archive has no checksum of its contents, so that of gzip is the only one there is. Members follow
 * each other, as gzip -c a b makes them; what follows the last one and is none is read and ignored,
 * as gzip does it. */
#define ZLIB_CONST
#include "import/gunzip.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/buf.h"
#include "base/log.h"

#define OUT_SIZE (1u << 20)
#define WINDOW (15 + 16) /* the largest; a gzip header and nothing else */

struct gunzip {
	gunzip_source *source;
	void *arg;
	z_stream z;
	unsigned long members; /* that ended well */
	bool inside; /* of one */
	bool behind; /* the last one */
	bool ended; /* the source */
	uint8_t out[OUT_SIZE];
};

bool gunzip_is(const uint8_t magic[GUNZIP_MAGIC])
{
	/* Deflate, and no flag that nobody has defined. */
	return magic[0] == 0x1f && magic[1] == 0x8b && magic[2] == 8 && !(magic[3] & 0xe0);
}

struct gunzip *gunzip_new(gunzip_source *source, void *arg)
{
	struct gunzip *g = xalloc(sizeof(*g));

	g->source = source;
	g->arg = arg;
	g->inside = true;
	if (inflateInit2(&g->z, WINDOW) != Z_OK)
		log_die("out of memory");
	return g;
}

void gunzip_free(struct gunzip *g)
{
	if (!g)
		return;
	inflateEnd(&g->z);
	free(g);
}

static int input_more(struct gunzip *g)
{
	const void *block;
	ssize_t n;

	if (g->ended)
		return 0;
	n = g->source(g->arg, &block);
	if (n < 0)
		return -1;
	g->ended = !n;
	g->z.next_in = block;
	g->z.avail_in = (uInt)n;
	return 0;
}

/* One step inside of a member: bytes that came out of it, -1 with why. */
static ssize_t member_read(struct gunzip *g, const char **why)
{
	int r;

	g->z.next_out = g->out;
	g->z.avail_out = OUT_SIZE;
	r = inflate(&g->z, Z_NO_FLUSH);
	if (r == Z_STREAM_END) {
		g->members++;
		g->inside = false;
	} else if (r == Z_DATA_ERROR && g->members && !g->z.total_out && g->z.msg &&
		   !strcmp(g->z.msg, "incorrect header check")) {
		g->behind = true; /* no magic number: it only looked like another member */
	} else if (r != Z_OK && r != Z_BUF_ERROR) {
		*why = g->z.msg && strstr(g->z.msg, "check")
			       ? "the gzip checksum does not fit its contents: it is damaged"
			       : "the gzip stream is damaged";
		return -1;
	}
	return OUT_SIZE - g->z.avail_out;
}

ssize_t gunzip_read(struct gunzip *g, const void **block, const char **why)
{
	ssize_t n;

	*why = NULL;
	*block = g->out;
	for (;;) {
		if (!g->z.avail_in && input_more(g) < 0)
			return -1;
		if (!g->z.avail_in) {
			if (!g->inside || g->behind)
				return 0;
			*why = "truncated gzip stream";
			return -1;
		}
		if (!g->inside && !g->behind) {
			g->behind = g->z.next_in[0] != 0x1f;
			g->inside = true;
			if (inflateReset(&g->z) != Z_OK)
				log_die("zlib cannot start again");
		}
		if (g->behind) {
			g->z.avail_in = 0;
			continue;
		}
		n = member_read(g, why);
		if (n)
			return n;
	}
}
