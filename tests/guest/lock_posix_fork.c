/*
 * POSIX locks belong to the process: no child inherits them, and closing any descriptor of the file
 * frees them all.
 */
#include "guest.h"

static pid_t parent;

static int set(int fd, int cmd, short type, off_t start, off_t len)
{
	struct flock fl = { .l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = len };
	return fcntl(fd, cmd, &fl);
}

static void test(int fd, short type, off_t start, off_t len)
{
	struct flock fl = { .l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = len };
	if (fcntl(fd, F_GETLK, &fl))
		printf("F_GETLK: %s\n", ename(errno));
	else if (fl.l_type == F_UNLCK)
		printf("%lld+%lld free\n", (long long)start, (long long)len);
	else
		printf("%lld+%lld blocked by %s %lld+%lld of %s\n", (long long)start,
		       (long long)len, fl.l_type == F_WRLCK ? "write" : "read",
		       (long long)fl.l_start, (long long)fl.l_len,
		       fl.l_pid == parent ? "the parent" : "somebody");
}

static void child(void)
{
	int fd = open("f", O_RDWR);
	SHOW(set(fd, F_SETLK, F_WRLCK, 10, 5));
	SHOW(set(fd, F_SETLK, F_RDLCK, 10, 5));
	SHOW(set(fd, F_SETLK, F_RDLCK, 30, 5));
	SHOW(set(fd, F_SETLK, F_WRLCK, 30, 5));
	SHOW(set(fd, F_SETLK, F_WRLCK, 20, 10));
	test(fd, F_WRLCK, 0, 100);
	test(fd, F_RDLCK, 12, 1);
	test(fd, F_RDLCK, 30, 1);
	test(fd, F_WRLCK, 30, 1);
	test(fd, F_WRLCK, 50, 0);
}

static void after_close(void)
{
	int fd = open("f", O_RDWR);
	test(fd, F_WRLCK, 0, 0);
	SHOW(set(fd, F_SETLK, F_WRLCK, 0, 0));
}

int main(void)
{
	parent = getpid();
	put_file("f", "0123456789");
	int fd = open("f", O_RDWR);
	SHOW(set(fd, F_SETLK, F_WRLCK, 10, 10));
	SHOW(set(fd, F_SETLK, F_RDLCK, 30, 10));
	test(fd, F_WRLCK, 0, 100);
	show_status("child", in_child(child));
	SHOW(set(fd, F_SETLK, F_WRLCK, 10, 10));
	SHOW(close(open("f", O_RDONLY)));
	show_status("child", in_child(after_close));
	unlink("f");
	return 0;
}
