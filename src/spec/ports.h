/* Ports of a cell that the host listens for, as docker's --publish writes them:
 *
 *   [[ADDRESS:][HOST PORTS]:]CELL PORTS[/tcp|/udp]
 *
 * PORTS is a number, or a range FIRST-LAST; two ranges have the same length. No port of the host,
 * or 0, is any free one. Without an address the host listens at 127.0.0.1 only. An address of IPv6
 * stands in brackets. */
#ifndef VIV_SPEC_PORTS_H
#define VIV_SPEC_PORTS_H

#include "base/err.h"
#include "policy/address.h"

#define PORTS_MAX 128 /* of one cell, ranges counted out */

struct published {
	struct ip addr; /* of the host */
	uint16_t host; /* the first; 0: a free one for each */
	uint16_t cell;
	uint16_t count;
	bool udp;
};

/* where names the text in an error: "--publish", "'ports'". */
int must_check ports_parse(const char *where, const char *text, struct published *ret,
			   struct err *e);
/* Are a list's ports no more than PORTS_MAX? NULL-terminated; all of them are valid. */
int must_check ports_check(const char *where, char *const *list, struct err *e);

#endif
