/*
 * select: which of three sets come back, nfds, timeouts left over, descriptors that are not open.
 */
#include "guest.h"
#include <sys/select.h>

static int p[2], q[2];

static void show(const char *what, int n, fd_set *r, fd_set *w)
{
	printf("%s: %d%s%s%s%s\n", what, n, FD_ISSET(p[0], r) ? " p-read" : "",
	       FD_ISSET(q[0], r) ? " q-read" : "", FD_ISSET(p[1], w) ? " p-write" : "",
	       FD_ISSET(q[1], w) ? " q-write" : "");
}

static int sel(const char *what, fd_set *r, fd_set *w, long usec)
{
	struct timeval tv = { usec / 1000000, usec % 1000000 };
	FD_ZERO(r);
	FD_ZERO(w);
	FD_SET(p[0], r);
	FD_SET(q[0], r);
	FD_SET(p[1], w);
	FD_SET(q[1], w);
	int n = select(FD_SETSIZE, r, w, NULL, &tv);
	show(what, n, r, w);
	return n;
}

int main(void)
{
	static char buf[65536];
	fd_set r, w;
	pipe(p);
	pipe(q);
	sel("empty", &r, &w, 0);
	write(p[1], "x", 1);
	sel("data in p", &r, &w, 0);
	write(q[1], buf, sizeof(buf));
	sel("q full", &r, &w, 0);
	read(p[0], buf, 1);
	sel("p read", &r, &w, 0);
	/* Only descriptors below nfds are looked at; the others are left as they are. */
	FD_ZERO(&r);
	FD_SET(q[0], &r);
	struct timeval tv = { 0, 0 };
	SHOW(select(q[0], &r, NULL, NULL, &tv));
	FD_ZERO(&r);
	FD_SET(p[0], &r);
	tv = (struct timeval){ 0, 50000 };
	SHOW(select(p[0] + 1, &r, NULL, NULL, &tv));
	printf("left %ld.%06ld\n", (long)tv.tv_sec, (long)tv.tv_usec);
	CHECK(!FD_ISSET(p[0], &r));
	write(p[1], "x", 1);
	FD_SET(p[0], &r);
	tv = (struct timeval){ 10, 0 };
	SHOW(select(p[0] + 1, &r, NULL, NULL, &tv));
	CHECK(tv.tv_sec == 9 || tv.tv_sec == 10);
	close(q[1]);
	FD_ZERO(&r);
	FD_SET(q[0], &r);
	SHOW(select(q[0] + 1, &r, NULL, NULL, &tv));
	tv = (struct timeval){ 0, 1000 };
	SHOW(select(0, NULL, NULL, NULL, &tv));
	return 0;
}
