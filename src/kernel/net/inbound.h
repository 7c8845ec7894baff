/* Connections from outside of the cell to a port of it. The keeper takes them and hands over the
 * descriptor (wire/bootspec.h: CTL_INBOUND); nothing that the cell does makes one. */
#ifndef VIV_KERNEL_NET_INBOUND_H
#define VIV_KERNEL_NET_INBOUND_H

#include "kernel/net/sock.h"
#include "wire/bootspec.h"

/* A connection to the cell's port m->a, from m->peer; or, with CTL_IN_UDP, all datagrams to it.
 * Takes fd; -1: it was lost on the way. 0, -ECONNREFUSED: nobody listens there; -ENOBUFS. */
int must_check inbound_take(const struct ctl_msg *m, int fd);

/* The address of a peer for a socket of this family: one that stands for the host if it is there,
 * or is of the other family. */
struct ipaddr inbound_peer(const struct ctl_peer *peer, bool v4);
bool inbound_is_host(const struct ipaddr *a);
/* Connections that came this way and that somebody in the cell still has open. */
uint64_t inbound_count(void);

/* ---- datagrams (inbound_udp.c) ---- */

/* Those to this port come from fd, which is taken unless it fails: -ENOBUFS. */
int must_check inbound_udp_open(uint16_t port, int fd);
/* Has this peer sent something to this port of the cell lately, so that the port can answer? */
bool inbound_udp_has(uint16_t port, const struct ipaddr *to, uint16_t to_port);
/* The answer. */
void inbound_udp_send(uint16_t port, const struct ipaddr *to, uint16_t to_port, const void *data,
		      uint32_t n);

#endif
