/* Abstract names and names made by the kernel. */
#include "net.h"

int main(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX, .sun_path = "\0guest abstract" }, b;
	socklen_t len = sizeof(sa_family_t) + 8;
	int l = socket(AF_UNIX, SOCK_STREAM, 0), l2 = socket(AF_UNIX, SOCK_STREAM, 0), c = socket(AF_UNIX, SOCK_STREAM, 0);

	SHOW(bind(l, SA(&a), len));
	SHOW(bind(l2, SA(&a), len));
	SHOW(bind(l2, SA(&a), len + 1));
	SHOW(listen(l, 1));
	SHOW(connect(c, SA(&a), len + 2));
	SHOW(connect(c, SA(&a), len));
	socklen_t n = sizeof(b);
	SHOW(getpeername(c, SA(&b), &n));
	SHOW(n == len && !memcmp(&a, &b, len));
	int d = socket(AF_UNIX, SOCK_DGRAM, 0);
	SHOW(connect(d, SA(&a), len));
	close(l);
	SHOW(bind(socket(AF_UNIX, SOCK_STREAM, 0), SA(&a), len));
	int au = socket(AF_UNIX, SOCK_DGRAM, 0);
	SHOW(bind(au, SA(&a), sizeof(sa_family_t)));
	n = sizeof(b);
	SHOW(getsockname(au, SA(&b), &n));
	SHOW((int)n);
	SHOW(b.sun_path[0] == 0 && strspn(b.sun_path + 1, "0123456789abcdef") >= 5);
	SHOW(bind(socket(AF_UNIX, SOCK_DGRAM, 0), SA(&a), 1));
	SHOW(bind(socket(AF_UNIX, SOCK_DGRAM, 0), SA(&a), sizeof(a) + 1));
	a.sun_family = AF_INET;
	SHOW(bind(socket(AF_UNIX, SOCK_DGRAM, 0), SA(&a), len));
	return 0;
}
