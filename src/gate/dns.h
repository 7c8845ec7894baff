/* Messages of the DNS: a question as a program in the cell asks it, and the answer that it gets.
 *
 * Questions are hostile. One of the usual kind is understood: one name, class IN; all others get an
 * answer that says so. The answers are made here from addresses alone, so nothing of what a server
 * sent reaches the cell unseen. */
#ifndef VIV_GATE_DNS_H
#define VIV_GATE_DNS_H

#include "policy/address.h"

#define DNS_PORT 53
#define DNS_NAME_MAX 254
#define DNS_QUERY_MAX 4096
#define DNS_UDP_MAX 512 /* without EDNS */
#define DNS_ANSWER_MAX 16384 /* as much as a message to the kernel holds */
#define DNS_ADDRS_MAX 32

#define DNS_A 1
#define DNS_NS 2
#define DNS_CNAME 5
#define DNS_SOA 6
#define DNS_PTR 12
#define DNS_MX 15
#define DNS_TXT 16
#define DNS_AAAA 28
#define DNS_SRV 33
#define DNS_OPT 41
#define DNS_SVCB 64
#define DNS_HTTPS 65

#define DNS_OK 0
#define DNS_FORMERR 1
#define DNS_SERVFAIL 2
#define DNS_NXDOMAIN 3
#define DNS_NOTIMP 4
#define DNS_REFUSED 5

/* Extended errors (RFC 8914). */
#define DNS_EDE_BLOCKED 15
#define DNS_EDE_FILTERED 17
#define DNS_EDE_PROHIBITED 18
#define DNS_EDE_NO_REACHABLE 22

struct dns_query {
	uint16_t id, flags, type, class;
	char name[DNS_NAME_MAX]; /* in lower case, without a final dot; "": the root */
	uint16_t question_len; /* of the question as it was sent, behind the head */
	bool edns;
	uint16_t room; /* of an answer by UDP */
};

/* 0; a DNS_ code: what to answer (q->id and flags are set, the rest only with DNS_OK and
 * DNS_NOTIMP); -1: no answer, since it is none or too short to be one. */
int dns_query_read(const uint8_t *p, size_t n, struct dns_query *ret);

/* The data of a record that is not an address. */
#define DNS_DATA_MAX 1024
#define DNS_RECORDS_MAX 16
struct dns_record {
	uint16_t len;
	uint8_t data[DNS_DATA_MAX];
};

struct dns_answer {
	unsigned code; /* DNS_OK with no addresses or records: there are none of this type */
	const struct ip *addrs; /* of the query's type, A or AAAA */
	const struct dns_record *records; /* of another type */
	unsigned n; /* addresses or records */
	uint32_t ttl;
	unsigned ede; /* an extended error; 0: none */
	const char *text; /* with it; may be NULL */
};

/* The length of the answer, at most size. query: the bytes that q was read from. Without room for
 * all of it, the text of an error is left out, then the records, and it says so. size: at least
 * DNS_UDP_MAX. */
size_t dns_answer_write(const uint8_t *query, const struct dns_query *q, const struct dns_answer *a,
			uint8_t *out, size_t size);

/* The name of a PTR question, "4.3.2.1.in-addr.arpa" or 32 digits below ip6.arpa, as an address. */
bool dns_reverse_read(const char *name, struct ip *ret);
/* A record with a host's name as its data, for PTR. name: as struct dns_query has it. */
void dns_name_write(const char *name, struct dns_record *ret);

/* What a server answered to a question for records of a type, as the cell may see it: how many of
 * ret were filled, at most DNS_RECORDS_MAX. Names in them are whole. Of HTTPS and SVCB records
 * (RFC 9460), those for the name itself are kept, and of their parameters alpn (without h3, which
 * needs datagrams), no-default-alpn and port: keys for hiding the name and addresses that are bound
 * to no name are left out. */
unsigned dns_records_read(const uint8_t *msg, size_t n, uint16_t type, struct dns_record *ret,
			  uint32_t *ret_ttl);

/* A message in a stream, behind its length: how long it is with that; 0: more is needed; -1: it is
 * longer than a question can be. */
int dns_frame(const uint8_t *p, size_t n);

#endif
