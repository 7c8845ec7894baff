/* A stream socket at a path: its node, connect, names, unlink, what is left after close. */
#include "net.h"

int main(void)
{
	struct sockaddr_un a = un_path("sock"), b;
	struct stat st;
	socklen_t len;
	char buf[16] = "";
	int l = socket(AF_UNIX, SOCK_STREAM, 0), c = socket(AF_UNIX, SOCK_STREAM, 0);

	SHOW(connect(c, SA(&a), sizeof(a)));
	SHOW(listen(l, 5));
	SHOW(bind(l, SA(&a), sizeof(a)));
	SHOW(stat("sock", &st));
	printf("mode %o size %ld\n", st.st_mode, (long)st.st_size);
	SHOW(bind(l, SA(&a), sizeof(a)));
	SHOW(bind(c, SA(&a), sizeof(a)));
	SHOW(connect(c, SA(&a), sizeof(a)));
	SHOW(listen(l, 5));
	SHOW(connect(c, SA(&a), sizeof(a)));
	SHOW(connect(c, SA(&a), sizeof(a)));
	SHOW(open("sock", O_RDWR));
	SHOW(write(c, "early", 5));
	int s = accept(l, NULL, NULL);
	SHOW(read(s, buf, sizeof(buf)));
	len = sizeof(b);
	memset(&b, 0, sizeof(b));
	SHOW(getsockname(s, SA(&b), &len));
	printf("%d %s\n", (int)len, b.sun_path);
	len = sizeof(b);
	SHOW(getpeername(c, SA(&b), &len));
	printf("%d %s\n", (int)len, b.sun_path);
	len = sizeof(b);
	SHOW(getpeername(s, SA(&b), &len));
	printf("%d\n", (int)len);
	len = 4;
	SHOW(getsockname(l, SA(&b), &len));
	printf("%d\n", (int)len);
	SHOW(rename("sock", "other"));
	a = un_path("other");
	int c2 = socket(AF_UNIX, SOCK_STREAM, 0);
	SHOW(connect(c2, SA(&a), sizeof(a)));
	close(l);
	SHOW(read(c2, buf, 1));
	SHOW(stat("other", &st));
	int c3 = socket(AF_UNIX, SOCK_STREAM, 0);
	SHOW(connect(c3, SA(&a), sizeof(a)));
	SHOW(unlink("other"));
	SHOW(connect(c3, SA(&a), sizeof(a)));
	put_file("file", "x");
	a = un_path("file");
	SHOW(connect(c3, SA(&a), sizeof(a)));
	SHOW(bind(c3, SA(&a), sizeof(a)));
	unlink("file");
	a = un_path("no/such/dir");
	SHOW(bind(c3, SA(&a), sizeof(a)));
	return 0;
}
