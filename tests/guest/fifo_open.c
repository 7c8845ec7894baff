/*
 * Opening a fifo waits for the other side; both then talk, and the reader sees the end when the
 * writer goes.
 */
#include "guest.h"
#include <time.h>

static double now(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static void writer(void)
{
	usleep(150000);
	int fd = open("p", O_WRONLY);
	usleep(50000);
	write(fd, "hello", 5);
}

static void reader(void)
{
	char buf[16] = "";
	usleep(150000);
	int fd = open("p", O_RDONLY);
	ssize_t n = read(fd, buf, sizeof(buf) - 1);
	_exit(n == 4 && !strcmp(buf, "back") ? 44 : 1);
}

int main(void)
{
	char buf[16] = "";
	SHOW(mkfifo("p", 0600));
	double start = now();
	pid_t pid = xfork();
	if (pid == 0) {
		writer();
		_exit(0);
	}
	int fd = open("p", O_RDONLY);
	CHECK(fd >= 0 && now() - start > 0.1);
	SHOW(read(fd, buf, sizeof(buf)));
	printf("%s\n", buf);
	SHOW(read(fd, buf, sizeof(buf)));
	show_status("writer", xwait(pid));
	close(fd);

	start = now();
	if ((pid = xfork()) == 0)
		reader();
	fd = open("p", O_WRONLY);
	CHECK(fd >= 0 && now() - start > 0.1);
	SHOW(write(fd, "back", 4));
	show_status("reader", xwait(pid));
	signal(SIGPIPE, SIG_IGN);
	SHOW(write(fd, "x", 1));
	SHOW(unlink("p"));
	return 0;
}
