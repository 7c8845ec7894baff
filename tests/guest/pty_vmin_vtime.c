/* Raw reads: VMIN and VTIME in their four combinations, poll, and O_NONBLOCK. */
#include "pty.h"
#include <time.h>

static double now(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static void raw(int vmin, int vtime)
{
	struct termios t;
	tcgetattr(s, &t);
	cfmakeraw(&t);
	t.c_cc[VMIN] = vmin;
	t.c_cc[VTIME] = vtime;
	tcsetattr(s, TCSANOW, &t);
}

/* A child writes each word after a pause. */
static pid_t later(const char *first, const char *second)
{
	pid_t p = xfork();
	if (p)
		return p;
	usleep(100000);
	put(m, first);
	usleep(100000);
	put(m, second);
	_exit(0);
}

int main(void)
{
	double t0;
	pid_t p;
	pair_open();
	raw(0, 0);
	show_one("0 0, nothing", s, 10);
	put(m, "ab");
	ready(s, 3000);
	show_one("0 0, something", s, 10);
	raw(3, 0);
	put(m, "ab");
	CHECK(!ready(s, 100));
	p = later("c", "d");
	show_one("3 0", s, 3);
	xwait(p);
	show_one("3 0, less asked", s, 1);
	p = later("ab", "cd");
	show_one("3 0, more asked", s, 10);
	xwait(p);
	raw(0, 2);
	t0 = now();
	show_one("0 2, nothing", s, 10);
	CHECK(now() - t0 > 0.15 && now() - t0 < 2);
	p = later("x", "");
	show_one("0 2, something", s, 10);
	xwait(p);
	raw(3, 3);
	p = later("a", "b");
	t0 = now();
	show_one("3 3, two in time", s, 10);
	CHECK(now() - t0 > 0.4 && now() - t0 < 3);
	xwait(p);
	put(m, "q");
	CHECK(ready(s, 3000));
	show_one("3 3, one was there", s, 10);
	SHOW(fcntl(s, F_SETFL, O_RDWR | O_NONBLOCK));
	show_one("nonblocking 3 3", s, 10);
	raw(3, 0);
	put(m, "ab");
	usleep(50000);
	show_one("nonblocking 3 0, two", s, 10);
	raw(0, 0);
	show_one("nonblocking 0 0", s, 10);
	raw(0, 5);
	show_one("nonblocking 0 5", s, 10);
	return 0;
}
