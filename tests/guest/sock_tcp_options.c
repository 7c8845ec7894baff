/* TCP options that programs set and read back: CORK, LINGER2, DEFER_ACCEPT, WINDOW_CLAMP and
 * others. */
#include "guest.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

static int s;

static void get(const char *name, int opt)
{
	int v = -7;
	socklen_t len = sizeof(v);
	int r = getsockopt(s, IPPROTO_TCP, opt, &v, &len);

	if (r)
		printf("%s: %s\n", name, ename(errno));
	else
		printf("%s: %d (%u bytes)\n", name, v, len);
}

static void set(const char *name, int opt, int v)
{
	printf("%s to %d: %s; ", name, v,
	       setsockopt(s, IPPROTO_TCP, opt, &v, sizeof(v)) ? ename(errno) : "ok");
	get(name, opt);
}

int main(void)
{
	s = socket(AF_INET, SOCK_STREAM, 0);
	get("cork", TCP_CORK);
	set("cork", TCP_CORK, 1);
	set("cork", TCP_CORK, 0);
	set("cork", TCP_CORK, 5);
	set("nodelay", TCP_NODELAY, 7);
	get("linger2", TCP_LINGER2);
	set("linger2", TCP_LINGER2, 5);
	set("linger2", TCP_LINGER2, -1);
	set("linger2", TCP_LINGER2, 0);
	set("linger2", TCP_LINGER2, 1000);
	get("defer", TCP_DEFER_ACCEPT);
	set("defer", TCP_DEFER_ACCEPT, 1);
	set("defer", TCP_DEFER_ACCEPT, 3);
	set("defer", TCP_DEFER_ACCEPT, 10);
	set("defer", TCP_DEFER_ACCEPT, 0);
	set("defer", TCP_DEFER_ACCEPT, -1);
	get("clamp", TCP_WINDOW_CLAMP);
	set("clamp", TCP_WINDOW_CLAMP, 10000);
	set("clamp", TCP_WINDOW_CLAMP, 100);
	set("clamp", TCP_WINDOW_CLAMP, 0);
	get("keepidle", TCP_KEEPIDLE);
	set("keepidle", TCP_KEEPIDLE, 10);
	set("keepidle", TCP_KEEPIDLE, 0);
	set("keepidle", TCP_KEEPIDLE, 40000);
	get("keepintvl", TCP_KEEPINTVL);
	set("keepintvl", TCP_KEEPINTVL, 7);
	get("keepcnt", TCP_KEEPCNT);
	set("keepcnt", TCP_KEEPCNT, 200);
	set("keepcnt", TCP_KEEPCNT, 4);
	get("syncnt", TCP_SYNCNT);
	set("syncnt", TCP_SYNCNT, 3);
	set("syncnt", TCP_SYNCNT, 300);
	get("user timeout", TCP_USER_TIMEOUT);
	set("user timeout", TCP_USER_TIMEOUT, 5000);
	set("user timeout", TCP_USER_TIMEOUT, -1);
	get("quickack", TCP_QUICKACK);
	set("maxseg", TCP_MAXSEG, 1000);
	set("maxseg", TCP_MAXSEG, 10);
	get("fastopen", TCP_FASTOPEN);
	get("unknown", 999);
	set("unknown", 999, 1);
	close(s);
	return 0;
}
