/* Options at SOL_SOCKET: defaults, what is told after setting, errors. */
#include "net.h"

int main(void)
{
	int t = socket(AF_INET, SOCK_STREAM, 0), u = socket(AF_INET6, SOCK_DGRAM, 0), x = socket(AF_UNIX, SOCK_STREAM, 0);
	struct linger lg = { 1, 5 };
	struct timeval tv = { 1, 500000 };
	socklen_t len;

	SHOW(opt_get(t, SOL_SOCKET, SO_TYPE));
	SHOW(opt_get(u, SOL_SOCKET, SO_TYPE));
	SHOW(opt_get(t, SOL_SOCKET, SO_DOMAIN));
	SHOW(opt_get(u, SOL_SOCKET, SO_DOMAIN));
	SHOW(opt_get(t, SOL_SOCKET, SO_PROTOCOL));
	SHOW(opt_get(u, SOL_SOCKET, SO_PROTOCOL));
	SHOW(opt_get(x, SOL_SOCKET, SO_PROTOCOL));
	SHOW(opt_get(t, SOL_SOCKET, SO_ACCEPTCONN));
	SHOW(opt_get(t, SOL_SOCKET, SO_ERROR));
	SHOW(opt_get(t, SOL_SOCKET, SO_SNDBUF));
	SHOW(opt_get(t, SOL_SOCKET, SO_RCVBUF));
	SHOW(opt_get(u, SOL_SOCKET, SO_RCVBUF));
	SHOW(opt_get(t, SOL_SOCKET, SO_RCVLOWAT));
	static const int flags[] = { SO_REUSEADDR, SO_REUSEPORT, SO_KEEPALIVE, SO_BROADCAST, SO_OOBINLINE, SO_DONTROUTE,
				     SO_TIMESTAMP };
	for (unsigned i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		SHOW(opt_get(t, SOL_SOCKET, flags[i]));
		SHOW(opt_set(t, SOL_SOCKET, flags[i], 7));
		SHOW(opt_get(t, SOL_SOCKET, flags[i]));
	}
	SHOW(opt_set(t, SOL_SOCKET, SO_SNDBUF, 20000));
	SHOW(opt_get(t, SOL_SOCKET, SO_SNDBUF));
	SHOW(opt_set(u, SOL_SOCKET, SO_RCVBUF, 1));
	SHOW(opt_get(u, SOL_SOCKET, SO_RCVBUF));
	SHOW(setsockopt(t, SOL_SOCKET, SO_LINGER, &lg, sizeof(lg)));
	SHOW(setsockopt(t, SOL_SOCKET, SO_LINGER, &lg, 4));
	memset(&lg, 0, sizeof(lg));
	len = sizeof(lg);
	SHOW(getsockopt(t, SOL_SOCKET, SO_LINGER, &lg, &len));
	printf("linger %d %d len %d\n", lg.l_onoff, lg.l_linger, (int)len);
	SHOW(setsockopt(t, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)));
	memset(&tv, 0, sizeof(tv));
	len = sizeof(tv);
	SHOW(getsockopt(t, SOL_SOCKET, SO_RCVTIMEO, &tv, &len));
	printf("timeout %ld.%06ld\n", (long)tv.tv_sec, (long)tv.tv_usec);
	tv.tv_usec = 1000000;
	SHOW(setsockopt(t, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)));
	SHOW(setsockopt(t, SOL_SOCKET, SO_RCVTIMEO, &tv, 8));
	SHOW(setsockopt(t, SOL_SOCKET, SO_REUSEADDR, &tv, 2));
	SHOW(opt_set(t, SOL_SOCKET, 9999, 1));
	SHOW(opt_get(t, SOL_SOCKET, 9999));
	SHOW(opt_get(x, IPPROTO_TCP, TCP_NODELAY));
	SHOW(opt_set(x, IPPROTO_TCP, TCP_NODELAY, 1));
	SHOW(opt_set(t, SOL_SOCKET, SO_PASSCRED, 1));
	len = 2;
	short v = -1;
	SHOW(getsockopt(t, SOL_SOCKET, SO_TYPE, &v, &len));
	printf("short %d len %d\n", v, (int)len);
	return 0;
}
