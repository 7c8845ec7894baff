/*
 * Opening /proc/self/fd/N or /dev/fd/N makes a new open file with its own offset and access mode.
 */
#include "guest.h"

int main(void)
{
	char buf[16] = "", name[64];
	put_file("f", "abcdef");
	int fd = open("f", O_RDONLY);
	SHOW(read(fd, buf, 3));
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	int a = open(name, O_RDWR);
	SHOW(lseek(a, 0, SEEK_CUR));
	SHOW(write(a, "ABC", 3));
	SHOW(lseek(fd, 0, SEEK_CUR));
	SHOW(pread(fd, buf, 6, 0));
	printf("%.6s\n", buf);
	snprintf(name, sizeof(name), "/dev/fd/%d", fd);
	int b = open(name, O_RDONLY);
	SHOW(read(b, buf, 6));
	SHOW(open(name, O_RDONLY | O_NOFOLLOW));

	int p[2];
	SHOW(pipe(p));
	snprintf(name, sizeof(name), "/proc/self/fd/%d", p[0]);
	int w = open(name, O_WRONLY);
	SHOW(write(w, "via proc", 8));
	SHOW(read(p[0], buf, sizeof(buf)));
	printf("%.8s\n", buf);
	close(p[1]);
	close(w);
	SHOW(read(p[0], buf, sizeof(buf)));
	SHOW(open("/proc/self/fd/9999", O_RDONLY));
	SHOW(open("/dev/fd/9999", O_RDONLY));
	unlink("f");
	return 0;
}
