/* See secret.h: bodies as streams. What is compressed is decompressed first and stays so: nobody
 * sees what a value looks like in the middle of a compressed stream. A step gives a bounded number
 * of bytes, however much a few bytes of input stand for; who reads slowly is not run over. */
#include <brotli/decode.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>
#include <zstd.h>

#include "gate/secret.h"

#define ROOM 32768 /* decompressed at once */
#define ZSTD_WINDOW 23 /* 8 MiB: what RFC 9659 lets servers use */

enum coding { CODING_NONE, CODING_GZIP, CODING_DEFLATE, CODING_BROTLI, CODING_ZSTD };

struct scrub {
	struct secrets *set; /* ref: what patterns may belong to */
	struct patterns *own; /* NULL: those of the set */
	unsigned flags;
	enum coding coding;
	z_stream z;
	BrotliDecoderState *br;
	ZSTD_DCtx *zstd;
	bool started, ended; /* of the compressed stream */
	bool over; /* the end was given */
	struct buf held; /* could be the begin of something */
};

static int coding_find(const char *encoding, enum coding *ret, struct err *e)
{
	static const struct {
		const char *name;
		enum coding coding;
	} names[] = { { "identity", CODING_NONE }, { "gzip", CODING_GZIP },
		      { "x-gzip", CODING_GZIP },   { "deflate", CODING_DEFLATE },
		      { "br", CODING_BROTLI },	   { "zstd", CODING_ZSTD } };

	*ret = CODING_NONE;
	if (!encoding || !*encoding)
		return 0;
	for (unsigned i = 0; i < ARRAY_LEN(names); i++)
		if (!strcasecmp(encoding, names[i].name)) {
			*ret = names[i].coding;
			return 0;
		}
	return err_set(
		e, ERR_DENIED,
		"the response has Content-Encoding '%s', in which no secret can be looked for",
		encoding);
}

/* 15 + 16: gzip; 15: zlib. What many call deflate has no head at all, which its first byte tells.
 */
static int coding_start(struct scrub *s, uint8_t first)
{
	if (s->coding == CODING_BROTLI)
		return (s->br = BrotliDecoderCreateInstance(NULL, NULL, NULL)) ? 0 : -1;
	if (s->coding == CODING_ZSTD) {
		s->zstd = ZSTD_createDCtx();
		return !s->zstd || ZSTD_isError(ZSTD_DCtx_setParameter(s->zstd, ZSTD_d_windowLogMax,
								       ZSTD_WINDOW))
			       ? -1
			       : 0;
	}
	return inflateInit2(&s->z, s->coding == CODING_GZIP ? 15 + 16
				   : (first & 15) == 8	    ? 15
							    : -15) == Z_OK
		       ? 0
		       : -1;
}

struct scrub *scrub_new(const struct secret_site *site, const char *encoding, unsigned flags,
			struct err *e)
{
	struct scrub *s;
	enum coding coding;

	if (coding_find(encoding, &coding, e) < 0)
		return NULL;
	s = xalloc(sizeof(*s));
	*s = (struct scrub){ .set = secrets_get(site->set), .flags = flags, .coding = coding };
	if (s->set && !s->set->values)
		s->set->values = patterns_of_values(s->set);
	return s;
}

struct scrub *secret_body_new(const struct secret_site *site, const char *content_type)
{
	struct scrub *s = xalloc(sizeof(*s));

	*s = (struct scrub){ .own = patterns_of_body(site, content_type) };
	return s;
}

void scrub_free(struct scrub *s)
{
	if (!s)
		return;
	if (s->started && (s->coding == CODING_GZIP || s->coding == CODING_DEFLATE))
		inflateEnd(&s->z);
	if (s->br)
		BrotliDecoderDestroyInstance(s->br);
	ZSTD_freeDCtx(s->zstd);
	patterns_free(s->own);
	secrets_put(s->set);
	if (s->held.p)
		explicit_bzero(s->held.p, s->held.len);
	buf_free(&s->held);
	free(s);
}

/* Bytes as they are meant, through what is held back. */
static void plain_take(struct scrub *s, const uint8_t *p, size_t n, bool end, struct buf *to)
{
	const struct patterns *ps = s->own ? s->own : s->set ? s->set->values : NULL;
	bool mask = s->flags & SCRUB_MASK;
	size_t used;

	if (!ps) {
		buf_add(to, p, n);
		return;
	}
	if (!s->held.len) {
		used = patterns_run(ps, p, n, end, mask, to, NULL);
		buf_add(&s->held, p + used, n - used);
		return;
	}
	buf_add(&s->held, p, n);
	used = patterns_run(ps, s->held.p, s->held.len, end, mask, to, NULL);
	memmove(s->held.p, s->held.p + used, s->held.len - used);
	s->held.len -= used;
}

static int inflate_some(struct scrub *s, const uint8_t *p, size_t n, uint8_t *out, size_t *taken,
			size_t *made)
{
	int r;

	s->z.next_in = (uint8_t *)(uintptr_t)p;
	s->z.avail_in = (uInt)MIN(n, (size_t)1 << 30);
	s->z.next_out = out;
	s->z.avail_out = ROOM;
	r = inflate(&s->z, Z_NO_FLUSH);
	*taken = (size_t)(s->z.next_in - p);
	*made = ROOM - s->z.avail_out;
	s->ended = r == Z_STREAM_END;
	return r == Z_OK || r == Z_STREAM_END || r == Z_BUF_ERROR ? 0 : -1;
}

static int brotli_some(struct scrub *s, const uint8_t *p, size_t n, uint8_t *out, size_t *taken,
		       size_t *made)
{
	size_t left = n, room = ROOM;
	BrotliDecoderResult r = BrotliDecoderDecompressStream(s->br, &left, &p, &room, &out, NULL);

	*taken = n - left;
	*made = ROOM - room;
	s->ended = r == BROTLI_DECODER_RESULT_SUCCESS;
	return r == BROTLI_DECODER_RESULT_ERROR ? -1 : 0;
}

static int zstd_some(struct scrub *s, const uint8_t *p, size_t n, uint8_t *out, size_t *taken,
		     size_t *made)
{
	ZSTD_inBuffer from = { p, n, 0 };
	ZSTD_outBuffer to = { out, ROOM, 0 };
	size_t r = ZSTD_decompressStream(s->zstd, &to, &from);

	*taken = from.pos;
	*made = to.pos;
	s->ended = r == 0;
	return ZSTD_isError(r) ? -1 : 0;
}

static int coded_take(struct scrub *s, const uint8_t *p, size_t n, bool end, size_t *taken,
		      struct buf *to, struct err *e)
{
	uint8_t out[ROOM];
	size_t made = 0;
	int r;

	*taken = 0;
	if (!s->started && n) {
		if (coding_start(s, p[0]) < 0)
			return err_set(e, ERR_FAILED, "cannot decompress a response");
		s->started = true;
	}
	/* A second member of gzip is as much a part of it as the first. */
	if (s->ended && n && s->coding == CODING_GZIP) {
		if (inflateReset(&s->z) != Z_OK)
			return err_set(e, ERR_FAILED, "cannot decompress a response");
		s->ended = false;
	}
	if (s->ended && n && s->coding == CODING_ZSTD)
		s->ended = false; /* another frame */
	if (s->ended && n)
		return err_set(e, ERR_FAILED, "a compressed response has bytes behind its end");
	if (s->started && !s->ended) {
		r = s->coding == CODING_BROTLI ? brotli_some(s, p, n, out, taken, &made)
		    : s->coding == CODING_ZSTD ? zstd_some(s, p, n, out, taken, &made)
					       : inflate_some(s, p, n, out, taken, &made);
		if (r < 0)
			return err_set(e, ERR_FAILED, "a compressed response is damaged");
	}
	if (made || *taken < n) {
		if (!made && !*taken)
			return err_set(e, ERR_FAILED, "a compressed response is damaged");
		plain_take(s, out, made, false, to);
		return 1;
	}
	if (end && s->started && !s->ended)
		return err_set(e, ERR_FAILED, "a compressed response ends too early");
	if (end)
		plain_take(s, out, 0, true, to);
	return 0;
}

int scrub_step(struct scrub *s, const void *p, size_t n, bool end, size_t *ret_taken,
	       struct buf *to, struct err *e)
{
	size_t some = MIN(n, (size_t)SCRUB_OUT / 2);

	if (s->over && n)
		return err_set(e, ERR_FAILED, "a response has bytes behind its end");
	if (s->coding != CODING_NONE) {
		int r = coded_take(s, p, n, end, ret_taken, to, e);

		s->over = r == 0 && end;
		return r;
	}
	*ret_taken = some;
	s->over = end && some == n;
	plain_take(s, p, some, s->over, to);
	return some < n;
}
