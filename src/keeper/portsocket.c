/* See portsocket.h. */
#include "keeper/portsocket.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BACKLOG 1024

socklen_t address_make(union address *a, const struct ip *ip, uint16_t port)
{
	memset(a, 0, sizeof(*a));
	if (ip_is_v4(ip)) {
		a->in.sin_family = AF_INET;
		a->in.sin_port = htons(port);
		memcpy(&a->in.sin_addr, ip->b + 12, 4);
		return sizeof(a->in);
	}
	a->in6.sin6_family = AF_INET6;
	a->in6.sin6_port = htons(port);
	memcpy(&a->in6.sin6_addr, ip->b, 16);
	return sizeof(a->in6);
}

uint16_t address_read(const union address *a, struct ip *ret)
{
	*ret = (struct ip){ { [10] = 0xff, [11] = 0xff } };
	if (a->sa.sa_family == AF_INET) {
		memcpy(ret->b + 12, &a->in.sin_addr, 4);
		return ntohs(a->in.sin_port);
	}
	memcpy(ret->b, &a->in6.sin6_addr, 16);
	return ntohs(a->in6.sin6_port);
}

static int listen_failed(const struct ip *addr, uint16_t port, int err, struct err *e)
{
	bool v4 = ip_is_v4(addr);
	char at[80];

	snprintf(at, sizeof(at), "%s%s%s:%u", v4 ? "" : "[", ip_text(addr).str, v4 ? "" : "]",
		 port);
	if (err == EADDRINUSE)
		return err_set(e, ERR_CONFLICT,
			       "port %s is in use" REMEDY
			       "choose another one, or 0 for any that is free",
			       at);
	if (err == EACCES)
		return err_set(e, ERR_FAILED,
			       "port %s is only for root" REMEDY "choose one from 1024 on", at);
	if (err == EADDRNOTAVAIL)
		return err_set(e, ERR_FAILED,
			       "cannot listen at port %s: this host does not have the address", at);
	return err_set(e, ERR_FAILED, "cannot listen at port %s: %s", at, strerror(err));
}

int port_socket_open(const struct ip *addr, uint16_t *port, bool udp, struct err *e)
{
	union address a;
	struct ip is;
	socklen_t len = address_make(&a, addr, *port);
	int on = 1, fd = socket(a.sa.sa_family,
				(udp ? SOCK_DGRAM : SOCK_STREAM) | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return listen_failed(addr, *port, errno, e);
	if (!udp)
		(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (a.sa.sa_family == AF_INET6)
		(void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
	if (bind(fd, &a.sa, len) < 0 || (!udp && listen(fd, BACKLOG) < 0) ||
	    getsockname(fd, &a.sa, &len) < 0) {
		listen_failed(addr, *port, errno, e);
		close(fd);
		return -1;
	}
	*port = address_read(&a, &is);
	return fd;
}

bool port_socket_fits(int fd, const struct ip *addr, uint16_t *port, bool udp)
{
	union address a = { 0 };
	socklen_t len = sizeof(a), size = sizeof(int);
	int type = 0, listens = 0;
	struct ip is;
	uint16_t at;

	if (getsockname(fd, &a.sa, &len) < 0 ||
	    (a.sa.sa_family != AF_INET && a.sa.sa_family != AF_INET6) ||
	    getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) < 0 ||
	    getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) < 0 ||
	    type != (udp ? SOCK_DGRAM : SOCK_STREAM) || !listens != udp)
		return false;
	at = address_read(&a, &is);
	if (memcmp(&is, addr, sizeof(is)) || (*port && *port != at))
		return false;
	*port = at;
	return true;
}
