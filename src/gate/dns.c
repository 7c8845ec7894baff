/* See dns.h. RFC 1035, RFC 6891 (EDNS), RFC 8914 (extended errors). */
#include "gate/dns.h"

#include <stdio.h>
#include <string.h>

#define HEAD 12
#define FLAG_QR 0x8000u
#define FLAG_TC 0x0200u
#define FLAG_RD 0x0100u
#define FLAG_RA 0x0080u
#define OPCODE 0x7800u
#define CLASS_IN 1
#define OPT_LEN 11
#define OPT_EDE 15
#define EDE_TEXT_MAX 200
#define POINTER_TO_NAME 0xc00c /* the name of the question */
#define RECORDS_MAX 32 /* that are looked through for an OPT */

static uint16_t get16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static uint8_t *put16(uint8_t *p, unsigned v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
	return p + 2;
}

static uint8_t *put32(uint8_t *p, uint32_t v)
{
	return put16(put16(p, v >> 16), v & 0xffff);
}

/* ---- questions ---- */

/* A name without pointers, which have no use in a question; its length with the final 0, or 0. */
static size_t name_read(const uint8_t *p, size_t n, char *out)
{
	size_t at = 0, len = 0;

	for (;;) {
		size_t label;

		if (at >= n)
			return 0;
		label = p[at++];
		if (!label)
			break;
		if (label > 63 || label > n - at || len + label + 1 >= DNS_NAME_MAX)
			return 0;
		for (size_t i = 0; i < label; i++) {
			uint8_t c = p[at + i];

			/* Dots within a label, and what no host name has, cannot be shown without
			 * being mistaken for another name. */
			if (c >= 'A' && c <= 'Z')
				c |= 0x20;
			if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
			      c == '_'))
				return 0;
			out[len++] = (char)c;
		}
		out[len++] = '.';
		at += label;
	}
	out[len ? len - 1 : 0] = '\0';
	return at;
}

/* A name of any kind is passed over; 0: it is cut off. */
static size_t name_skip(const uint8_t *p, size_t n)
{
	for (size_t at = 0; at < n;) {
		if (!p[at])
			return at + 1;
		if (p[at] >= 0xc0)
			return at + 2 <= n ? at + 2 : 0;
		at += 1u + p[at];
	}
	return 0;
}

/* Looks for an OPT among the records behind the question. False: they make no sense. */
static bool options_read(const uint8_t *p, size_t n, unsigned records, struct dns_query *q)
{
	for (unsigned i = 0; i < records; i++) {
		size_t name = name_skip(p, n), len;

		if (!name || n - name < 10)
			return false;
		len = get16(p + name + 8);
		if (len > n - name - 10)
			return false;
		if (get16(p + name) == DNS_OPT) {
			if (q->edns || name != 1)
				return false;
			q->edns = true;
			q->room = MAX(get16(p + name + 2), (uint16_t)DNS_UDP_MAX);
		}
		p += name + 10 + len;
		n -= name + 10 + len;
	}
	return true;
}

int dns_query_read(const uint8_t *p, size_t n, struct dns_query *ret)
{
	unsigned records;
	size_t name;

	*ret = (struct dns_query){ .room = DNS_UDP_MAX };
	if (n < HEAD || n > DNS_QUERY_MAX || (get16(p + 2) & FLAG_QR))
		return -1;
	ret->id = get16(p);
	ret->flags = get16(p + 2);
	if (ret->flags & OPCODE)
		return DNS_NOTIMP;
	/* One question, no answers; what comes behind are an OPT and what goes with it. */
	records = (unsigned)get16(p + 8) + get16(p + 10);
	if (get16(p + 4) != 1 || get16(p + 6) || records > RECORDS_MAX)
		return DNS_FORMERR;
	name = name_read(p + HEAD, n - HEAD, ret->name);
	if (!name || n - HEAD - name < 4)
		return DNS_FORMERR;
	ret->type = get16(p + HEAD + name);
	ret->class = get16(p + HEAD + name + 2);
	ret->question_len = (uint16_t)(name + 4);
	if (!options_read(p + HEAD + ret->question_len, n - HEAD - ret->question_len, records,
			  ret)) {
		ret->question_len = 0;
		return DNS_FORMERR;
	}
	return ret->class == CLASS_IN ? DNS_OK : DNS_NOTIMP;
}

/* ---- answers ---- */

/* An OPT, with the extended error if there is one. */
static uint8_t *options_write(uint8_t *p, const struct dns_answer *a)
{
	size_t text = a->ede && a->text ? MIN(strlen(a->text), (size_t)EDE_TEXT_MAX) : 0;

	*p++ = 0;
	p = put16(p, DNS_OPT);
	p = put16(p, DNS_QUERY_MAX);
	p = put32(p, 0);
	p = put16(p, a->ede ? (unsigned)(6 + text) : 0);
	if (!a->ede)
		return p;
	p = put16(p, OPT_EDE);
	p = put16(p, (unsigned)(2 + text));
	p = put16(p, a->ede);
	if (text)
		memcpy(p, a->text, text);
	return p + text;
}

/* One record. Its data is len bytes. */
static uint8_t *record_write(uint8_t *p, const struct dns_query *q, uint32_t ttl, const void *data,
			     size_t len)
{
	p = put16(p, POINTER_TO_NAME);
	p = put16(p, q->type);
	p = put16(p, CLASS_IN);
	p = put32(p, ttl);
	p = put16(p, (unsigned)len);
	memcpy(p, data, len);
	return p + len;
}

size_t dns_answer_write(const uint8_t *query, const struct dns_query *q, const struct dns_answer *a,
			uint8_t *out, size_t size)
{
	bool addrs = q->type == DNS_A || q->type == DNS_AAAA;
	size_t len = q->type == DNS_A ? 4 : 16, need = HEAD + q->question_len, n = a->n;
	unsigned flags = FLAG_QR | FLAG_RA | (q->flags & (OPCODE | FLAG_RD)) | (a->code & 15);
	struct dns_answer tail = *a;
	uint8_t *p = out + HEAD;

	n = addrs ? MIN(n, DNS_ADDRS_MAX) : a->records ? MIN(n, DNS_RECORDS_MAX) : 0;
	for (size_t i = 0; i < n; i++)
		need += 12 + (addrs ? len : a->records[i].len);
	need += q->edns ? OPT_LEN + (a->ede ? 6 : 0) : 0;
	if (need + EDE_TEXT_MAX > size)
		tail.text = NULL;
	/* With room for the question and the tail: the least size has it. */
	if (need > size) {
		n = 0;
		flags |= FLAG_TC;
	}
	memcpy(p, query + HEAD, q->question_len);
	p += q->question_len;
	for (size_t i = 0; i < n; i++)
		p = addrs ? record_write(p, q, a->ttl, a->addrs[i].b + (16 - len), len)
			  : record_write(p, q, a->ttl, a->records[i].data, a->records[i].len);
	if (q->edns)
		p = options_write(p, &tail);
	put16(out, q->id);
	put16(out + 2, flags);
	put16(out + 4, q->question_len ? 1 : 0);
	put16(out + 6, (unsigned)n);
	put16(out + 8, 0);
	put16(out + 10, q->edns ? 1 : 0);
	return (size_t)(p - out);
}

/* ---- names of addresses ---- */

static int digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool dns_reverse_read(const char *name, struct ip *ret)
{
	static const char tail6[] = ".ip6.arpa";
	unsigned v[4];
	int used = 0;

	*ret = (struct ip){ { [10] = 0xff, [11] = 0xff } };
	if (sscanf(name, "%3u.%3u.%3u.%3u.in-addr.arpa%n", &v[3], &v[2], &v[1], &v[0], &used) ==
		    4 &&
	    used && !name[used]) {
		for (unsigned i = 0; i < 4; i++) {
			if (v[i] > 255)
				return false;
			ret->b[12 + i] = (uint8_t)v[i];
		}
		return true;
	}
	if (strlen(name) != 63 + sizeof(tail6) - 1 || strcmp(name + 63, tail6))
		return false;
	for (unsigned i = 0; i < 32; i++) {
		int d = digit(name[2 * i]);

		if (d < 0 || (i < 31 && name[2 * i + 1] != '.'))
			return false;
		if (i % 2)
			ret->b[15 - i / 2] |= (uint8_t)(d << 4);
		else
			ret->b[15 - i / 2] = (uint8_t)d;
	}
	return !ip_is_v4(ret);
}

void dns_name_write(const char *name, struct dns_record *ret)
{
	uint8_t *p = ret->data;

	while (*name) {
		size_t n = strcspn(name, ".");

		*p++ = (uint8_t)n;
		memcpy(p, name, n);
		p += n;
		name += n + (name[n] == '.');
	}
	*p++ = 0;
	ret->len = (uint16_t)(p - ret->data);
}

/* ---- services ---- */

#define SVC_ALPN 1
#define SVC_NO_DEFAULT 2
#define SVC_PORT 3

/* The protocols of an alpn parameter but those over datagrams: its new length; -1: it is broken. */
static int alpn_copy(const uint8_t *p, size_t n, uint8_t *out)
{
	int len = 0;

	for (size_t at = 0; at < n;) {
		size_t one = p[at] + 1u;

		if (one > n - at || one < 2)
			return -1;
		if (one < 3 || memcmp(p + at + 1, "h3", 2)) {
			memcpy(out + len, p + at, one);
			len += (int)one;
		}
		at += one;
	}
	return len;
}

/* The parameters of a record: false if it is of no use. ret has the head of the record already. */
static bool service_params(const uint8_t *p, size_t n, struct dns_record *ret)
{
	int last = -1;

	for (size_t at = 0; at < n;) {
		unsigned key, len;
		uint8_t *out = ret->data + ret->len;
		int kept;

		if (n - at < 4)
			return false;
		key = get16(p + at);
		len = get16(p + at + 2);
		at += 4;
		/* Keys are in order; with "mandatory" nothing may be left out. */
		if ((int)key <= last || len > n - at || !key)
			return false;
		last = (int)key;
		if (key <= SVC_PORT) {
			if (ret->len + 4u + len > sizeof(ret->data) ||
			    (key == SVC_NO_DEFAULT && len) || (key == SVC_PORT && len != 2))
				return false;
			kept = (int)len;
			if (key == SVC_ALPN)
				kept = alpn_copy(p + at, len, out + 4);
			else if (len)
				memcpy(out + 4, p + at, len);
			if (kept < 0 || (key == SVC_ALPN && !kept))
				return false;
			put16(put16(out, key), (unsigned)kept);
			ret->len = (uint16_t)(ret->len + 4 + kept);
		}
		at += len;
	}
	return true;
}

/* The data of a record: its priority, the name itself as target, parameters. */
static bool service_read(const uint8_t *p, size_t n, struct dns_record *ret)
{
	if (n < 3 || !get16(p) || p[2])
		return false;
	memcpy(ret->data, p, 3);
	ret->len = 3;
	return service_params(p + 3, n - 3, ret);
}

/* ---- records as servers send them ---- */

/* A name of a message, which may lead back to earlier ones, without that: into out, of room bytes.
 * Returns how many bytes of the message it takes at its place; 0: it is broken. */
static size_t name_copy(const uint8_t *p, size_t n, size_t at, uint8_t *out, size_t room,
			size_t *ret_len)
{
	size_t used = 0, len = 0, back = at;

	for (;;) {
		size_t label;

		if (at >= n)
			return 0;
		label = p[at];
		if (label >= 0xc0) {
			size_t to;

			if (n - at < 2)
				return 0;
			to = get16(p + at) & 0x3fffu;
			used = used ? used : at + 2;
			/* Always further back, so that it ends. */
			if (to >= back)
				return 0;
			at = back = to;
			continue;
		}
		if (label > 63 || label + 1 > n - at || len + label + 1 > MIN(room, (size_t)255))
			return 0;
		memcpy(out + len, p + at, label + 1);
		len += label + 1;
		at += label + 1;
		if (!label)
			break;
	}
	*ret_len = len;
	return used ? used : at;
}

/* How the data of a type looks: bytes, names, bytes; the rest of the types has bytes alone. */
static const struct shape {
	uint16_t type;
	uint8_t before, names, after;
} shapes[] = {
	{ DNS_NS, 0, 1, 0 }, { DNS_SOA, 0, 2, 20 }, { DNS_MX, 2, 1, 0 }, { DNS_SRV, 6, 1, 0 }
};

/* The data of len bytes at p[at]. */
static bool data_copy(const uint8_t *p, size_t at, size_t len, uint16_t type,
		      struct dns_record *ret)
{
	const struct shape *s = NULL;
	size_t end = at + len;

	for (unsigned i = 0; i < ARRAY_LEN(shapes); i++)
		if (shapes[i].type == type)
			s = &shapes[i];
	if (!s) {
		if (!len || len > sizeof(ret->data))
			return false;
		memcpy(ret->data, p + at, len);
		ret->len = (uint16_t)len;
		return true;
	}
	if (len < s->before)
		return false;
	memcpy(ret->data, p + at, s->before);
	ret->len = s->before;
	at += s->before;
	for (unsigned i = 0; i < s->names; i++) {
		size_t n;

		at = name_copy(p, end, at, ret->data + ret->len, sizeof(ret->data) - ret->len, &n);
		if (!at)
			return false;
		ret->len = (uint16_t)(ret->len + n);
	}
	if (end - at != s->after || ret->len + s->after > (int)sizeof(ret->data))
		return false;
	memcpy(ret->data + ret->len, p + at, s->after);
	ret->len = (uint16_t)(ret->len + s->after);
	return true;
}

unsigned dns_records_read(const uint8_t *msg, size_t n, uint16_t type, struct dns_record *ret,
			  uint32_t *ret_ttl)
{
	bool services = type == DNS_HTTPS || type == DNS_SVCB;
	unsigned questions, records, count = 0;
	size_t at = HEAD;

	if (n < HEAD || !(get16(msg + 2) & FLAG_QR) || (get16(msg + 2) & 15))
		return 0;
	questions = get16(msg + 4);
	records = get16(msg + 6);
	while (questions--) {
		size_t name = name_skip(msg + at, n - at);

		if (!name || n - at - name < 4)
			return 0;
		at += name + 4;
	}
	while (records-- && count < DNS_RECORDS_MAX) {
		size_t name = name_skip(msg + at, n - at), len;
		const uint8_t *p;

		if (!name || n - at - name < 10)
			break;
		p = msg + at + name;
		len = get16(p + 8);
		at += name + 10;
		if (len > n - at)
			break;
		if (get16(p) == type && get16(p + 2) == CLASS_IN &&
		    (services ? service_read(p + 10, len, &ret[count])
			      : data_copy(msg, at, len, type, &ret[count]))) {
			*ret_ttl = MIN(*ret_ttl, (uint32_t)get16(p + 4) << 16 | get16(p + 6));
			count++;
		}
		at += len;
	}
	return count;
}

/* ---- streams ---- */

int dns_frame(const uint8_t *p, size_t n)
{
	if (n < 2)
		return 0;
	if (get16(p) > DNS_QUERY_MAX)
		return -1;
	return n - 2 < get16(p) ? 0 : 2 + get16(p);
}
