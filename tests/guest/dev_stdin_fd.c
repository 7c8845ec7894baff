/* /dev/stdin, /dev/stdout and /dev/fd are links into /proc/self/fd. */
#include "guest.h"

static void target(const char *link)
{
	char buf[128];
	ssize_t n = readlink(link, buf, sizeof(buf));
	printf("%s -> %.*s\n", link, (int)(n > 0 ? n : 0), buf);
}

int main(void)
{
	char buf[32] = "";
	int p[2];
	target("/dev/fd");
	target("/dev/stdin");
	target("/dev/stdout");
	target("/dev/stderr");
	put_file("f", "file content");
	SHOW(dup2(open("f", O_RDONLY), 0));
	SHOW(read(0, buf, 5));
	int fd = open("/dev/stdin", O_RDONLY);
	SHOW(read(fd, buf, sizeof(buf)));
	printf("%s\n", buf);
	SHOW(lseek(0, 0, SEEK_CUR));
	SHOW(pipe(p));
	SHOW(dup2(p[0], 0));
	SHOW(write(p[1], "through the pipe\n", 17));
	close(p[1]);
	fflush(stdout);
	show_status("cat", system("cat /dev/stdin"));
	/* What a shell makes of process substitution. */
	SHOW(pipe(p));
	SHOW(write(p[1], "by number\n", 10));
	close(p[1]);
	char cmd[64];
	snprintf(cmd, sizeof(cmd), "cat /dev/fd/%d", p[0]);
	show_status("cat", system(cmd));
	close(0);
	SHOW(open("/dev/stdin", O_RDONLY));
	unlink("f");
	return 0;
}
