/* See dns.h. RFC 1035, RFC 6891 (EDNS), RFC 8914 (extended errors). */
#include "gate/dns.h"

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

size_t dns_answer_write(const uint8_t *query, const struct dns_query *q, const struct dns_answer *a,
			uint8_t *out, size_t size)
{
	size_t len = q->type == DNS_A ? 4 : 16, tail, each = 12 + len, n = MIN(a->n, DNS_ADDRS_MAX);
	unsigned flags = FLAG_QR | FLAG_RA | (q->flags & (OPCODE | FLAG_RD)) | (a->code & 15);
	uint8_t *p = out + HEAD;

	tail = q->edns ? OPT_LEN + (a->ede ? 6 + EDE_TEXT_MAX : 0) : 0;
	if (q->type != DNS_A && q->type != DNS_AAAA)
		n = 0;
	/* With room for the question and the tail: the least size has it. */
	if (HEAD + q->question_len + n * each + tail > size) {
		n = 0;
		flags |= FLAG_TC;
	}
	memcpy(p, query + HEAD, q->question_len);
	p += q->question_len;
	for (size_t i = 0; i < n; i++) {
		p = put16(p, POINTER_TO_NAME);
		p = put16(p, q->type);
		p = put16(p, CLASS_IN);
		p = put32(p, a->ttl);
		p = put16(p, (unsigned)len);
		memcpy(p, a->addrs[i].b + (16 - len), len);
		p += len;
	}
	if (q->edns)
		p = options_write(p, a);
	put16(out, q->id);
	put16(out + 2, flags);
	put16(out + 4, q->question_len ? 1 : 0);
	put16(out + 6, (unsigned)n);
	put16(out + 8, 0);
	put16(out + 10, q->edns ? 1 : 0);
	return (size_t)(p - out);
}
