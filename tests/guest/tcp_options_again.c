/* Options that are read from a connected socket can be set to the same values again, as clients of
 * message queues do. */
#include "net.h"

int main(void)
{
	static const struct {
		int opt;
		const char *name;
	} opts[] = {
		{ TCP_CORK, "cork" },		{ TCP_DEFER_ACCEPT, "defer" },
		{ TCP_KEEPCNT, "keepcnt" },	{ TCP_KEEPIDLE, "keepidle" },
		{ TCP_KEEPINTVL, "keepintvl" }, { TCP_LINGER2, "linger2" },
		{ TCP_MAXSEG, "maxseg" },	{ TCP_NODELAY, "nodelay" },
		{ TCP_QUICKACK, "quickack" },	{ TCP_SYNCNT, "syncnt" },
		{ TCP_USER_TIMEOUT, "user" },	{ TCP_WINDOW_CLAMP, "clamp" },
	};
	struct sockaddr_in a;
	socklen_t len = sizeof(a);
	int l = bound4(SOCK_STREAM), c = socket(AF_INET, SOCK_STREAM, 0);

	SHOW(listen(l, 1));
	CHECK(getsockname(l, (struct sockaddr *)&a, &len) == 0);
	SHOW(connect(c, (struct sockaddr *)&a, sizeof(a)));
	for (unsigned i = 0; i < sizeof(opts) / sizeof(opts[0]); i++) {
		int v = -1, r;

		len = sizeof(v);
		r = getsockopt(c, IPPROTO_TCP, opts[i].opt, &v, &len);
		printf("%s: %d", opts[i].name, r);
		printf(" %d\n", setsockopt(c, IPPROTO_TCP, opts[i].opt, &v, sizeof(v)));
	}
	return 0;
}
