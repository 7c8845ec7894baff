/*
 * poll: timeouts, descriptors that are negative or closed, files that are always ready, its errors.
 */
#include "guest.h"
#include <poll.h>
#include <sys/resource.h>
#include <time.h>

static double now(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

/* Unmapped; volatile, so that the compiler does not warn of it. */
static void *volatile bad = (void *)8;

int main(void)
{
	int p[2];
	put_file("f", "x");
	SHOW(pipe(p));
	struct pollfd f[4] = { { p[0], POLLIN, -1 },
			       { -1, POLLIN, -1 },
			       { 9999, POLLIN, -1 },
			       { open("f", O_RDWR), POLLIN | POLLOUT, -1 } };
	SHOW(poll(f, 2, 0));
	printf("%d %d\n", f[0].revents, f[1].revents);
	SHOW(poll(f, 4, -1));
	printf("%d %d %d %d\n", f[0].revents, f[1].revents, f[2].revents == POLLNVAL,
	       f[3].revents == (POLLIN | POLLOUT));
	double start = now();
	SHOW(poll(f, 2, 100));
	double took = now() - start;
	CHECK(took >= 0.099 && took < 20);
	start = now();
	SHOW(poll(NULL, 0, 50));
	took = now() - start;
	CHECK(took >= 0.049 && took < 20);
	SHOW(write(p[1], "x", 1));
	start = now();
	SHOW(poll(f, 1, 3000));
	CHECK(now() - start < 1);
	SHOW(f[0].revents);
	/* Errors and hang-ups are reported though nobody asked. */
	close(p[1]);
	f[0].events = 0;
	SHOW(poll(f, 1, 0));
	CHECK(f[0].revents == POLLHUP);
	SHOW(poll(bad, 1, 0));
	f[3].fd = open(".", O_RDONLY);
	SHOW(poll(f + 3, 1, 0));
	CHECK(f[3].revents == (POLLIN | POLLOUT));
	/* Twice the same descriptor is two answers. */
	struct pollfd twice[2] = { { f[3].fd, POLLIN, 0 }, { f[3].fd, POLLOUT, 0 } };
	SHOW(poll(twice, 2, 0));
	struct rlimit rl;
	getrlimit(RLIMIT_NOFILE, &rl);
	rl.rlim_cur = 20;
	setrlimit(RLIMIT_NOFILE, &rl);
	static struct pollfd many[21];
	for (int i = 0; i < 21; i++)
		many[i].fd = -1;
	SHOW(poll(many, 20, 0));
	SHOW(poll(many, 21, 0));
	unlink("f");
	return 0;
}
