/* The loopback interface by ioctl. */
#include "net.h"
#include <net/if.h>

static int fd;

static struct ifreq *ask(const char *name, unsigned long cmd, const char *what)
{
	static struct ifreq r;
	memset(&r, 0, sizeof(r));
	strcpy(r.ifr_name, name);
	int e = ioctl(fd, cmd, &r);
	printf("%s %s: %s\n", name, what, e ? ename(errno) : "0");
	return &r;
}

int main(void)
{
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	printf("flags %x\n", (unsigned short)ask("lo", SIOCGIFFLAGS, "flags")->ifr_flags);
	printf("mtu %d\n", ask("lo", SIOCGIFMTU, "mtu")->ifr_mtu);
	printf("index %d\n", ask("lo", SIOCGIFINDEX, "index")->ifr_ifindex);
	printf("addr %s\n", inet_ntoa(((struct sockaddr_in *)&ask("lo", SIOCGIFADDR, "addr")->ifr_addr)->sin_addr));
	printf("mask %s\n", inet_ntoa(((struct sockaddr_in *)&ask("lo", SIOCGIFNETMASK, "mask")->ifr_addr)->sin_addr));
	printf("hw %d\n", ask("lo", SIOCGIFHWADDR, "hw")->ifr_hwaddr.sa_family);
	ask("nosuch0", SIOCGIFFLAGS, "flags");
	struct ifreq r = { .ifr_ifindex = 1 };
	SHOW(ioctl(fd, SIOCGIFNAME, &r));
	printf("name %s\n", r.ifr_name);
	r.ifr_ifindex = 4711;
	SHOW(ioctl(fd, SIOCGIFNAME, &r));
	struct ifreq many[16];
	struct ifconf c = { .ifc_len = sizeof(many), .ifc_req = many };
	SHOW(ioctl(fd, SIOCGIFCONF, &c));
	SHOW(c.ifc_len >= (int)sizeof(r) && !strcmp(many[0].ifr_name, "lo"));
	SHOW(if_nametoindex("lo"));
	SHOW(ioctl(fd, 0x4711, &c));
	return 0;
}
