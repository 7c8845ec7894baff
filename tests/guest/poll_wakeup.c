/* A sleeping poll is woken by a write, by the last close, and by whoever empties a full pipe. */
#include "guest.h"
#include <poll.h>

static int a[2], b[2], go[2];

/* Sleeps a little after each go, so that the other side is most likely in poll by then. */
static void wait_go(void)
{
	char c;
	read(go[0], &c, 1);
	usleep(80000);
}

static void helper(void)
{
	char buf[70000];
	close(a[0]);
	wait_go();
	write(a[1], "x", 1);
	wait_go();
	read(b[0], buf, sizeof(buf));
	wait_go();
}

int main(void)
{
	static char buf[65536];
	char c;
	pipe(a);
	pipe(b);
	pipe(go);
	SHOW(write(b[1], buf, sizeof(buf)));
	pid_t pid = xfork();
	if (pid == 0) {
		helper();
		_exit(0);
	}
	close(a[1]);
	struct pollfd f[2] = { { a[0], POLLIN, 0 }, { b[1], POLLOUT, 0 } };
	write(go[1], "g", 1);
	SHOW(poll(f, 2, 5000));
	CHECK(f[0].revents == POLLIN && f[1].revents == 0);
	SHOW(read(a[0], &c, 1));
	write(go[1], "g", 1);
	SHOW(poll(f, 2, 5000));
	CHECK(f[0].revents == 0 && f[1].revents == POLLOUT);
	f[1].fd = -1;
	write(go[1], "g", 1);
	SHOW(poll(f, 2, 5000));
	CHECK(f[0].revents == POLLHUP);
	show_status("helper", xwait(pid));
	return 0;
}
