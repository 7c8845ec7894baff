/* What servers answer to questions for services, names of addresses, and messages in streams. */
/* objects: src/gate/dns.c src/policy/address.c */
#include <string.h>

#include "fuzz.h"
#include "gate/dns.h"

const char fuzz_name[] = "dnsanswer";
const size_t fuzz_max = 1200;

void fuzz_init(void)
{
}

/* A record that is passed on has the head of one, and parameters of three kinds, in order. */
static void record_check(const struct dns_record *r)
{
	unsigned at = 3, last = 0;

	FUZZ_CHECK(r->len >= 3 && r->len <= sizeof(r->data) && !r->data[2] && (r->data[0] || r->data[1]));
	while (at < r->len) {
		unsigned key = (unsigned)r->data[at] << 8 | r->data[at + 1];

		FUZZ_CHECK(r->len - at >= 4 && key > last && key <= 3);
		last = key;
		at += 4 + ((unsigned)r->data[at + 2] << 8 | r->data[at + 3]);
	}
	FUZZ_CHECK(at == r->len);
}

void fuzz_one(const uint8_t *data, size_t size)
{
	static const uint16_t types[] = { DNS_NS, DNS_SOA, DNS_MX, DNS_TXT, DNS_SRV };
	static struct dns_record records[DNS_RECORDS_MAX];
	char name[DNS_NAME_MAX];
	uint32_t ttl = 60;
	unsigned n = dns_records_read(data, size, DNS_HTTPS, records, &ttl);
	struct ip a;
	int len;

	FUZZ_CHECK(n <= DNS_RECORDS_MAX && ttl <= 60);
	for (unsigned i = 0; i < n; i++)
		record_check(&records[i]);
	for (unsigned i = 0; i < ARRAY_LEN(types); i++) {
		n = dns_records_read(data, size, types[i], records, &ttl);
		FUZZ_CHECK(n <= DNS_RECORDS_MAX);
		for (unsigned k = 0; k < n; k++)
			FUZZ_CHECK(records[k].len && records[k].len <= sizeof(records[k].data));
	}
	len = dns_frame(data, size);
	FUZZ_CHECK(len >= -1 && (len <= 0 || (size_t)len <= size));
	memcpy(name, data, MIN(size, sizeof(name) - 1));
	name[MIN(size, sizeof(name) - 1)] = '\0';
	(void)dns_reverse_read(name, &a);
}
