/* The first bytes of a connection: real ones, cut anywhere, in any number of records, and wrong. */
/* objects: src/gate/hello.c */
#include <stdlib.h>
#include <string.h>

#include "gate/hello.h"
#include "hellos.h"
#include "tap.h"

static struct hello h;

static enum hello_kind kind(const void *p, size_t n)
{
	/* Of its own, so that a sanitizer sees what is read behind it. */
	uint8_t *copy = malloc(n ? n : 1);

	memcpy(copy, p, n);
	hello_read(copy, n, &h);
	free(copy);
	return h.kind;
}

/* A ClientHello with these extensions. */
static enum hello_kind made(const char *exts, size_t n)
{
	uint8_t m[1024] = { 22, 3, 1 };
	uint8_t *p = m + 9;

	*p++ = 3, *p++ = 3;
	p += 32;
	*p++ = 0;
	*p++ = 0, *p++ = 2, *p++ = 0x13, *p++ = 1;
	*p++ = 1, *p++ = 0;
	*p++ = (uint8_t)(n >> 8), *p++ = (uint8_t)n;
	memcpy(p, exts, n);
	p += n;
	m[3] = (uint8_t)((p - m - 5) >> 8), m[4] = (uint8_t)(p - m - 5);
	m[5] = 1, m[7] = (uint8_t)((p - m - 9) >> 8), m[8] = (uint8_t)(p - m - 9);
	return kind(m, (size_t)(p - m));
}
#define MADE(text) made(text, sizeof(text) - 1)

static void real(void)
{
	uint8_t many[sizeof(hello_h2) * 6];
	size_t at = 0;
	bool more = true;

	eq(kind(hello_h2, sizeof(hello_h2)), HELLO_TLS, "a ClientHello");
	ok(!h.wrong && !strcmp(h.name, "api.example.org") && h.http2 && !h.encrypted, "its name");
	eq(kind(hello_nameless, sizeof(hello_nameless)), HELLO_TLS, "one without a name");
	ok(!h.wrong && !h.name[0] && !h.http2, "has none");
	eq(kind(hello_tls12, sizeof(hello_tls12)), HELLO_TLS, "an older one");
	ok(!h.wrong && !strcmp(h.name, "a.b"), "has one");
	for (size_t n = 0; n < sizeof(hello_h2); n++)
		more &= kind(hello_h2, n) == HELLO_MORE;
	ok(more, "cut anywhere, more is needed");
	/* Each byte in a record of its own. */
	for (size_t i = 5; i < sizeof(hello_h2); i++) {
		memcpy(many + at, (uint8_t[]){ 22, 3, 1, 0, 1, hello_h2[i] }, 6);
		at += 6;
	}
	eq(kind(many, at), HELLO_TLS, "in many records");
	ok(!strcmp(h.name, "api.example.org"), "with its name");
	eq(kind(many, at - 1), HELLO_MORE, "but the last byte");
}

static void others(void)
{
	eq(kind("", 0), HELLO_MORE, "nothing");
	eq(kind("GET", 3), HELLO_MORE, "a method, perhaps");
	eq(kind("GET / HTTP/1.1\r\n", 16), HELLO_HTTP, "a request");
	eq(kind("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 24), HELLO_HTTP, "a preface");
	eq(kind("SSH-2.0-x", 9), HELLO_OTHER, "SSH");
	eq(kind("\0\0\0\10", 4), HELLO_OTHER, "PostgreSQL");
	eq(kind("ABCDEFGHIJKLMNOPQRSTUVWXYZ ", 27), HELLO_OTHER, "too long for a method");
	eq(kind("\x16\x02\x00\x00\x01", 5), HELLO_OTHER, "another version");
	eq(kind("\x16\x03\x01\x00\x00", 5), HELLO_OTHER, "an empty record");
	eq(kind("\x16\x03\x01\x40\x01", 5), HELLO_OTHER, "a record that is too long");
	eq(kind("\x16\x03\x01\x00\x04\x02\x00\x00\x00", 9), HELLO_OTHER, "a ServerHello");
	eq(kind("\x16\x03\x01\x00\x04\x01\xff\xff\xff", 9), HELLO_OTHER, "of 16 MiB");
	eq(kind("\x16\x03\x01\x00\x05\x01\x00\x00\x00\x00", 10), HELLO_OTHER, "with bytes behind it");
}

static void names(void)
{
	eq(MADE("\0\0\0\10\0\6\0\0\3a.b"), HELLO_TLS, "a name");
	ok(!h.wrong && !strcmp(h.name, "a.b"), "is read");
	MADE("\0\0\0\11\0\7\0\0\4A.b.");
	ok(!h.wrong && !strcmp(h.name, "a.b"), "in lower case, without a dot");
	MADE("\0\0\0\16\0\14\0\0\3a.b\0\0\3c.d");
	ok(h.wrong && !h.name[0], "two names");
	MADE("\0\0\0\10\0\6\1\0\3a.b");
	ok(h.wrong, "another type of name");
	MADE("\0\0\0\10\0\6\0\0\3a.b\0\0\0\10\0\6\0\0\3c.d");
	ok(h.wrong, "the extension twice");
	MADE("\0\0\0\5\0\3\0\0\0");
	ok(h.wrong, "an empty name");
	MADE("\0\0\0\10\0\6\0\0\3a\0b");
	ok(h.wrong && !h.name[0], "a NUL byte");
	MADE("\0\0\0\10\0\6\0\0\4a.b");
	ok(h.wrong, "a length that lies");
	MADE("\0\0\0\11\0\6\0\0\3a.bx");
	ok(h.wrong, "bytes behind the list");
	MADE("\0\0\0\14\0\12\0\0\7[::1]:1");
	ok(h.wrong, "no host name");
	MADE("\xfe\x0d\0\1x\0\0\0\10\0\6\0\0\3a.b");
	ok(!h.wrong && h.encrypted && !strcmp(h.name, "a.b"), "an encrypted one, with an outer name");
	MADE("\0\20\0\5\0\3\2h3");
	ok(!h.wrong && !h.http2, "other protocols");
	MADE("\0\20\0\5\0\3\3h2");
	ok(h.wrong, "a list that lies");
	MADE("\0");
	ok(h.wrong, "half an extension");
	MADE("");
	ok(!h.wrong && !h.name[0], "no extension");
}

int main(void)
{
	real();
	others();
	names();
	return tap_end();
}
