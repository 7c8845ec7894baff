/* /proc/self/fdinfo/N: the offset and the open flags, in octal. */
#include "guest.h"

static void show(const char *what, int fd)
{
	char path[64];
	long long pos = -1;
	unsigned flags = 0;
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	const char *text = get_file(path);
	if (sscanf(text, "pos: %lld flags: %o", &pos, &flags) != 2)
		printf("%s: %s\n", what, text);
	else
		printf("%s: pos %lld mode %u%s%s%s\n", what, pos, flags & O_ACCMODE,
		       flags & O_APPEND ? " append" : "", flags & O_NONBLOCK ? " nonblock" : "",
		       flags & O_CLOEXEC ? " cloexec" : "");
}

int main(void)
{
	char buf[8];
	int p[2];
	put_file("f", "0123456789");
	int fd = open("f", O_RDWR | O_APPEND | O_CLOEXEC);
	show("opened", fd);
	read(fd, buf, 4);
	show("read", fd);
	write(fd, "x", 1);
	show("appended", fd);
	fcntl(fd, F_SETFL, O_NONBLOCK);
	fcntl(fd, F_SETFD, 0);
	show("flags changed", fd);
	pipe(p);
	show("pipe", p[1]);
	close(fd);
	show("closed", fd);
	unlink("f");
	return 0;
}
