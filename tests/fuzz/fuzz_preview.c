/* Requests to previews, and published ports. A head that is read as one for a preview gives a token
 * that could be one or none, and goes to the cell without it; what goes to a browser stays a head, and
 * can set no cookie of ours. The same bytes as a response, likewise. */
/* objects: src/daemon/previews/target.c src/spec/ports.c src/policy/address.c src/gate/head.c src/gate/h1read.c src/base/buf.c src/base/err.c src/base/jsontext.c src/base/utf8.c src/base/log.c */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "daemon/previews/target.h"
#include "fuzz.h"
#include "gate/http.h"
#include "spec/ports.h"

const char fuzz_name[] = "preview";
const size_t fuzz_max = 2048;

void fuzz_init(void)
{
}

/* What was made of a head is one that is read as the same. */
static void head_is_whole(const struct head *h)
{
	struct buf b = { 0 };
	struct head again = { 0 };
	size_t scanned = 0, n;
	const char *wrong;

	h1_head_write(h, &b);
	n = h1_head_end(b.p, b.len, &scanned, &wrong);
	if (b.len <= HEAD_MAX) {
		FUZZ_CHECK(n == b.len && !wrong);
		wrong = h->method ? h1_request_read(&again, b.p, n) : h1_response_read(&again, b.p, n);
		FUZZ_CHECK(wrong || again.n == h->n);
	}
	head_fini(&again);
	buf_free(&b);
}

static void cookies_check(const struct head *h)
{
	for (unsigned i = 0; i < h->n; i++) {
		const char *v = h->fields[i].value;

		if (strcasecmp(h->fields[i].name, "set-cookie"))
			continue;
		v += strspn(v, " \t");
		FUZZ_CHECK(strncmp(v, PREVIEW_COOKIE "=", sizeof(PREVIEW_COOKIE)));
		while ((v = strchr(v, ';'))) {
			v += 1 + strspn(v + 1, " \t");
			FUZZ_CHECK(strncasecmp(v, "domain=", 7));
		}
	}
}

static void request(const uint8_t *data, size_t n)
{
	struct head h = { 0 }, r = { 0 };
	struct body b = { 0 };
	struct target t;

	if (!h1_request_read(&h, data, n) && !body_of_request(&b, &h) && !target_read(&t, &h)) {
		size_t len = strlen(t.token);

		FUZZ_CHECK(!len || (len == PREVIEW_TOKEN_LEN &&
				    strspn(t.token, "0123456789abcdef") == len));
		FUZZ_CHECK((t.form == TARGET_HOST) == (t.id[0] != 0) && t.rest[0] == '/');
		FUZZ_CHECK(!strpbrk(t.rest, "\r\n ") && !strpbrk(t.host, "\r\n /"));
		head_to_cell(&h, &t, 80, NULL);
		for (unsigned i = 0; i < h.n; i++)
			FUZZ_CHECK(strcasecmp(h.fields[i].name, "cookie") ||
				   strncmp(h.fields[i].value, PREVIEW_COOKIE "=", sizeof(PREVIEW_COOKIE)));
		FUZZ_CHECK(head_find(&h, "connection", NULL) || h.n >= HEAD_FIELDS_MAX - 8 || h.size > HEAD_MAX - 1024);
		head_is_whole(&h);
		target_fini(&t);
	}
	head_fini(&h);
	head_fini(&r);
	body_fini(&b);
}

static void response(const uint8_t *data, size_t n, enum target_form form)
{
	struct target t = { .form = form };
	struct head h = { 0 };
	struct body b = { 0 };

	if (!h1_response_read(&h, data, n) && !body_of_response(&b, &h, false)) {
		head_to_browser(&h, &t, 80, true);
		cookies_check(&h);
		if (form == TARGET_PATH)
			FUZZ_CHECK(!head_find(&h, "set-cookie", NULL) &&
				   (head_has(&h, "content-security-policy", "sandbox") || h.n));
		head_is_whole(&h);
	}
	head_fini(&h);
	body_fini(&b);
}

void fuzz_one(const uint8_t *data, size_t size)
{
	char text[160];
	size_t scanned = 0, n = MIN(size, sizeof(text) - 1);
	struct published p;
	const char *wrong;
	struct err e;

	memcpy(text, data, n);
	text[n] = '\0';
	if (ports_parse("-p", text, &p, &e) == 0)
		FUZZ_CHECK(p.count && p.count <= PORTS_MAX && p.cell && p.cell + p.count <= 65536 &&
			   (!p.host || p.host + p.count <= 65536));
	n = h1_head_end(data, size, &scanned, &wrong);
	if (!n)
		return;
	FUZZ_CHECK(n <= size);
	request(data, n);
	response(data, n, TARGET_PATH);
	response(data, n, TARGET_HOST);
}
