/* How much a cell may use of the network: connections to and from the outside at once, and bytes,
 * which are counted for its whole life; and bytes in a second, each way. 0 in the spec: as much as
 * it can. */
#ifndef VIV_KERNEL_NET_BUDGET_H
#define VIV_KERNEL_NET_BUDGET_H

#include "base/base.h"

struct net_usage {
	uint64_t connections, in, out;
	uint64_t connections_refused, in_refused, out_refused;
};

/* A connection, or a destination of datagrams: 0; -EADDRNOTAVAIL: there are too many; -EDQUOT: no
 * bytes are left. */
int must_check budget_take(void);
void budget_give(void);
/* How many of n bytes may be moved; 0: none, which is counted as refused. */
uint64_t budget_in(uint64_t n);
uint64_t budget_out(uint64_t n);
/* How many of n bytes may be moved now, by the rate; 0: none before budget_wait() is over. */
uint64_t budget_rate_in(uint64_t n);
uint64_t budget_rate_out(uint64_t n);
/* May a datagram be moved now? */
bool budget_datagram_in(void);
bool budget_datagram_out(void);
/* Nanoseconds until bytes may be moved again in that direction. */
int64_t budget_wait(bool out);
/* They were moved. */
void budget_moved(uint64_t in, uint64_t out);
const struct net_usage *budget_usage(void);

#endif
