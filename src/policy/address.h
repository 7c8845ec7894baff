/* Internet addresses as rules see them: IPv6, an IPv4 address in its mapped form. */
#ifndef VIV_POLICY_ADDRESS_H
#define VIV_POLICY_ADDRESS_H

#include "base/base.h"

struct ip {
	uint8_t b[16];
};

struct ip_range {
	struct ip addr; /* the bits behind the prefix are 0 */
	unsigned prefix; /* of 128 */
};

/* "192.0.2.1", "2001:db8::1"; the usual form alone: no octal or hexadecimal parts, none left
 * out. */
bool ip_parse(const char *text, struct ip *ret);
/* An address, or one with "/PREFIX". */
bool ip_range_parse(const char *text, struct ip_range *ret);
bool ip_is_v4(const struct ip *a);
/* A range of IPv6 has no IPv4 address in it, whatever its size. */
bool ip_is_in(const struct ip *a, const struct ip_range *r);
/* Is all of b in a? */
bool ip_range_has(const struct ip_range *a, const struct ip_range *b);

/* What an address is that no name may lead to unless a rule lists it: "loopback", "private", ...;
 * NULL: it is public. Forms that carry an IPv4 address (mapped, 6to4, NAT64, Teredo, ISATAP) are
 * what that address is.
 * ret_prefix (may be NULL): how long the prefix of a range must be at least to mean such addresses:
 * 0.0.0.0/0 is no list of private networks, and 169.254.0.0/16 does not mean a metadata server. */
const char *ip_special(const struct ip *a, unsigned *ret_prefix);
/* From now on this address is special: one of this host's own, which only a rule for it alone
 * lists. Behind it are all services of the host, also those that others are kept from. */
void ip_own_add(const struct ip *a);

struct ip_text {
	char str[64];
};
struct ip_text ip_text(const struct ip *a);
struct ip_text ip_range_text(const struct ip_range *r);

#endif
