/* splice moves bytes between a file and a pipe, from given offsets or the file's own. */
#include "guest.h"

int main(void)
{
	char buf[64] = "";
	int p[2];
	off_t off = 4;
	put_file("in", "0123456789abcdef");
	int in = open("in", O_RDONLY), out = open("out", O_RDWR | O_CREAT, 0644);
	SHOW(pipe(p));
	SHOW(splice(in, &off, p[1], NULL, 6, 0));
	SHOW(off);
	SHOW(lseek(in, 0, SEEK_CUR));
	SHOW(read(p[0], buf, sizeof(buf)));
	printf("%.6s\n", buf);
	SHOW(splice(in, NULL, p[1], NULL, 10, 0));
	SHOW(lseek(in, 0, SEEK_CUR));
	SHOW(splice(p[0], NULL, out, NULL, 4, 0));
	SHOW(lseek(out, 0, SEEK_CUR));
	off = 10;
	SHOW(splice(p[0], NULL, out, &off, 100, 0));
	SHOW(off);
	SHOW(pread(out, buf, sizeof(buf), 0));
	CHECK(memcmp(buf,
		     "0123\0\0\0\0\0\0"
		     "456789",
		     16) == 0);
	lseek(in, 0, SEEK_END);
	SHOW(splice(in, NULL, p[1], NULL, 10, 0));
	SHOW(splice(p[0], NULL, out, NULL, 10, SPLICE_F_NONBLOCK));
	close(p[1]);
	SHOW(splice(p[0], NULL, out, NULL, 10, 0));
	/* Pipe to pipe. */
	int a[2], b[2];
	SHOW(pipe(a));
	SHOW(pipe(b));
	SHOW(write(a[1], "through two", 11));
	SHOW(splice(a[0], NULL, b[1], NULL, 7, 0));
	SHOW(read(b[0], buf, sizeof(buf)));
	SHOW(read(a[0], buf, sizeof(buf)));
	printf("%.4s\n", buf);
	unlink("in");
	unlink("out");
	return 0;
}
