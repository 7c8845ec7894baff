/* TIOCEXCL: nobody else opens it, except who may do everything. */
#include "pty.h"

static void other(void)
{
	drop_to_user();
	int fd = open(ptsname(m), O_RDWR | O_NOCTTY);
	printf("open: %s\n", fd < 0 ? ename(errno) : "ok");
}

int main(void)
{
	int n = -1;
	pair_open();
	SHOW(chmod(ptsname(m), 0666));
	SHOW(ioctl(s, TIOCGEXCL, &n));
	SHOW(n);
	show_status("before", in_child(other));
	SHOW(ioctl(s, TIOCEXCL));
	SHOW(ioctl(s, TIOCGEXCL, &n));
	SHOW(n);
	show_status("exclusive", in_child(other));
	SHOW(ioctl(s, TIOCNXCL));
	show_status("after", in_child(other));
	return 0;
}
