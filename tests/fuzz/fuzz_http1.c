/* HTTP/1 on an opened connection: requests of a hostile client, responses of a hostile server, cut at
 * any place. Whatever is sent to the server must be understood in exactly one way: it is read again
 * here. What the client gets never has the value of a secret. */
/* objects: src/gate/h1.c src/gate/h1read.c src/gate/head.c src/gate/path.c src/gate/request.c src/gate/hold.c src/gate/exchange.c src/gate/record.c src/host/journalring.c src/wire/journal.c src/gate/secret.c src/gate/secretput.c src/gate/secretread.c src/gate/scrub.c src/gate/scrubstream.c src/policy/address.c src/policy/decide.c src/policy/glob.c src/policy/layers.c src/policy/dnstypes.c src/policy/parse.c src/policy/presets.c src/policy/print.c src/base/json.c src/base/buf.c src/base/err.c src/base/utf8.c src/base/log.c src/base/base64.c src/base/jsontext.c */
/* libraries: -lcrypto -lz -lbrotlidec -lzstd */
#include "opened.h"

const char fuzz_name[] = "http1";
const size_t fuzz_max = 4096;

#define VALUE "v4lue-of-it"

void fuzz_init(void)
{
	other_init("allow net a.org:80,443\ndeny net a.org:80 DELETE,PUT,GET\ndeny net a.org:80 /no/**\n");
	opened_fuzz_init("ask net a.org:80,443\nallow net a.org:80 GET,HEAD\ndeny net a.org:80 DELETE\ndeny net a.org:80 /no/**\n",
			 "{\"name\":\"X\",\"placeholder\":\"HHHHHHHH\",\"value\":\"" VALUE
			 "\",\"hosts\":[\"a.org:80\"],\"places\":[\"anywhere\",\"body\"]}");
	never_recorded = VALUE;
}

/* Everything that was sent to the server, read by the rules. True: it is a whole request. */
static bool requests_check(void)
{
	const uint8_t *p = sent[SERVER].p;
	size_t n = sent[SERVER].len;

	while (n) {
		struct head h = { 0 };
		struct body b = { 0 };
		const char *wrong;
		size_t scanned = 0, len = h1_head_end(p, n, &scanned, &wrong);
		bool whole;

		FUZZ_CHECK(!wrong && len);
		FUZZ_CHECK(!h1_request_read(&h, p, len));
		FUZZ_CHECK(h.target[0] == '/' || h.target[0] == '*');
		FUZZ_CHECK(strcmp(h.method, "DELETE") && strncmp(h.target, "/no/", 4));
		FUZZ_CHECK(head_find(&h, "host", NULL));
		FUZZ_CHECK(!body_of_request(&b, &h));
		p += len, n -= len;
		while (n && !b.done) {
			const uint8_t *data;
			size_t ndata, used = body_step(&b, p, n, &data, &ndata);

			FUZZ_CHECK(!b.wrong && used);
			p += used, n -= used;
		}
		whole = b.done;
		body_fini(&b);
		head_fini(&h);
		if (!whole)
			return false;
	}
	return true;
}

void fuzz_one(const uint8_t *data, size_t size)
{
	static const char ask[] = "GET / HTTP/1.1\r\nHost: a.org\r\n\r\n",
			  ask_head[] = "HEAD / HTTP/1.1\r\nHost: a.org\r\n\r\n",
			  ask_web[] = "GET / HTTP/1.1\r\nHost: a.org\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
				      "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
			  answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
	const char *texts[] = { ask, ask_head, ask_web, ask };
	size_t piece, cut;

	if (size < 2)
		return;
	piece = data[1] ? data[1] : size;
	cut = 2;
	conn_begin(&h1_protocol, false);
	if (data[0] & 1)
		conn_feed(CLIENT, (const uint8_t *)texts[data[0] >> 1 & 3], strlen(texts[data[0] >> 1 & 3]));
	for (size_t at = cut; at < size && conn_runs(); at += piece) {
		size_t before = sent[SERVER].len;

		conn_feed(data[0] & 1 ? SERVER : CLIENT, data + at, MIN(piece, size - at));
		if (data[0] & 32 && conn_runs())
			conn_happen(data[at] | 1u);
		if (!(data[0] & 1) && sent[SERVER].len > before && requests_check())
			conn_feed(SERVER, (const uint8_t *)answer, sizeof(answer) - 1);
	}
	requests_check();
	conn_eof(data[0] & 1 ? SERVER : CLIENT, data[0] & 16);
	if ((data[0] & 1) && sent[CLIENT].len)
		FUZZ_CHECK(!memmem(sent[CLIENT].p, sent[CLIENT].len, VALUE, strlen(VALUE)));
	conn_end();
}
