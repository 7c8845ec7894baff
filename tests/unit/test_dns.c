/* Messages of the DNS: questions as resolvers ask them and as nobody does, and the answers. */
/* objects: src/gate/dns.c src/policy/address.c */
#include <stdlib.h>
#include <string.h>

#include "gate/dns.h"
#include "tap.h"

#define HEAD "\x12\x34\x01\0\0\1\0\0\0\0\0"
#define ONE HEAD "\0"
#define OPT "\0\0\x29\x04\xd0\0\0\0\0\0\0"

static struct dns_query q;
static uint8_t out[DNS_QUERY_MAX];

static int asked(const char *p, size_t n)
{
	uint8_t *copy = malloc(n ? n : 1);
	int r;

	memcpy(copy, p, n);
	r = dns_query_read(copy, n, &q);
	free(copy);
	return r;
}
#define ASKED(text) asked(text, sizeof(text) - 1)

static void questions(void)
{
	char text[600];

	eq(ASKED(ONE "\3wWw\7example\3org\0\0\1\0\1"), DNS_OK, "a question");
	ok(!strcmp(q.name, "www.example.org") && q.type == DNS_A && q.id == 0x1234 && !q.edns &&
		   q.room == 512 && q.question_len == 21,
	   "is read");
	eq(ASKED(HEAD "\1\1a\0\0\x1c\0\1" OPT), DNS_OK, "with EDNS");
	ok(q.edns && q.room == 1232 && q.type == DNS_AAAA, "and its room");
	eq(ASKED(ONE "\0\0\2\0\1"), DNS_OK, "the root");
	ok(!q.name[0], "has no name");
	eq(ASKED("\x12\x34"), -1, "too short");
	eq(ASKED("\x12\x34\x81\0\0\1\0\0\0\0\0\0\1a\0\0\1\0\1"), -1, "an answer");
	eq(ASKED("\x12\x34\x28\0\0\1\0\0\0\0\0\0\1a\0\0\1\0\1"), DNS_NOTIMP, "an update");
	eq(ASKED("\x12\x34\1\0\0\2\0\0\0\0\0\0\1a\0\0\1\0\1\1b\0\0\1\0\1"), DNS_FORMERR, "two questions");
	eq(ASKED("\x12\x34\1\0\0\0\0\0\0\0\0\0"), DNS_FORMERR, "none");
	eq(ASKED(ONE "\1a\0\0\1\0\3"), DNS_NOTIMP, "another class");
	eq(ASKED(ONE "\3a.b\0\0\1\0\1"), DNS_FORMERR, "a dot in a label");
	eq(ASKED(ONE "\3a\0b\0\0\1\0\1"), DNS_FORMERR, "a NUL byte in one");
	eq(ASKED(ONE "\300\14\0\1\0\1"), DNS_FORMERR, "a pointer to itself");
	eq(ASKED(ONE "\5abc\0\0\1\0\1"), DNS_FORMERR, "a label that is cut off");
	eq(ASKED(ONE "\1a\0\0\1\0"), DNS_FORMERR, "a question that is cut off");
	eq(ASKED(HEAD "\1\1a\0\0\1\0\1"), DNS_FORMERR, "no OPT where one is promised");
	eq(ASKED(HEAD "\2\1a\0\0\1\0\1" OPT OPT), DNS_FORMERR, "two");
	memcpy(text, ONE, 12);
	memset(text + 12, 'a', 300);
	for (unsigned i = 0; i < 5; i++)
		text[12 + i * 64] = 63;
	memcpy(text + 12 + 256, "\0\0\1\0\1", 5);
	eq(asked(text, 12 + 256 + 5), DNS_FORMERR, "a name of 255 letters");
	text[12 + 192] = 59;
	memcpy(text + 12 + 252, "\0\0\1\0\1", 5);
	eq(asked(text, 12 + 252 + 5), DNS_OK, "one of 251");
}

static size_t answered(const char *query, size_t n, const struct dns_answer *a, size_t size)
{
	return dns_query_read((const uint8_t *)query, n, &q) < 0
		       ? 0
		       : dns_answer_write((const uint8_t *)query, &q, a, out, size);
}

static void answers(void)
{
	static const char plain[] = ONE "\1a\0\0\1\0\1", edns[] = HEAD "\1\1a\0\0\1\0\1" OPT,
			  six[] = ONE "\1a\0\0\x1c\0\1";
	struct ip addrs[DNS_ADDRS_MAX + 8];
	struct dns_answer a = { .addrs = addrs, .n = 2, .ttl = 60 };
	size_t n;

	for (unsigned i = 0; i < ARRAY_LEN(addrs); i++)
		ok(ip_parse("192.0.2.1", &addrs[i]), "an address");
	n = answered(plain, sizeof(plain) - 1, &a, 512);
	ok(n == 12 + 7 + 2 * 16 && !memcmp(out, "\x12\x34\x81\x80\0\1\0\2\0\0\0\0\1a\0\0\1\0\1", 19) &&
		   !memcmp(out + 19, "\300\14\0\1\0\1\0\0\0\74\0\4\300\0\2\1", 16),
	   "two addresses");
	ok(ip_parse("2001:db8::1", &addrs[0]), "an address of IPv6");
	n = answered(six, sizeof(six) - 1, &a, 512);
	ok(n == 12 + 7 + 2 * 28 && !memcmp(out + 31, "\x20\x01\x0d\xb8", 4), "is written whole");
	a.n = ARRAY_LEN(addrs);
	n = answered(six, sizeof(six) - 1, &a, 512);
	ok(n == 19 && (out[2] & 2) && !out[7], "too many for a datagram are cut");
	n = answered(six, sizeof(six) - 1, &a, sizeof(out));
	ok(n == 19 + DNS_ADDRS_MAX * 28 && !(out[2] & 2), "by TCP there is room");
	a = (struct dns_answer){ .code = DNS_REFUSED, .ede = DNS_EDE_BLOCKED, .text = "no rule" };
	n = answered(plain, sizeof(plain) - 1, &a, 512);
	ok(n == 19 && (out[3] & 15) == DNS_REFUSED && !out[11], "refused, without EDNS");
	n = answered(edns, sizeof(edns) - 1, &a, 512);
	ok(n == 19 + 11 + 6 + 7 && out[11] == 1 && !memcmp(out + n - 7, "no rule", 7), "with the reason");
	memset(addrs, 'x', 400);
	((char *)addrs)[400] = '\0';
	a.text = (const char *)addrs;
	n = answered(edns, sizeof(edns) - 1, &a, 512);
	ok(n <= 512, "which is not too long");
}

static void reverse(void)
{
	struct dns_record r;
	struct ip a;

	ok(dns_reverse_read("4.3.2.1.in-addr.arpa", &a) && !strcmp(ip_text(&a).str, "1.2.3.4"), "the name of an address");
	ok(dns_reverse_read("1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa", &a) &&
		   !strcmp(ip_text(&a).str, "2001:db8::1"),
	   "of IPv6");
	ok(!dns_reverse_read("4.3.2.1.in-addr.arpa.org", &a) && !dns_reverse_read("4.3.2.256.in-addr.arpa", &a) &&
		   !dns_reverse_read("3.2.1.in-addr.arpa", &a) && !dns_reverse_read("4.3.2.-1.in-addr.arpa", &a) &&
		   !dns_reverse_read("1.0.ip6.arpa", &a) && !dns_reverse_read("example.org", &a) &&
		   !dns_reverse_read("1.2.0.0.0.0.7.f.f.f.f.f.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.ip6.arpb", &a),
	   "others are none");
	dns_name_write("www.example.org", &r);
	ok(r.len == 17 && !memcmp(r.data, "\3www\7example\3org", 17), "a name as data");
}

static unsigned services(const char *data, size_t n, struct dns_record *r)
{
	uint8_t text[512] = "\x12\x34\x81\x80\0\1\0\2\0\0\0\0\1a\0\0\x41\0\1"
			    "\300\14\0\5\0\1\0\0\0\7\0\3\1b\0\1b\0\0\x41\0\1\0\0\0\x9\0";
	uint32_t ttl = 60;
	size_t at = 19 + 15 + 13 - 2;
	unsigned count;

	text[at] = 0;
	text[at + 1] = (uint8_t)n;
	memcpy(text + at + 2, data, n);
	count = dns_records_read(text, at + 2 + n, DNS_HTTPS, r, &ttl);
	for (size_t cut = 0; cut < at + 2 + n; cut++)
		(void)dns_records_read(text, cut, DNS_HTTPS, r + 1, &ttl);
	return ttl == 9 || !count ? count : 99;
}
#define SERVICES(text, r) services(text, sizeof(text) - 1, r)

/* One record of a type: data behind a question for "a.org". */
static unsigned record(uint16_t type, const char *data, size_t n, struct dns_record *r)
{
	uint8_t text[600] = "\x12\x34\x81\x80\0\1\0\1\0\0\0\0\1a\3org\0\0\x0f\0\1\300\14\0\0\0\1\0\0\0\7\0";
	size_t at = 12 + 7 + 4;
	uint32_t ttl = 60;
	uint8_t *exact;
	unsigned count = 0;

	text[at + 3] = (uint8_t)type;
	text[at + 11] = (uint8_t)n;
	memcpy(text + at + 12, data, n);
	for (size_t cut = 0; cut <= at + 12 + n; cut++) {
		exact = malloc(cut ? cut : 1);
		memcpy(exact, text, cut);
		count = dns_records_read(exact, cut, type, r, &ttl);
		free(exact);
	}
	return count;
}
#define RECORD(type, text, r) record(type, text, sizeof(text) - 1, r)

static void records(void)
{
	static struct dns_record r[DNS_RECORDS_MAX];

	eq(RECORD(DNS_MX, "\0\x0a\4mail\300\14", r), 1, "MX");
	ok(r[0].len == 14 && !memcmp(r[0].data, "\0\x0a\4mail\1a\3org\0", 14), "with its name whole");
	eq(RECORD(DNS_SOA, "\1n\300\14\300\16xxxxyyyyzzzzuuuuvvvv", r), 1, "SOA");
	ok(r[0].len == 9 + 5 + 20 && !memcmp(r[0].data, "\1n\1a\3org\0\3org\0xxxxyyyyzzzzuuuuvvvv", 34), "with two");
	eq(RECORD(DNS_SRV, "\0\1\0\2\1\xbb\0", r), 1, "SRV of the root");
	eq(RECORD(DNS_TXT, "\4text", r), 1, "TXT");
	eq(RECORD(DNS_MX, "\0\x0a\300\x25", r), 0, "a name that leads to itself");
	eq(RECORD(DNS_MX, "\0\x0a\300\xff", r), 0, "or forward");
	eq(RECORD(DNS_MX, "\0\x0a\1a\0x", r), 0, "bytes behind the name");
	eq(RECORD(DNS_MX, "\0", r), 0, "no name");
	eq(RECORD(DNS_SOA, "\0\0xxxx", r), 0, "too few numbers");
	eq(RECORD(DNS_TXT, "", r), 0, "nothing");
}

static void https(void)
{
	static struct dns_record r[DNS_RECORDS_MAX + 1];

	eq(SERVICES("\0\1\0\0\1\0\6\2h2\2h3\0\3\0\2\1\xbb\0\4\0\4\1\2\3\4\0\5\0\2xx\0\6\0\20aaaaaaaaaaaaaaaa", r), 1,
	   "a record for services");
	ok(r[0].len == 16 && !memcmp(r[0].data, "\0\1\0\0\1\0\3\2h2\0\3\0\2\1\xbb", 16), "keeps alpn and port alone");
	eq(SERVICES("\0\0\0", r), 0, "an alias is left out");
	eq(SERVICES("\0\1\1x\0", r), 0, "and another target");
	eq(SERVICES("\0\1\0\0\0\0\2\0\5\0\5\0\1x", r), 0, "and what needs all of it");
	eq(SERVICES("\0\1\0\0\1\0\3\2h3", r), 0, "and what is for datagrams");
	eq(SERVICES("\0\1\0\0\3\0\1x", r), 0, "and a port of one byte");
	eq(SERVICES("\0\1\0\0\1\0\7\2h2", r), 0, "and what is cut off");
	eq(dns_frame((const uint8_t *)"\0", 1), 0, "a length in part");
	eq(dns_frame((const uint8_t *)"\0\2a", 3), 0, "a message in part");
	eq(dns_frame((const uint8_t *)"\0\2abc", 5), 4, "a message");
	eq(dns_frame((const uint8_t *)"\x10\1", 2), -1, "one that is too long");
}

int main(void)
{
	questions();
	answers();
	reverse();
	https();
	records();
	return tap_end();
}
