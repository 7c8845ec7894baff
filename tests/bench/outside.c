/* Connections to another host, for network.py.
 *
 *   outside serve ADDRESS             7001 echoes, 7002 reads all and then answers, 7003 sends all the time
 *   outside MODE ADDRESS N            prints nanoseconds:
 *     connect   of a connection, made and closed; the first is not counted
 *     first     of the first connection
 *     trip      of a byte there and back
 *     out, in   of a block of 128 KiB, of N
 *     hold      nothing: makes N connections, says "ready" and keeps them until its input ends */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define BLOCK 131072

static char block[BLOCK];

static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static struct sockaddr_in at(const char *addr, int port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons((unsigned short)port) };

	if (inet_pton(AF_INET, addr, &a.sin_addr) != 1)
		die(addr);
	return a;
}

static void serve_one(int fd, int port)
{
	ssize_t n;
	int one = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (port == 7003)
		while (write(fd, block, BLOCK) > 0)
			;
	else
		while ((n = read(fd, block, BLOCK)) > 0)
			if (port == 7001 && write(fd, block, (size_t)n) != n)
				break;
	if (port == 7002)
		(void)!write(fd, "x", 1);
	_exit(0);
}

static void serve(const char *addr, int port)
{
	struct sockaddr_in a = at(addr, port);
	int one = 1, fd = socket(AF_INET, SOCK_STREAM, 0), c;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGCHLD, SIG_IGN);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0 || listen(fd, 4096) < 0)
		die("listen");
	while ((c = accept(fd, NULL, NULL)) >= 0) {
		if (fork() == 0) {
			close(fd);
			serve_one(c, port);
		}
		close(c);
	}
	die("accept");
}

static int connected(const char *addr, int port)
{
	struct sockaddr_in a = at(addr, port);
	int one = 1, fd = socket(AF_INET, SOCK_STREAM, 0);

	if (connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0)
		die("connect");
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return fd;
}

static int by_value(const void *a, const void *b)
{
	long long x = *(const long long *)a, y = *(const long long *)b;

	return x < y ? -1 : x > y;
}

static long long median(long long *v, long n)
{
	qsort(v, (size_t)n, sizeof(*v), by_value);
	return v[n / 2];
}

static long long connects(const char *addr, long n)
{
	long long *took = calloc((size_t)n, sizeof(*took));

	close(connected(addr, 7001));
	for (long i = 0; i < n; i++) {
		long long t = now();

		close(connected(addr, 7001));
		took[i] = now() - t;
	}
	return median(took, n);
}

static long long trips(const char *addr, long n)
{
	long long *took = calloc((size_t)n, sizeof(*took));
	int fd = connected(addr, 7001);
	char c = 'x';

	for (long i = 0; i < n; i++) {
		long long t = now();

		if (write(fd, &c, 1) != 1 || read(fd, &c, 1) != 1)
			die("trip");
		took[i] = now() - t;
	}
	return median(took, n);
}

static long long out(const char *addr, long n)
{
	int fd = connected(addr, 7002);
	long long t = now();
	char c;

	for (long i = 0; i < n; i++)
		for (ssize_t done = 0, some; done < BLOCK; done += some)
			if ((some = write(fd, block, (size_t)(BLOCK - done))) <= 0)
				die("write");
	if (shutdown(fd, SHUT_WR) < 0 || read(fd, &c, 1) != 1)
		die("the other side");
	return (now() - t) / n;
}

static long long in(const char *addr, long n)
{
	int fd = connected(addr, 7003);
	long long t = now(), left = n * BLOCK;

	while (left > 0) {
		ssize_t some = read(fd, block, BLOCK);

		if (some <= 0)
			die("read");
		left -= some;
	}
	return (now() - t) / n;
}

static void hold(const char *addr, long n)
{
	char c;

	for (long i = 0; i < n; i++)
		connected(addr, 7002);
	puts("ready");
	fflush(stdout);
	(void)!read(0, &c, 1);
	exit(0);
}

int main(int argc, char **argv)
{
	long n = argc > 3 ? atol(argv[3]) : 1;
	long long took = -1, t = now();

	if (argc < 3 || n < 1)
		return 2;
	if (!strcmp(argv[1], "serve")) {
		for (int port = 7001; port < 7003; port++)
			if (fork() == 0)
				serve(argv[2], port);
		serve(argv[2], 7003);
	} else if (!strcmp(argv[1], "hold")) {
		hold(argv[2], n);
	} else if (!strcmp(argv[1], "first")) {
		close(connected(argv[2], 7001));
		took = now() - t;
	} else if (!strcmp(argv[1], "connect")) {
		took = connects(argv[2], n);
	} else if (!strcmp(argv[1], "trip")) {
		took = trips(argv[2], n);
	} else if (!strcmp(argv[1], "out")) {
		took = out(argv[2], n);
	} else if (!strcmp(argv[1], "in")) {
		took = in(argv[2], n);
	}
	printf("%lld\n", took);
	return took < 0;
}
