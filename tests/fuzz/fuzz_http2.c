/* HTTP/2 on an opened connection: frames of a hostile client or server. The bytes of an input are a
 * list of frames (type, flags, stream, length, bytes), so that most of them are well formed; heads
 * are written with literals, which need no table. */
/* objects: src/gate/h2.c src/gate/h2head.c src/gate/h2body.c src/gate/head.c src/gate/path.c src/gate/request.c src/gate/hold.c src/gate/exchange.c src/gate/record.c src/host/journalring.c src/wire/journal.c src/gate/secret.c src/gate/secretput.c src/gate/secretread.c src/gate/scrub.c src/gate/scrubstream.c src/policy/address.c src/policy/decide.c src/policy/glob.c src/policy/layers.c src/policy/dnstypes.c src/policy/parse.c src/policy/presets.c src/policy/print.c src/base/json.c src/base/buf.c src/base/err.c src/base/utf8.c src/base/log.c src/base/base64.c src/base/jsontext.c */
/* libraries: -lcrypto -lnghttp2 -lz -lbrotlidec -lzstd */
#include "gate/h2.h"
#include "opened.h"

const char fuzz_name[] = "http2";
const size_t fuzz_max = 2048;

void fuzz_init(void)
{
	other_init("allow net a.org\ndeny net a.org GET\nallow net a.org POST /\n");
	opened_fuzz_init("allow net a.org\ndeny net a.org DELETE\nask net a.org POST\n",
			 "{\"name\":\"X\",\"placeholder\":\"HHHHHHHH\",\"value\":\"v4lue-of-it\",\"hosts\":[\"a.org\"],"
			 "\"places\":[\"anywhere\",\"body\"]}");
	never_recorded = "v4lue-of-it";
}

static void frame_add(struct buf *to, uint8_t type, uint8_t flags, uint32_t id, const void *p, size_t n)
{
	const uint8_t head[9] = { (uint8_t)(n >> 16), (uint8_t)(n >> 8), (uint8_t)n,
				  type,		      flags,	        0,
				  0,		      (uint8_t)(id >> 8), (uint8_t)id };

	buf_add(to, head, sizeof(head));
	buf_add(to, p, n);
}

/* A literal without indexing. */
static void literal_add(struct buf *to, const char *name, const char *value)
{
	const uint8_t a[2] = { 0, (uint8_t)strlen(name) }, b = (uint8_t)strlen(value);

	buf_add(to, a, 2);
	buf_add(to, name, a[1]);
	buf_add(to, &b, 1);
	buf_add(to, value, b);
}

static void head_add_block(struct buf *to, unsigned kind)
{
	static const char *const methods[] = { "GET", "POST", "DELETE", "CONNECT" };
	static const char *const paths[] = { "/", "/a?b=HHHHHHHH", "*", "x" };

	if (kind & 128) {
		static const char *const states[] = { "200", "100", "404", "101" };

		if (!(kind & 64))
			literal_add(to, ":status", states[kind & 3]);
		literal_add(to, kind & 4 ? "content-encoding" : "x-a", kind & 8 ? "gzip" : "v4lue-of-it");
		return;
	}
	if (!(kind & 64)) {
		literal_add(to, ":method", methods[kind & 3]);
		literal_add(to, ":scheme", "https");
		literal_add(to, ":path", paths[kind >> 2 & 3]);
		literal_add(to, ":authority", kind & 16 ? "b.org" : "a.org");
	}
	literal_add(to, kind & 32 ? "te" : "grpc-status", kind & 32 ? "trailers" : "0");
}

/* Frames as data says; about half of the heads are sensible. */
static void frames_make(struct buf *to, const uint8_t *data, size_t size, bool server)
{
	for (size_t at = 0; at + 4 <= size;) {
		uint8_t type = data[at] & 15, flags = data[at + 1];
		uint32_t id = data[at + 2] & 31;
		size_t n = MIN((size_t)data[at + 3], size - at - 4);
		struct buf block = { 0 };

		at += 4;
		if (type == NGHTTP2_HEADERS && data[at - 4] & 16 && n) {
			head_add_block(&block, server ? data[at] | 128u : data[at] & 127u);
			flags = (flags & 1) | NGHTTP2_FLAG_END_HEADERS;
			frame_add(to, type, flags, id, block.p, block.len);
		} else {
			frame_add(to, type, flags, id, data + at, n);
		}
		buf_free(&block);
		at += n;
	}
}

void fuzz_one(const uint8_t *data, size_t size)
{
	struct buf client = { 0 }, server = { 0 };
	size_t half, piece;

	if (size < 4)
		return;
	half = 4 + (size - 4) * data[0] / 256;
	piece = data[1] ? data[1] * 8u : 65536;
	if (!(data[2] & 1))
		buf_add(&client, NGHTTP2_CLIENT_MAGIC, NGHTTP2_CLIENT_MAGIC_LEN);
	if (!(data[2] & 2))
		frame_add(&client, NGHTTP2_SETTINGS, 0, 0, "", 0);
	if (!(data[2] & 4))
		frame_add(&server, NGHTTP2_SETTINGS, 0, 0, "", 0);
	frames_make(&client, data + 4, half - 4, false);
	frames_make(&server, data + half, size - half, true);
	conn_begin(&h2_protocol, true);
	for (size_t at = 0; conn_runs() && (at < client.len || at < server.len); at += piece) {
		if (at < client.len)
			conn_feed(CLIENT, client.p + at, MIN(piece, client.len - at));
		if (conn_runs() && at < server.len)
			conn_feed(SERVER, server.p + at, MIN(piece, server.len - at));
		if (conn_runs())
			conn_happen(data[3] * (unsigned)(at / piece + 1));
	}
	if (conn_runs())
		conn_happen(data[3]);
	conn_eof(data[2] & 8 ? SERVER : CLIENT, true);
	conn_eof(CLIENT, true);
	conn_end();
	buf_free(&client);
	buf_free(&server);
}
