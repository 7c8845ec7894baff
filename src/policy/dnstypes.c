/* The types of DNS records that a rule can allow with dns=, besides addresses. */
#include <string.h>

#include "policy/policy.h"

static const struct {
	const char *name;
	uint16_t type;
} types[] = {
	{ "CAA", 257 }, { "MX", 15 },	 { "NS", 2 },	 { "SOA", 6 },
	{ "SRV", 33 },	{ "SSHFP", 44 }, { "TLSA", 52 }, { "TXT", 16 },
};

unsigned dns_types_parse(const char *list)
{
	unsigned bits = 0;

	for (;;) {
		size_t n = strcspn(list, ","), i = 0;

		while (i < ARRAY_LEN(types) &&
		       (strlen(types[i].name) != n || memcmp(types[i].name, list, n)))
			i++;
		if (i == ARRAY_LEN(types) || (bits & 1u << i))
			return 0;
		bits |= 1u << i;
		if (!list[n])
			return bits;
		list += n + 1;
	}
}

unsigned dns_type_bit(uint16_t type)
{
	for (unsigned i = 0; i < ARRAY_LEN(types); i++)
		if (types[i].type == type)
			return 1u << i;
	return 0;
}

void dns_types_print(unsigned bits, struct buf *to)
{
	const char *sep = " dns=";

	for (unsigned i = 0; i < ARRAY_LEN(types); i++) {
		if (!(bits & 1u << i))
			continue;
		buf_add_text(to, sep);
		buf_add_text(to, types[i].name);
		sep = ",";
	}
}
