/* What threads that wait cost those that do not:
 *   blocked call THREADS COUNT [ROUNDS]    getppid while THREADS threads wait in read()
 *   blocked pool THREADS COUNT [ROUNDS]    a request to each of THREADS threads in turn, each
 *                                          with a connection of its own, as a server with a
 *                                          thread for each connection has them
 * Prints nanoseconds for each operation, one line each round. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define CHECK(e)                                                                   \
	do {                                                                       \
		if (!(e)) {                                                        \
			fprintf(stderr, "blocked: %s: %s\n", #e, strerror(errno)); \
			exit(1);                                                   \
		}                                                                  \
	} while (0)
#define MAX_THREADS 4000
#define STACK (64 << 10)

static int fds[MAX_THREADS][2];

static long long now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static void *serve(void *arg)
{
	const int *fd = arg;
	char c;

	while (read(fd[1], &c, 1) == 1)
		CHECK(write(fd[1], &c, 1) == 1);
	return NULL;
}

static void threads_start(int n, int own)
{
	struct rlimit lim;
	pthread_attr_t attr;
	pthread_t t;

	CHECK(getrlimit(RLIMIT_NOFILE, &lim) == 0);
	lim.rlim_cur = lim.rlim_max;
	CHECK(setrlimit(RLIMIT_NOFILE, &lim) == 0);
	CHECK(pthread_attr_init(&attr) == 0 && pthread_attr_setstacksize(&attr, STACK) == 0);
	for (int i = 0; i < n; i++) {
		if (own || i == 0)
			CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, fds[i]) == 0);
		CHECK(pthread_create(&t, &attr, serve, fds[own ? i : 0]) == 0);
	}
	usleep(100000);
}

static void calls(int threads, long n)
{
	(void)threads;
	while (n--)
		syscall(SYS_getppid);
}

static void requests(int threads, long n)
{
	static int at;
	char c = 0;

	while (n--) {
		CHECK(write(fds[at][0], &c, 1) == 1 && read(fds[at][0], &c, 1) == 1);
		at = (at + 1) % threads;
	}
}

int main(int argc, char **argv)
{
	int pool = argc > 1 && !strcmp(argv[1], "pool"), threads = argc > 2 ? atoi(argv[2]) : -1;
	void (*fn)(int, long) = pool ? requests : calls;
	long n = argc > 3 ? atol(argv[3]) : 0;
	int rounds = argc > 4 ? atoi(argv[4]) : 1;

	if (argc < 4 || (!pool && strcmp(argv[1], "call")) || threads < pool ||
	    threads > MAX_THREADS || n < 1) {
		fprintf(stderr, "usage: blocked call|pool THREADS COUNT [ROUNDS]\n");
		return 2;
	}
	threads_start(threads, pool);
	fn(threads, n / 10 + 1); /* warm */
	while (rounds--) {
		long long start = now();

		fn(threads, n);
		printf("%.1f\n", (double)(now() - start) / (double)n);
		fflush(stdout);
	}
	_exit(0); /* the threads wait for ever */
}
