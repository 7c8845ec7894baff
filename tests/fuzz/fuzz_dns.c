/* Questions to the resolver. Every one that is understood gets an answer that fits. */
/* objects: src/gate/dns.c src/policy/address.c */
#include <string.h>

#include "fuzz.h"
#include "gate/dns.h"

const char fuzz_name[] = "dns";
const size_t fuzz_max = 600;

void fuzz_init(void)
{
}

void fuzz_one(const uint8_t *data, size_t size)
{
	static const struct ip addrs[DNS_ADDRS_MAX];
	struct dns_answer a = { .addrs = addrs, .n = 3, .ttl = 30, .ede = 15, .text = "denied" };
	struct dns_query q;
	uint8_t out[DNS_UDP_MAX];
	int r = dns_query_read(data, size, &q);

	FUZZ_CHECK(strlen(q.name) < sizeof(q.name));
	if (r < 0)
		return;
	a.code = (unsigned)r;
	FUZZ_CHECK(r == DNS_OK || r == DNS_FORMERR || r == DNS_NOTIMP);
	FUZZ_CHECK(q.question_len + 12u <= size);
	FUZZ_CHECK(dns_answer_write(data, &q, &a, out, sizeof(out)) <= sizeof(out));
}
