/* Single system calls and small sequences in a loop, and the data that other rows work on:
 *   micro NAME COUNT [ROUNDS]     prints nanoseconds for each operation, one line each round
 *   micro files DIR DIRS PER BYTES
 * Each round is timed as a whole and divided by COUNT. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHECK(e)                                                                 \
	do {                                                                     \
		if (!(e)) {                                                      \
			fprintf(stderr, "micro: %s: %s\n", #e, strerror(errno)); \
			exit(1);                                                 \
		}                                                                \
	} while (0)

#define BLOCK (64 << 10)
#define SEQUENTIAL (256l << 20)

static long long now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static void do_getppid(long n)
{
	while (n--)
		syscall(SYS_getppid);
}

static void do_stat(long n)
{
	struct stat st;

	while (n--)
		CHECK(stat("f", &st) == 0);
}

static void do_open(long n)
{
	char buf[1024];

	while (n--) {
		int fd = open("f", O_RDONLY);

		CHECK(fd >= 0 && read(fd, buf, sizeof(buf)) == 1024 && close(fd) == 0);
	}
}

static void do_create(long n)
{
	char buf[1024] = { 0 };

	while (n--) {
		int fd = open("new", O_CREAT | O_EXCL | O_WRONLY, 0644);

		CHECK(fd >= 0 && write(fd, buf, sizeof(buf)) == 1024 && close(fd) == 0);
		CHECK(unlink("new") == 0);
	}
}

/* Two connected stream sockets of one loopback. */
static void tcp_pair(int fd[2])
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(a);
	int l = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	CHECK(l >= 0 && bind(l, (struct sockaddr *)&a, len) == 0 && listen(l, 1) == 0);
	CHECK(getsockname(l, (struct sockaddr *)&a, &len) == 0);
	fd[0] = socket(AF_INET, SOCK_STREAM, 0);
	CHECK(fd[0] >= 0 && connect(fd[0], (struct sockaddr *)&a, len) == 0);
	fd[1] = accept(l, NULL, NULL);
	CHECK(fd[1] >= 0);
	for (int i = 0; i < 2; i++)
		CHECK(setsockopt(fd[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) == 0);
	close(l);
}

/* One operation: a byte there and back. in and out: the ends of each side. */
static void round_trips(long n, int in[2], int out[2])
{
	char c = 0;
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (!pid) {
		close(in[0]);
		close(out[0]);
		while (read(in[1], &c, 1) == 1)
			CHECK(write(out[1], &c, 1) == 1);
		_exit(0);
	}
	close(in[1]);
	close(out[1]);
	while (n--)
		CHECK(write(out[0], &c, 1) == 1 && read(in[0], &c, 1) == 1);
	close(in[0]);
	close(out[0]);
	CHECK(waitpid(pid, NULL, 0) == pid);
}

static void do_pipe(long n)
{
	int to[2], from[2], in[2], out[2];

	CHECK(pipe(to) == 0 && pipe(from) == 0);
	in[0] = from[0], out[0] = to[1];
	in[1] = to[0], out[1] = from[1];
	round_trips(n, in, out);
}

static void sock_trips(long n, const int fd[2])
{
	int in[2] = { fd[0], fd[1] }, out[2] = { dup(fd[0]), dup(fd[1]) };

	round_trips(n, in, out);
}

static void do_unix(long n)
{
	int fd[2];

	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, fd) == 0);
	sock_trips(n, fd);
}

static void do_tcp(long n)
{
	int fd[2];

	tcp_pair(fd);
	sock_trips(n, fd);
}

static char block[BLOCK];

/* One operation: a block from one process to another. */
static void bulk(long n, int in, int out)
{
	long long left = (long long)n * BLOCK;
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (!pid) {
		close(out);
		while (left > 0) {
			ssize_t got = read(in, block, BLOCK);

			CHECK(got > 0);
			left -= got;
		}
		_exit(0);
	}
	close(in);
	while (n--)
		CHECK(write(out, block, BLOCK) == BLOCK);
	CHECK(waitpid(pid, NULL, 0) == pid);
	close(out);
}

static void do_pipe_bulk(long n)
{
	int fd[2];

	CHECK(pipe(fd) == 0);
	bulk(n, fd[0], fd[1]);
}

static void do_unix_bulk(long n)
{
	int fd[2];

	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, fd) == 0);
	bulk(n, fd[0], fd[1]);
}

static void do_tcp_bulk(long n)
{
	int fd[2];

	tcp_pair(fd);
	bulk(n, fd[0], fd[1]);
}

static void do_fork(long n)
{
	while (n--) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		CHECK(pid > 0 && waitpid(pid, NULL, 0) == pid);
	}
}

static void *thread(void *arg)
{
	return arg;
}

static void do_thread(long n)
{
	while (n--) {
		pthread_t t;

		CHECK(pthread_create(&t, NULL, thread, NULL) == 0 && pthread_join(t, NULL) == 0);
	}
}

static volatile sig_atomic_t caught;

static void handler(int sig)
{
	(void)sig;
	caught++;
}

static void do_signal(long n)
{
	long want = caught + n;

	signal(SIGUSR1, handler);
	while (n--)
		CHECK(kill(getpid(), SIGUSR1) == 0);
	CHECK(caught == want);
}

static void do_write(long n)
{
	while (n--) {
		int fd = open("big", O_CREAT | O_TRUNC | O_WRONLY, 0644);

		CHECK(fd >= 0);
		for (long i = 0; i < SEQUENTIAL / BLOCK; i++)
			CHECK(write(fd, block, BLOCK) == BLOCK);
		close(fd);
	}
	CHECK(unlink("big") == 0);
}

static void do_read(long n)
{
	while (n--) {
		int fd = open("big", O_RDONLY);

		CHECK(fd >= 0);
		for (long i = 0; i < SEQUENTIAL / BLOCK; i++)
			CHECK(read(fd, block, BLOCK) == BLOCK);
		close(fd);
	}
}

static void file_make(const char *name, long bytes)
{
	int fd = open(name, O_CREAT | O_TRUNC | O_WRONLY, 0644);

	CHECK(fd >= 0);
	memset(block, 'x', sizeof(block));
	for (long n; bytes > 0; bytes -= n) {
		n = bytes < BLOCK ? bytes : BLOCK;
		CHECK(write(fd, block, (size_t)n) == n);
	}
	close(fd);
}

static int files_make(const char *dir, int dirs, int per, int bytes)
{
	CHECK(mkdir(dir, 0755) == 0 && chdir(dir) == 0);
	for (int d = 0; d < dirs; d++) {
		char name[64];

		snprintf(name, sizeof(name), "dir%03d", d);
		CHECK(mkdir(name, 0755) == 0);
		for (int f = 0; f < per; f++) {
			snprintf(name, sizeof(name), "dir%03d/file%03d.txt", d, f);
			file_make(name, bytes);
		}
	}
	return 0;
}

static const struct {
	const char *name;
	void (*fn)(long n);
} all[] = {
	{ "getppid", do_getppid },     { "stat", do_stat },	      { "open", do_open },
	{ "create", do_create },       { "pipe", do_pipe },	      { "fork", do_fork },
	{ "thread", do_thread },       { "signal", do_signal },	      { "write", do_write },
	{ "read", do_read },	       { "unix", do_unix },	      { "tcp", do_tcp },
	{ "pipe-bulk", do_pipe_bulk }, { "unix-bulk", do_unix_bulk }, { "tcp-bulk", do_tcp_bulk },
};

int main(int argc, char **argv)
{
	char dir[] = "/tmp/micro.XXXXXX";

	if (argc == 6 && !strcmp(argv[1], "files"))
		return files_make(argv[2], atoi(argv[3]), atoi(argv[4]), atoi(argv[5]));
	for (unsigned i = 0; argc >= 3 && i < sizeof(all) / sizeof(all[0]); i++) {
		long n = atol(argv[2]);
		int rounds = argc > 3 ? atoi(argv[3]) : 1;

		if (strcmp(argv[1], all[i].name))
			continue;
		CHECK(mkdtemp(dir) && chdir(dir) == 0);
		file_make("f", 1024);
		if (all[i].fn == do_read)
			file_make("big", SEQUENTIAL);
		if (all[i].fn != do_write)
			all[i].fn(n / 10 + 1); /* warm */
		while (rounds--) {
			long long start = now();

			all[i].fn(n);
			printf("%.1f\n", (double)(now() - start) / (double)n);
		}
		unlink("f");
		unlink("big");
		CHECK(chdir("/") == 0 && rmdir(dir) == 0);
		return 0;
	}
	fprintf(stderr, "usage: micro NAME COUNT [ROUNDS] | micro files DIR DIRS PER BYTES\n");
	return 2;
}
