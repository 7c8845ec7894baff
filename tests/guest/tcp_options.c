/* Options of TCP and IP: defaults, setting, errors, TCP_INFO's state. */
#include "net.h"

int main(void)
{
	static const int opts[] = { TCP_NODELAY, TCP_CORK, TCP_KEEPIDLE, TCP_KEEPINTVL, TCP_KEEPCNT, TCP_SYNCNT,
				    TCP_DEFER_ACCEPT, TCP_USER_TIMEOUT, TCP_QUICKACK, TCP_FASTOPEN };
	int s[2], t = socket(AF_INET, SOCK_STREAM, 0), u = socket(AF_INET, SOCK_DGRAM, 0), l = bound4(SOCK_STREAM);
	char name[16] = "";
	socklen_t len = sizeof(name);
	struct tcp_info ti;

	for (unsigned i = 0; i < sizeof(opts) / sizeof(opts[0]); i++)
		printf("%d: %d\n", opts[i], opt_get(t, IPPROTO_TCP, opts[i]));
	SHOW(opt_set(t, IPPROTO_TCP, TCP_NODELAY, 5));
	SHOW(opt_get(t, IPPROTO_TCP, TCP_NODELAY));
	SHOW(opt_set(t, IPPROTO_TCP, TCP_KEEPIDLE, 30));
	SHOW(opt_get(t, IPPROTO_TCP, TCP_KEEPIDLE));
	SHOW(opt_set(t, IPPROTO_TCP, TCP_KEEPIDLE, 0));
	SHOW(opt_set(t, IPPROTO_TCP, TCP_KEEPCNT, 200));
	SHOW(opt_set(t, IPPROTO_TCP, TCP_USER_TIMEOUT, 1234));
	SHOW(opt_get(t, IPPROTO_TCP, TCP_USER_TIMEOUT));
	SHOW(opt_get(t, IPPROTO_TCP, TCP_MAXSEG));
	SHOW(opt_set(t, IPPROTO_TCP, 4711, 1));
	SHOW(opt_set(u, IPPROTO_TCP, TCP_NODELAY, 1));
	SHOW(opt_get(u, IPPROTO_TCP, TCP_NODELAY));
	SHOW(getsockopt(t, IPPROTO_TCP, TCP_CONGESTION, name, &len));
	SHOW((int)len);
	SHOW(setsockopt(t, IPPROTO_TCP, TCP_CONGESTION, "nosuch", 6));
	SHOW(opt_get(t, IPPROTO_IP, IP_TTL));
	SHOW(opt_set(t, IPPROTO_IP, IP_TTL, 0));
	SHOW(opt_set(t, IPPROTO_IP, IP_TTL, 7));
	SHOW(opt_get(t, IPPROTO_IP, IP_TTL));
	SHOW(opt_set(t, IPPROTO_IP, IP_TOS, 16));
	SHOW(opt_get(t, IPPROTO_IP, IP_TOS));
	SHOW(opt_set(t, IPPROTO_IPV6, IPV6_V6ONLY, 1));
	SHOW(opt_get(t, 4711, 1));
	tcp_pair(s);
	len = sizeof(ti);
	SHOW(getsockopt(s[0], IPPROTO_TCP, TCP_INFO, &ti, &len));
	SHOW(ti.tcpi_state);
	SHOW(getsockopt(l, IPPROTO_TCP, TCP_INFO, &ti, &len));
	SHOW(ti.tcpi_state);
	shutdown(s[0], SHUT_WR);
	usleep(10000);
	SHOW(getsockopt(s[0], IPPROTO_TCP, TCP_INFO, &ti, &len));
	SHOW(ti.tcpi_state);
	SHOW(getsockopt(s[1], IPPROTO_TCP, TCP_INFO, &ti, &len));
	SHOW(ti.tcpi_state);
	return 0;
}
