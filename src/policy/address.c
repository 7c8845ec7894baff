/* See address.h. The table follows the IANA registries of special-purpose addresses. */
#include "policy/address.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint8_t mapped[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };

bool ip_is_v4(const struct ip *a)
{
	return !memcmp(a->b, mapped, sizeof(mapped));
}

static struct ip from_v4(const uint8_t *four)
{
	struct ip a;

	memcpy(a.b, mapped, sizeof(mapped));
	memcpy(a.b + 12, four, 4);
	return a;
}

bool ip_parse(const char *text, struct ip *ret)
{
	uint8_t four[4];

	if (inet_pton(AF_INET, text, four) == 1) {
		*ret = from_v4(four);
		return true;
	}
	return inet_pton(AF_INET6, text, ret->b) == 1;
}

bool ip_range_parse(const char *text, struct ip_range *ret)
{
	const char *slash = strchr(text, '/');
	char addr[64];
	char *end;
	unsigned long prefix;

	if (!slash) {
		ret->prefix = 128;
		return ip_parse(text, &ret->addr);
	}
	if ((size_t)(slash - text) >= sizeof(addr) || slash[1] < '0' || slash[1] > '9')
		return false;
	memcpy(addr, text, (size_t)(slash - text));
	addr[slash - text] = '\0';
	prefix = strtoul(slash + 1, &end, 10);
	if (*end || end - slash > 4 || !ip_parse(addr, &ret->addr))
		return false;
	if (strchr(addr, ':') == NULL)
		prefix += 96;
	if (prefix > 128)
		return false;
	ret->prefix = (unsigned)prefix;
	/* What is behind the prefix would be ignored: it is a mistake more often than not. */
	for (unsigned i = ret->prefix; i < 128; i++)
		if (ret->addr.b[i / 8] & (0x80 >> (i % 8)))
			return false;
	return true;
}

static bool range_is_v4(const struct ip_range *r)
{
	return r->prefix >= 96 && ip_is_v4(&r->addr);
}

static bool bits_are(const uint8_t *a, const uint8_t *want, unsigned prefix)
{
	unsigned whole = prefix / 8, rest = prefix % 8;

	return !memcmp(a, want, whole) &&
	       (!rest || !((a[whole] ^ want[whole]) & (uint8_t)(0xff00 >> rest)));
}

bool ip_is_in(const struct ip *a, const struct ip_range *r)
{
	return ip_is_v4(a) == range_is_v4(r) && bits_are(a->b, r->addr.b, r->prefix);
}

bool ip_range_has(const struct ip_range *a, const struct ip_range *b)
{
	return a->prefix <= b->prefix && ip_is_in(&b->addr, a) && range_is_v4(a) == range_is_v4(b);
}

/* ---- addresses that are not public ---- */

static const struct {
	uint8_t addr[4];
	uint8_t prefix;
	const char *what;
} special4[] = {
	{ { 0, 0, 0, 0 }, 8, "this network" },
	{ { 10, 0, 0, 0 }, 8, "private" },
	{ { 100, 64, 0, 0 }, 10, "shared by carriers" },
	{ { 127, 0, 0, 0 }, 8, "loopback" },
	{ { 169, 254, 169, 254 }, 32, "metadata" },
	{ { 169, 254, 0, 0 }, 16, "link-local" },
	{ { 172, 16, 0, 0 }, 12, "private" },
	{ { 192, 0, 0, 0 }, 24, "for protocols" },
	{ { 192, 0, 2, 0 }, 24, "for documentation" },
	{ { 192, 88, 99, 0 }, 24, "a 6to4 relay" },
	{ { 192, 168, 0, 0 }, 16, "private" },
	{ { 198, 18, 0, 0 }, 15, "for benchmarks" },
	{ { 198, 51, 100, 0 }, 24, "for documentation" },
	{ { 203, 0, 113, 0 }, 24, "for documentation" },
	{ { 224, 0, 0, 0 }, 4, "multicast" },
	{ { 240, 0, 0, 0 }, 4, "reserved" },
};

/* before: how many bits of the address are before these four bytes. */
static const char *special_v4(const uint8_t *four, unsigned before, unsigned *ret_prefix)
{
	for (unsigned i = 0; i < ARRAY_LEN(special4); i++) {
		if (!bits_are(four, special4[i].addr, special4[i].prefix))
			continue;
		*ret_prefix = before + special4[i].prefix;
		return special4[i].what;
	}
	return NULL;
}

static const struct {
	const char *range, *what;
	int8_t v4; /* where an IPv4 address is, which decides; -1: the whole range is special */
	bool inverted;
} special6[] = {
	{ "::/128", "this host", -1, false },
	{ "::1/128", "loopback", -1, false },
	{ "::/96", "IPv4-compatible", -1, false },
	{ "64:ff9b::/96", NULL, 12, false },
	{ "64:ff9b:1::/48", "translated locally", -1, false },
	{ "100::/64", "discarded", -1, false },
	{ "2001::/32", NULL, 12, true }, /* Teredo: the client's address */
	{ "2001::/23", "for protocols", -1, false },
	{ "2001:db8::/32", "for documentation", -1, false },
	{ "2002::/16", NULL, 2, false },
	{ "3fff::/20", "for documentation", -1, false },
	{ "5f00::/16", "for segment routing", -1, false },
	{ "fd00:ec2::254/128", "metadata", -1, false },
	{ "fc00::/7", "private", -1, false },
	{ "fe80::/10", "link-local", -1, false },
	{ "fec0::/10", "site-local", -1, false },
	{ "ff00::/8", "multicast", -1, false },
};

/* An interface that was given its number by ISATAP: ...:0:5efe:a.b.c.d, or 200:5efe. */
static bool is_isatap(const struct ip *a)
{
	return (a->b[8] & 0xfd) == 0 && a->b[9] == 0 && a->b[10] == 0x5e && a->b[11] == 0xfe;
}

#define OWN_MAX 1024

static struct ip own[OWN_MAX];
static unsigned nown;

static bool is_own(const struct ip *a)
{
	for (unsigned i = 0; i < nown; i++)
		if (!memcmp(&own[i], a, sizeof(*a)))
			return true;
	return false;
}

void ip_own_add(const struct ip *a)
{
	if (nown < OWN_MAX && !is_own(a))
		own[nown++] = *a;
}

const char *ip_special(const struct ip *a, unsigned *ret_prefix)
{
	unsigned ignored;

	ret_prefix = ret_prefix ? ret_prefix : &ignored;
	if (is_own(a)) {
		*ret_prefix = 128;
		return "an address of this host";
	}
	if (ip_is_v4(a))
		return special_v4(a->b + 12, 96, ret_prefix);
	for (unsigned i = 0; i < ARRAY_LEN(special6); i++) {
		int at = special6[i].v4;
		struct ip_range r;
		uint8_t four[4];

		if (!ip_range_parse(special6[i].range, &r) || !ip_is_in(a, &r))
			continue;
		*ret_prefix = r.prefix;
		if (at < 0)
			return special6[i].what;
		for (int k = 0; k < 4; k++)
			four[k] = a->b[at + k] ^ (special6[i].inverted ? 0xff : 0);
		return special_v4(four, (unsigned)at * 8, ret_prefix);
	}
	if (is_isatap(a))
		return special_v4(a->b + 12, 96, ret_prefix);
	/* All that is given out is in 2000::/3. */
	*ret_prefix = 4;
	return (a->b[0] & 0xe0) == 0x20 ? NULL : "reserved";
}

/* ---- texts ---- */

struct ip_text ip_text(const struct ip *a)
{
	struct ip_text t;

	if (ip_is_v4(a))
		(void)inet_ntop(AF_INET, a->b + 12, t.str, sizeof(t.str));
	else
		(void)inet_ntop(AF_INET6, a->b, t.str, sizeof(t.str));
	return t;
}

struct ip_text ip_range_text(const struct ip_range *r)
{
	struct ip_text t = ip_text(&r->addr);
	size_t n = strlen(t.str);

	if (r->prefix < 128)
		snprintf(t.str + n, sizeof(t.str) - n, "/%u",
			 r->prefix - (range_is_v4(r) ? 96 : 0));
	return t;
}
