/* What poll says of a pipe's two ends: empty, filled, full, and after either end has gone. */
#include "guest.h"
#include <poll.h>

static void state(const char *what, int fd)
{
	struct pollfd f = { fd, POLLIN | POLLOUT, 0 };
	int n = poll(&f, 1, 0);
	printf("%s: %d%s%s%s%s%s\n", what, n, f.revents & POLLIN ? " IN" : "",
	       f.revents & POLLOUT ? " OUT" : "", f.revents & POLLHUP ? " HUP" : "",
	       f.revents & POLLERR ? " ERR" : "", f.revents & POLLNVAL ? " NVAL" : "");
}

static void both(const char *what, int *p)
{
	printf("%s\n", what);
	state("  reader", p[0]);
	state("  writer", p[1]);
}

int main(void)
{
	static char buf[65536];
	int p[2];
	pipe2(p, O_NONBLOCK);
	both("empty", p);
	write(p[1], "x", 1);
	both("one byte", p);
	read(p[0], buf, 1);
	both("read", p);
	write(p[1], buf, sizeof(buf));
	both("full", p);
	read(p[0], buf, 4096);
	both("a page read", p);
	int w = dup(p[1]);
	close(w);
	both("a duplicate closed", p);
	close(p[1]);
	state("no writer, data", p[0]);
	while (read(p[0], buf, sizeof(buf)) > 0)
		;
	state("no writer, empty", p[0]);
	pipe2(p, O_NONBLOCK);
	close(p[0]);
	state("no reader", p[1]);
	pipe2(p, O_NONBLOCK);
	write(p[1], buf, sizeof(buf));
	close(p[0]);
	state("no reader, full", p[1]);
	return 0;
}
