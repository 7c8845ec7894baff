/* sendfile copies from a file to a file, pipe or socket, by a given offset or the file's own. */
#include "guest.h"
#include <sys/sendfile.h>
#include <sys/socket.h>

int main(void)
{
	char buf[64] = "";
	int p[2], s[2];
	off_t off = 3;
	put_file("in", "0123456789");
	int in = open("in", O_RDONLY), out = open("out", O_RDWR | O_CREAT, 0644);
	SHOW(sendfile(out, in, &off, 4));
	SHOW(off);
	SHOW(lseek(in, 0, SEEK_CUR));
	SHOW(sendfile(out, in, NULL, 2));
	SHOW(lseek(in, 0, SEEK_CUR));
	printf("%s\n", get_file("out"));
	SHOW(sendfile(out, in, NULL, 100));
	SHOW(sendfile(out, in, NULL, 100));
	SHOW(sendfile(out, in, NULL, 0));
	SHOW(pipe(p));
	off = 0;
	SHOW(sendfile(p[1], in, &off, 100));
	SHOW(read(p[0], buf, sizeof(buf)));
	SHOW(socketpair(AF_UNIX, SOCK_STREAM, 0, s));
	off = 5;
	SHOW(sendfile(s[0], in, &off, 100));
	SHOW(read(s[1], buf, sizeof(buf)));
	printf("%.5s\n", buf);
	SHOW(sendfile(out, -1, NULL, 1));
	SHOW(sendfile(-1, in, NULL, 1));
	SHOW(sendfile(in, out, NULL, 1));
	SHOW(sendfile(out, open("out", O_WRONLY), NULL, 1));
	off = -1;
	SHOW(sendfile(out, in, &off, 1));
	SHOW(sendfile(open("out", O_WRONLY | O_APPEND), in, NULL, 1));
	off = 0;
	SHOW(sendfile(p[1], p[0], &off, 1));
	SHOW(sendfile(open("/dev/null", O_WRONLY), in, &off, 100));
	unlink("in");
	unlink("out");
	return 0;
}
