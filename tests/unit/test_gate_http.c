/* Messages of HTTP in the gate: paths as rules see them, heads that are refused, bodies. */
#include <stdlib.h>
#include <string.h>

#include "gate/http.h"
#include "tap.h"

static void path_is(const char *target, unsigned reading, const char *want)
{
	static char to[TARGET_MAX + 1];
	bool read = path_read(target, reading, to);

	if (!ok(want ? read && !strcmp(to, want) : !read, target))
		printf("# reading %u: %s\n", reading, read ? to : "none");
}

static void test_paths(void)
{
	static const struct {
		const char *target, *decoded, *resolved;
	} paths[] = {
		{ "/", "/", "/" },
		{ "/a/b?c=/../d", "/a/b", "/a/b" },
		{ "/a/b/", "/a/b/", "/a/b/" },
		{ "/a/../b", "/a/../b", "/b" },
		{ "/../../b", "/../../b", "/b" },
		{ "/a/..", "/a/..", "/" },
		{ "/a/.", "/a/.", "/a/" },
		{ "/./a", "/./a", "/a" },
		{ "//a///b", "//a///b", "/a/b" },
		{ "/a/%2e%2e/b", "/a/../b", "/b" },
		{ "/a%2fb", "/a/b", "/a/b" },
		{ "/a%2F..%2Fb", "/a/../b", "/b" },
		{ "/a/..;x/b", "/a/..;x/b", "/b" },
		{ "/a;p=1/b;q", "/a;p=1/b;q", "/a/b" },
		{ "/a\\..\\b", "/a\\..\\b", "/b" },
		{ "/a/%252e%252e/b", "/a/%2e%2e/b", "/b" },
		{ "/a/%25252e%25252e/b", "/a/%252e%252e/b", "/b" },
		{ "/%", NULL, NULL },
		{ "/%4", NULL, NULL },
		{ "/%zz", NULL, NULL },
		{ "/a%00b", NULL, NULL },
		{ "/a%0d%0ab", NULL, NULL },
		{ "/100%25", "/100%", NULL },
		{ "/%2525252525252525", "/%25252525252525", NULL },
		{ "/@a%2fb", "/@a/b", "/@a/b" },
		{ "*", "*", "*" },
	};

	for (unsigned i = 0; i < ARRAY_LEN(paths); i++) {
		path_is(paths[i].target, 1, paths[i].decoded);
		path_is(paths[i].target, 2, paths[i].resolved);
	}
	path_is("/a/%2e?x", 0, "/a/%2e");
	ok(!target_wrong("/a?b", "GET"), "a path");
	ok(target_wrong("a", "GET") && target_wrong("", "GET"), "no path");
	ok(target_wrong("/a b", "GET") && target_wrong("/a\x80", "GET"), "wrong characters");
	ok(target_wrong("/a#b", "GET") != NULL, "a fragment");
	ok(target_wrong("*", "GET") && !target_wrong("*", "OPTIONS"), "a star");
}

static void test_authority(void)
{
	ok(authority_is("a.org", "a.org", 443, 443), "a name");
	ok(authority_is("A.Org", "a.org", 443, 443), "in upper case");
	ok(authority_is("a.org.", "a.org", 443, 443), "with a final dot");
	ok(authority_is("a.org:443", "a.org", 443, 443), "with its port");
	ok(authority_is("a.org:8443", "a.org", 8443, 443), "with another port");
	ok(!authority_is("a.org", "a.org", 8443, 443), "without the port it needs");
	ok(!authority_is("a.org:80", "a.org", 443, 443), "with a wrong port");
	ok(!authority_is("a.org:0443", "a.org", 443, 443), "with a port in another form");
	ok(!authority_is("a.org@b.org", "a.org", 443, 443), "with a user");
	ok(!authority_is("u@a.org", "a.org", 443, 443), "with another user");
	ok(!authority_is("a.org,b.org", "a.org", 443, 443), "two names");
	ok(!authority_is("xa.org", "a.org", 443, 443), "a longer name");
	ok(authority_is("[2001:db8::1]:8080", "2001:db8::1", 8080, 80), "an address");
	ok(!authority_is("2001:db8::1", "2001:db8::1", 80, 80), "an address without brackets");
}

/* NULL, or what is wrong with a request; the kind of its body. */
static const char *request(const char *text, enum body_kind *ret)
{
	struct head h = { 0 };
	struct body b = { 0 };
	const char *wrong;
	size_t scanned = 0, n = h1_head_end((const uint8_t *)text, strlen(text), &scanned, &wrong);

	if (!wrong && !n)
		wrong = "not whole";
	if (!wrong)
		wrong = h1_request_read(&h, (const uint8_t *)text, n);
	if (!wrong)
		wrong = body_of_request(&b, &h);
	if (ret)
		*ret = b.kind;
	body_fini(&b);
	head_fini(&h);
	return wrong;
}

#define R "POST / HTTP/1.1\r\nHost: a\r\n"

static void test_heads(void)
{
	static const char *const bad[] = {
		R "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
		R "Content-Length: 1\r\nContent-Length: 1\r\n\r\n",
		R "Content-Length: 1, 1\r\n\r\n",
		R "Content-Length: +1\r\n\r\n",
		R "Content-Length: 0x1\r\n\r\n",
		R "Content-Length: \r\n\r\n",
		R "Content-Length: 99999999999999999999\r\n\r\n",
		R "Transfer-Encoding: gzip, chunked\r\n\r\n",
		R "Transfer-Encoding: chunked, identity\r\n\r\n",
		R "Transfer-Encoding: \"chunked\"\r\n\r\n",
		R "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
		"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n",
		R "Content-Length : 1\r\n\r\n",
		R " X: y\r\n\r\n",
		R "X: y\r\n z\r\n\r\n",
		R "X: y\r\n\tz\r\n\r\n",
		R "X: y\nZ: 1\r\n\r\n",
		R "X: y\rZ: 1\r\n\r\n",
		R "X\r\n\r\n",
		R ": y\r\n\r\n",
		R "X(: y\r\n\r\n",
		R "X: a\x01"
		  "b\r\n\r\n",
		"GET /\r\n\r\n",
		"GET / HTTP/2.0\r\n\r\n",
		"GET  / HTTP/1.1\r\n\r\n",
		"GET / a HTTP/1.1\r\n\r\n",
		"GET\t/ HTTP/1.1\r\n\r\n",
		"GET / HTTP/1.1 \r\n\r\n",
		"G@T / HTTP/1.1\r\n\r\n",
		"GET ftp://a/ HTTP/1.1\r\n\r\n",
		"GET a HTTP/1.1\r\n\r\n",
		"\r\n\r\n",
	};
	enum body_kind kind;

	for (unsigned i = 0; i < ARRAY_LEN(bad); i++)
		if (!ok(request(bad[i], NULL) != NULL, "a head that is refused"))
			printf("# %s\n", bad[i]);
	ok(!request(R "\r\n", &kind) && kind == BODY_NONE, "no body");
	ok(!request(R "content-length:\t7 \r\n\r\n", &kind) && kind == BODY_LENGTH, "a length");
	ok(!request(R "Transfer-Encoding: Chunked\r\n\r\n", &kind) && kind == BODY_CHUNKED,
	   "chunks");
	ok(!request("GET http://a HTTP/1.1\r\n\r\n", NULL), "an absolute target");
	ok(!request("OPTIONS * HTTP/1.1\r\n\r\n", NULL), "a star");
}

/* The data of a chunked body; "": it is wrong or not whole. */
static const char *chunks(const char *text, bool strict)
{
	static char all[256];
	struct body b = { .kind = BODY_CHUNKED, .strict = strict };
	size_t n = 0;

	/* One byte at a time. */
	for (; *text && !b.done && !b.wrong; text++) {
		const uint8_t *data;
		size_t ndata;

		eq((long long)body_step(&b, (const uint8_t *)text, 1, &data, &ndata), 1, "a byte");
		memcpy(all + n, data, ndata);
		n += ndata;
	}
	all[b.done && !*text ? n : 0] = '\0';
	body_fini(&b);
	return all;
}

static void test_bodies(void)
{
	ok(!strcmp(chunks("5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n", true), "hello!"), "chunks");
	ok(!strcmp(chunks("A\r\n0123456789\r\n00\r\nX: y\r\n\r\n", true), "0123456789"),
	   "trailers");
	ok(!*chunks("5;a=b\r\nhello\r\n0\r\n\r\n", true), "an extension of a request");
	ok(!strcmp(chunks("5;a=b\r\nhello\r\n0\r\n\r\n", false), "hello"), "one of a response");
	ok(!*chunks("5\nhello\r\n0\r\n\r\n", true), "a size without CR");
	ok(!*chunks("5\r\nhello\n0\r\n\r\n", true), "data without CR");
	ok(!*chunks("5\r\nhello!\r\n0\r\n\r\n", true), "too much data");
	ok(!*chunks(" 5\r\nhello\r\n0\r\n\r\n", true), "a space");
	ok(!*chunks("0x5\r\nhello\r\n0\r\n\r\n", true), "0x");
	ok(!*chunks("-1\r\n", true), "a sign");
	ok(!*chunks("\r\n", true), "no size");
	ok(!*chunks("fffffffffffffffff\r\n", true), "a size that is too large");
	ok(!*chunks("1\r\na\r\n0\r\nX: y\n\r\n", true), "a trailer without CR");
}

static void test_hops(void)
{
	struct head h = { 0 };

	ok(!h1_fields_read(
		   &h,
		   (const uint8_t *)"Connection: close, X-A\r\nX-A: 1\r\nX-B: 2\r\nUpgrade: h2c\r\n"
				    "Host: a\r\nConnection: Host\r\nTE: trailers\r\n",
		   95),
	   "fields");
	head_hops(&h);
	eq(h.n, 2, "what is left");
	ok(head_find(&h, "x-b", NULL) && head_find(&h, "HOST", NULL),
	   "that which is not for one hop");
	head_fini(&h);
}

int main(void)
{
	test_paths();
	test_authority();
	test_heads();
	test_bodies();
	test_hops();
	return tap_end();
}
