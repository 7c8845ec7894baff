/*
 * OFD locks belong to the open file: two opens in one process conflict, dup shares, POSIX locks
 * conflict with them.
 */
#include "guest.h"

static int set(int fd, int cmd, short type, off_t start, off_t len)
{
	struct flock fl = { .l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = len };
	return fcntl(fd, cmd, &fl);
}

static int a;

static void child(void)
{
	int fd = open("f", O_RDWR);
	SHOW(set(fd, F_OFD_SETLK, F_WRLCK, 0, 10));
	SHOW(set(fd, F_SETLK, F_WRLCK, 0, 10));
	/* Inherited, and still the same lock. */
	SHOW(set(a, F_OFD_SETLK, F_WRLCK, 0, 10));
}

int main(void)
{
	put_file("f", "0123456789");
	a = open("f", O_RDWR);
	int b = open("f", O_RDWR);
	SHOW(set(a, F_OFD_SETLK, F_WRLCK, 0, 10));
	SHOW(set(b, F_OFD_SETLK, F_WRLCK, 5, 10));
	SHOW(set(b, F_OFD_SETLK, F_RDLCK, 5, 10));
	SHOW(set(b, F_OFD_SETLK, F_WRLCK, 10, 10));
	struct flock fl = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 5 };
	SHOW(fcntl(b, F_OFD_GETLK, &fl));
	printf("type %d start %d len %d pid %d\n", fl.l_type == F_WRLCK, (int)fl.l_start,
	       (int)fl.l_len, (int)fl.l_pid);
	fl.l_pid = 1;
	fl.l_type = F_WRLCK;
	SHOW(fcntl(b, F_OFD_SETLK, &fl));
	SHOW(set(b, F_SETLK, F_WRLCK, 0, 5));
	/* Closing another descriptor does not free it. */
	SHOW(close(open("f", O_RDWR)));
	show_status("child", in_child(child));
	int d = dup(a);
	SHOW(close(a));
	SHOW(set(b, F_OFD_SETLK, F_WRLCK, 0, 5));
	SHOW(close(d));
	SHOW(set(b, F_OFD_SETLK, F_WRLCK, 0, 5));
	unlink("f");
	return 0;
}
