/* Bodies of responses: nothing that a server sends, however compressed and cut, gets a value through
 * as it is, and the result does not depend on where it was cut. Headers and targets of requests:
 * what is changed had a placeholder. */
/* objects: src/gate/secret.c src/gate/secretput.c src/gate/secretread.c src/gate/scrub.c src/gate/scrubstream.c src/base/json.c src/base/buf.c src/base/err.c src/base/utf8.c src/base/log.c src/base/base64.c src/base/jsontext.c */
/* libraries: -lz -lbrotlidec -lzstd */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "gate/secret.h"

const char fuzz_name[] = "scrub";
const size_t fuzz_max = 4096;

#define VALUE "ab&%\\cdea"
#define HOLDER "HHHHHHHH"

static struct secrets *set;
static struct secret_site site;

void fuzz_init(void)
{
	static const char text[] =
		"{\"name\":\"X\",\"placeholder\":\"" HOLDER "\",\"value\":\"ab&%\\\\cdea\","
		"\"hosts\":[\"a.org\"],\"places\":[\"header x\",\"basic\",\"bearer\",\"query q\"]}";
	struct err e = { 0 };

	set = secrets_new();
	FUZZ_CHECK(secrets_add(set, text, strlen(text), &e) == 0);
	secret_site_init(&site, set, "a.org", 443, true);
}

static int run(const char *encoding, const uint8_t *p, size_t n, size_t piece, struct buf *to)
{
	struct err e = { 0 };
	struct scrub *s = scrub_new(&site, encoding, 0, &e);
	int r = 1;

	while (r >= 0 && (n || r) && to->len < 1 << 20) {
		size_t some = MIN(n, piece), taken = 0, before = to->len;

		r = scrub_step(s, p, some, some == n, &taken, to, &e);
		FUZZ_CHECK(r < 0 || taken <= some);
		FUZZ_CHECK(to->len - before <= 8 * SCRUB_OUT);
		p += r < 0 ? 0 : taken;
		n -= r < 0 ? 0 : taken;
	}
	scrub_free(s);
	return r;
}

static void requests(const uint8_t *data, size_t size)
{
	static const char *const names[] = { "x", "Authorization", "y" };
	bool has = memmem(data, size, HOLDER, strlen(HOLDER)) != NULL;
	struct buf to = { 0 };
	struct err e = { 0 };

	for (unsigned i = 0; i < ARRAY_LEN(names); i++) {
		int r = secret_header(&site, names[i], strlen(names[i]), (const char *)data, size, &to,
				      &e);

		FUZZ_CHECK(i != 0 || r == has);
		FUZZ_CHECK(i != 2 || r == -has);
		FUZZ_CHECK(r != 0 || !to.len);
		to.len = 0;
	}
	FUZZ_CHECK((secret_target(&site, (const char *)data, size, &to, &e) != 0) == has);
	buf_free(&to);
}

void fuzz_one(const uint8_t *data, size_t size)
{
	static const char *const encodings[] = { NULL, "gzip", "deflate", "br", "zstd" };
	struct buf whole = { 0 }, cut = { 0 };
	const char *encoding;
	int r;

	if (size < 2)
		return;
	encoding = encodings[data[0] % ARRAY_LEN(encodings)];
	r = run(encoding, data + 2, size - 2, size, &whole);
	if (r != run(encoding, data + 2, size - 2, 1 + data[1], &cut))
		FUZZ_CHECK(whole.len >= 1 << 20);
	else
		FUZZ_CHECK(r < 0 || whole.len >= 1 << 20 ||
			   (whole.len == cut.len && (!cut.len || !memcmp(whole.p, cut.p, cut.len))));
	FUZZ_CHECK(r < 0 || !whole.len || !memmem(whole.p, whole.len, VALUE, strlen(VALUE)));
	requests(data + 2, size - 2);
	buf_free(&whole);
	buf_free(&cut);
}
