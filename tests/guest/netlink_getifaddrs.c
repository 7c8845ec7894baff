/* getifaddrs: the loopback interface and its addresses. */
#include "net.h"
#include <ifaddrs.h>
#include <net/if.h>
#include <netpacket/packet.h>

int main(void)
{
	struct ifaddrs *all, *i;
	char text[64];

	SHOW(getifaddrs(&all));
	for (i = all; i; i = i->ifa_next) {
		if (strcmp(i->ifa_name, "lo") || !i->ifa_addr)
			continue;
		printf("flags %x ", i->ifa_flags);
		if (i->ifa_addr->sa_family == AF_INET) {
			printf("%s ", inet_ntop(AF_INET, &((struct sockaddr_in *)i->ifa_addr)->sin_addr, text, 64));
			printf("%s\n", inet_ntop(AF_INET, &((struct sockaddr_in *)i->ifa_netmask)->sin_addr, text, 64));
		} else if (i->ifa_addr->sa_family == AF_INET6) {
			printf("%s\n", inet_ntop(AF_INET6, &((struct sockaddr_in6 *)i->ifa_addr)->sin6_addr, text, 64));
		} else {
			struct sockaddr_ll *l = (struct sockaddr_ll *)i->ifa_addr;
			printf("packet index %d type %d\n", l->sll_ifindex, l->sll_hatype);
		}
	}
	freeifaddrs(all);
	struct if_nameindex *n = if_nameindex();
	printf("%u %s\n", n[0].if_index, n[0].if_name);
	return 0;
}
