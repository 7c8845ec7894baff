/* sendfile to a socket, splice between a socket and a pipe, readv and writev on sockets. */
#include "net.h"
#include <sys/sendfile.h>

int main(void)
{
	int s[2], p[2];
	char a[6] = "", b[16] = "";
	struct iovec w[2] = { { "abc", 3 }, { "defgh", 5 } }, r[2] = { { a, 5 }, { b, 15 } };

	put_file("f", "0123456789abcdef");
	int f = open("f", O_RDONLY);
	unlink("f");
	tcp_pair(s);
	SHOW(pipe(p));
	SHOW(writev(s[0], w, 2));
	SHOW(readv(s[1], r, 2));
	printf("%s %s\n", a, b);
	off_t off = 4;
	SHOW(sendfile(s[0], f, &off, 6));
	SHOW(off);
	memset(b, 0, sizeof(b));
	SHOW(recv(s[1], b, 15, 0));
	printf("%s\n", b);
	SHOW(write(s[1], "through a pipe", 14));
	SHOW(splice(s[0], NULL, p[1], NULL, 7, 0));
	SHOW(splice(p[0], NULL, s[0], NULL, 100, 0));
	memset(b, 0, sizeof(b));
	SHOW(recv(s[1], b, 15, 0));
	printf("%s\n", b);
	SHOW(splice(s[0], NULL, s[1], NULL, 7, 0));
	SHOW(sendfile(s[0], s[1], NULL, 3));
	SHOW(pread(s[0], b, 1, 0));
	SHOW(lseek(s[0], 0, SEEK_CUR));
	return 0;
}
