/* What an agent writes: bytes in pieces of any size, which become lines, which become messages of
 * JSON-RPC or noise. Pieces do not change the lines; a message has what its kind needs; a part that
 * is taken as it stands in the line is that part. */
/* objects: src/daemon/state/output.c src/daemon/sessions/lines.c src/daemon/sessions/rpc.c src/base/buf.c src/base/utf8.c src/base/log.c */
/* libraries: -ljansson -lm */
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "daemon/sessions/lines.h"
#include "daemon/sessions/rpc.h"
#include "daemon/state/output.h"
#include "fuzz.h"

const char fuzz_name[] = "acp";
const size_t fuzz_max = 4096;

void fuzz_init(void)
{
}

static void message_check(const char *line, size_t n)
{
	size_t nraw = 0;
	const char *raw;
	struct rpc m;
	char *text;

	rpc_read(line, n, &m);
	raw = m.kind == RPC_NOISE ? NULL : rpc_raw(line, n, "params", "update", &nraw);
	FUZZ_CHECK((m.kind == RPC_REQUEST || m.kind == RPC_NOTICE) == (m.method != NULL));
	FUZZ_CHECK((m.kind != RPC_NOISE && m.kind != RPC_NOTICE) == (m.id != NULL));
	FUZZ_CHECK(!m.params || json_is_object(m.params));
	FUZZ_CHECK(m.kind != RPC_RESULT || m.result);
	FUZZ_CHECK(m.kind != RPC_ERROR || json_is_object(m.error));
	if (raw) {
		json_t *update = json_object_get(m.params, "update");
		json_t *again = json_loadb(raw, nraw, JSON_ALLOW_NUL | JSON_DECODE_ANY, NULL);
		/* All numbers of a message are read so if one is too big. */
		json_t *real = json_loadb(raw, nraw,
					  JSON_ALLOW_NUL | JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL, NULL);

		FUZZ_CHECK(raw >= line && raw + nraw <= line + n);
		FUZZ_CHECK(!update || json_equal(update, again) || json_equal(update, real));
		json_decref(again);
		json_decref(real);
	}
	if (m.kind == RPC_REQUEST) {
		text = rpc_error(m.id, RPC_NO_METHOD, "no");
		FUZZ_CHECK(text && text[strlen(text) - 1] == '\n' && strchr(text, '\n')[1] == '\0');
		free(text);
	}
	rpc_free(&m);
}

struct got {
	struct buf b;
	bool check;
};

static void on_line(void *arg, const char *p, size_t n)
{
	struct got *g = arg;

	FUZZ_CHECK(!memchr(p, '\n', n) && p[n] == '\0');
	buf_add(&g->b, p, n);
	buf_add(&g->b, "\n", 1);
	if (g->check)
		message_check(p, n);
}

static void on_skipped(void *arg, const char *shown, size_t n, uint64_t length)
{
	(void)arg;
	(void)shown;
	FUZZ_CHECK(n <= LINE_SHOWN && length > LINE_MAX_BYTES);
}

static void feed(const uint8_t *data, size_t size, size_t piece, struct got *g)
{
	struct lines_user u = { .line = on_line, .skipped = on_skipped, .arg = g };
	struct lines l = { 0 };

	for (size_t at = 0, n; at < size; at += n) {
		n = MIN(piece, size - at);
		lines_feed(&l, (const char *)data + at, n, &u);
	}
	lines_end(&l, &u);
	FUZZ_CHECK(!lines_kept(&l));
	lines_free(&l);
}

void fuzz_one(const uint8_t *data, size_t size)
{
	struct got whole = { .check = true }, pieces = { 0 };
	json_t *text = output_text((const char *)data, size, 1000);

	FUZZ_CHECK(text && json_string_length(text) <= 1000 &&
		   text_is_utf8(json_string_value(text), json_string_length(text)));
	json_decref(text);
	feed(data, size, size, &whole);
	feed(data, size, size ? 1 + data[0] % 13 : 1, &pieces);
	FUZZ_CHECK(whole.b.len == pieces.b.len && (!whole.b.len || !memcmp(whole.b.p, pieces.b.p, whole.b.len)));
	FUZZ_CHECK(whole.b.len <= size + 1);
	buf_free(&whole.b);
	buf_free(&pieces.b);
}
