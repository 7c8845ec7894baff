/* See hello.h. RFC 8446 section 4.1.2, RFC 6066 section 3, RFC 7301, RFC 9849. */
#include "gate/hello.h"

#include <string.h>

#define RECORD_HANDSHAKE 22
#define RECORD_MAX 16384
#define CLIENT_HELLO 1
#define EXT_SERVER_NAME 0
#define EXT_ALPN 16
#define EXT_ECH 0xfe0d
#define EXTS_MAX 128

/* A range of bytes that is read from the front. It never reads behind its end: what is missing is
 * 0 and sets bad. */
struct part {
	const uint8_t *p;
	size_t n;
	bool bad;
};

static uint32_t part_number(struct part *s, unsigned bytes)
{
	uint32_t v = 0;

	if (s->n < bytes) {
		s->bad = true;
		s->n = 0;
		return 0;
	}
	for (unsigned i = 0; i < bytes; i++)
		v = v << 8 | s->p[i];
	s->p += bytes;
	s->n -= bytes;
	return v;
}

/* A part with a length of so many bytes before it. */
static struct part part_take(struct part *s, unsigned bytes)
{
	size_t n = part_number(s, bytes);
	struct part sub = { s->p, n, s->bad };

	if (n > s->n) {
		s->bad = sub.bad = true;
		n = sub.n = 0;
	}
	s->p += n;
	s->n -= n;
	return sub;
}

/* ---- records ---- */

/* The handshake message without its records, in buf of HELLO_MAX; its length. 0: more is needed;
 * -1: these are no such records. */
static long records_join(const uint8_t *p, size_t n, uint8_t *buf)
{
	size_t have = 0, want = 4;

	for (;;) {
		size_t len;

		if (n < 5)
			return 0;
		len = (size_t)p[3] << 8 | p[4];
		if (p[0] != RECORD_HANDSHAKE || p[1] != 3 || !len || len > RECORD_MAX)
			return -1;
		if (n < 5 + len)
			return 0;
		if (have + len > HELLO_MAX)
			return -1;
		memcpy(buf + have, p + 5, len);
		have += len;
		p += 5 + len;
		n -= 5 + len;
		if (have >= 4 && want == 4) {
			if (buf[0] != CLIENT_HELLO)
				return -1;
			want += (size_t)buf[1] << 16 | (size_t)buf[2] << 8 | buf[3];
			if (want > HELLO_MAX)
				return -1;
		}
		/* Nothing else may share the last record: a server would not expect it here. */
		if (have > want)
			return -1;
		if (have == want)
			return (long)have;
	}
}

/* ---- extensions ---- */

static void server_name_read(struct part ext, struct hello *h)
{
	struct part list = part_take(&ext, 2);
	uint32_t type = part_number(&list, 1);
	struct part name = part_take(&list, 2);

	if (ext.bad || list.bad || name.bad || ext.n) {
		h->wrong = "its server name is malformed";
		return;
	}
	/* One name of one type: all that RFC 6066 leaves. */
	if (list.n || type != 0) {
		h->wrong = "it has several server names";
		return;
	}
	if (name.n && name.p[name.n - 1] == '.')
		name.n--;
	if (!name.n || name.n >= sizeof(h->name)) {
		h->wrong = "its server name has a wrong length";
		return;
	}
	for (size_t i = 0; i < name.n; i++) {
		uint8_t c = name.p[i];

		if (c >= 'A' && c <= 'Z')
			c |= 0x20;
		if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-' ||
		      c == '_')) {
			h->wrong = "its server name is not a host name";
			break;
		}
		h->name[i] = (char)c;
	}
	if (h->wrong)
		memset(h->name, 0, sizeof(h->name));
}

static void alpn_read(struct part ext, struct hello *h)
{
	struct part list = part_take(&ext, 2);

	while (list.n && !list.bad) {
		struct part one = part_take(&list, 1);

		if (one.n == 2 && !memcmp(one.p, "h2", 2))
			h->http2 = true;
	}
	if (list.bad || ext.bad || ext.n)
		h->wrong = "its list of protocols is malformed";
}

static void extensions_read(struct part all, struct hello *h)
{
	uint16_t seen[EXTS_MAX];
	unsigned n = 0;

	while (all.n && !h->wrong) {
		uint16_t type = (uint16_t)part_number(&all, 2);
		struct part ext = part_take(&all, 2);

		if (all.bad || n == EXTS_MAX) {
			h->wrong = "its extensions are malformed";
			return;
		}
		for (unsigned i = 0; i < n; i++)
			if (seen[i] == type)
				h->wrong = "it has an extension twice";
		seen[n++] = type;
		if (h->wrong)
			return;
		if (type == EXT_SERVER_NAME)
			server_name_read(ext, h);
		else if (type == EXT_ALPN)
			alpn_read(ext, h);
		else if (type == EXT_ECH)
			h->encrypted = true;
	}
}

static void message_read(const uint8_t *p, size_t n, struct hello *h)
{
	struct part s = { p + 4, n - 4, false }, ids, ciphers, methods, exts;

	(void)part_number(&s, 2); /* version: those that matter are in an extension */
	for (unsigned i = 0; i < 8; i++)
		(void)part_number(&s, 4); /* random */
	ids = part_take(&s, 1);
	ciphers = part_take(&s, 2);
	methods = part_take(&s, 1);
	if (s.bad || ids.n > 32 || ciphers.n < 2 || ciphers.n % 2 || !methods.n) {
		h->wrong = "it is malformed";
		return;
	}
	if (!s.n)
		return; /* TLS 1.0 and older: no extensions */
	exts = part_take(&s, 2);
	if (s.bad || s.n) {
		h->wrong = "it is malformed";
		return;
	}
	extensions_read(exts, h);
}

/* ---- what it is ---- */

/* Is this the beginning of a request? -1: that cannot be said yet. */
static int http_is(const uint8_t *p, size_t n)
{
	static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
	size_t i = 0;

	if (!memcmp(p, preface, MIN(n, sizeof(preface) - 1)))
		return n >= sizeof(preface) - 1 ? 1 : -1;
	while (i < n && i < 24 && ((p[i] >= 'A' && p[i] <= 'Z') || p[i] == '-'))
		i++;
	if (i == n && i < 24)
		return -1;
	return i && i < n && p[i] == ' ';
}

void hello_read(const uint8_t *p, size_t n, struct hello *ret)
{
	uint8_t message[HELLO_MAX];
	long len;
	int http;

	memset(ret, 0, sizeof(*ret));
	ret->kind = HELLO_MORE;
	if (!n)
		return;
	if (p[0] != RECORD_HANDSHAKE) {
		http = http_is(p, n);
		ret->kind = http < 0 ? HELLO_MORE : http ? HELLO_HTTP : HELLO_OTHER;
		return;
	}
	len = records_join(p, n, message);
	if (!len && n < HELLO_MAX)
		return;
	if (len <= 0) {
		ret->kind = HELLO_OTHER;
		return;
	}
	ret->kind = HELLO_TLS;
	message_read(message, (size_t)len, ret);
}
