/* Ports below 1024 are for those who may. */
#include "net.h"

static void user(void)
{
	struct sockaddr_in a = loop4(77);
	drop_to_user();
	SHOW(bind(socket(AF_INET, SOCK_STREAM, 0), SA(&a), sizeof(a)));
	SHOW(bind(socket(AF_INET, SOCK_DGRAM, 0), SA(&a), sizeof(a)));
	SHOW(socket(AF_INET, SOCK_RAW, IPPROTO_ICMP));
	SHOW(socket(AF_PACKET, SOCK_RAW, 0));
}

int main(void)
{
	show_status("user", in_child(user));
	return 0;
}
