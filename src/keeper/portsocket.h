/* Sockets of the host that lead into a cell: opened by the cell's keeper, and by vivd for a cell
 * that sleeps. */
#ifndef VIV_KEEPER_PORTSOCKET_H
#define VIV_KEEPER_PORTSOCKET_H

#include <netinet/in.h>

#include "base/err.h"
#include "policy/address.h"

union address {
	struct sockaddr sa;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

socklen_t address_make(union address *a, const struct ip *ip, uint16_t port);
/* The port, and the address in ret. */
uint16_t address_read(const union address *a, struct ip *ret);

/* Listens at an address and *port (0: any that is free, which is set): a descriptor that does not
 * block, or -1. */
int port_socket_open(const struct ip *addr, uint16_t *port, bool udp, struct err *e);
/* A descriptor that somebody else opened is such a socket; *port as above. */
bool port_socket_fits(int fd, const struct ip *addr, uint16_t *port, bool udp);

#endif
