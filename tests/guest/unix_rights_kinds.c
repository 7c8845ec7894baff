/* Descriptors of every kind travel; they share their offset; MSG_PEEK copies them; unread ones are
 * closed. */
#include "net.h"
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

static int give(int s, int fd)
{
	union {
		char raw[CMSG_SPACE(sizeof(int))];
		struct cmsghdr h;
	} c = { .h = { .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS } };
	struct iovec iov = { "x", 1 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &c, .msg_controllen = sizeof(c) };
	memcpy(CMSG_DATA(&c.h), &fd, sizeof(fd));
	return (int)sendmsg(s, &m, 0);
}

static int take(int s, int flags)
{
	union {
		char raw[CMSG_SPACE(sizeof(int))];
		struct cmsghdr h;
	} c;
	char b;
	int fd = -1;
	struct iovec iov = { &b, 1 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &c, .msg_controllen = sizeof(c) };
	if (recvmsg(s, &m, flags) < 0)
		return -1;
	struct cmsghdr *h = CMSG_FIRSTHDR(&m);
	if (h && h->cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(h), sizeof(fd));
	return fd;
}

int main(void)
{
	int s[2], p[2];
	char buf[8] = "";

	SHOW(socketpair(AF_UNIX, SOCK_STREAM, 0, s));
	put_file("f", "0123456789");
	int kinds[] = { open("f", O_RDWR), open(".", O_RDONLY), open("/dev/null", O_RDWR), eventfd(3, 0),
			timerfd_create(CLOCK_MONOTONIC, 0), epoll_create1(0), bound4(SOCK_STREAM), bound4(SOCK_DGRAM),
			open("f", O_PATH), s[0] };
	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct stat a, b;
		SHOW(give(s[0], kinds[i]));
		int fd = take(s[1], 0);
		CHECK(fd >= 0 && !fstat(fd, &a) && !fstat(kinds[i], &b) && a.st_ino == b.st_ino);
		close(fd);
	}
	SHOW(give(s[0], kinds[0]));
	int one = take(s[1], MSG_PEEK), two = take(s[1], 0);
	CHECK(one >= 0 && two >= 0 && one != two);
	SHOW(read(one, buf, 3));
	SHOW(lseek(two, 0, SEEK_CUR));
	SHOW(lseek(kinds[0], 0, SEEK_CUR));
	SHOW(pipe(p));
	SHOW(give(s[0], p[1]));
	close(p[1]);
	close(s[1]);
	SHOW(read(p[0], buf, 1));
	SHOW(unlink("f"));
	return 0;
}
