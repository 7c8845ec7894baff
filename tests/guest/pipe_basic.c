/* A pipe: bytes in order, the end of file when the last writer goes, one direction, no seeking. */
#include "guest.h"

static int p[2];

static void writer(void)
{
	close(p[0]);
	write(p[1], "from the child", 14);
}

/* Unmapped; volatile, so that the compiler does not warn of it. */
static void *volatile bad = (void *)8;

int main(void)
{
	char buf[64];
	struct stat st;
	SHOW(pipe(p));
	SHOW(fstat(p[0], &st));
	CHECK(S_ISFIFO(st.st_mode) && (st.st_mode & 0777) == 0600);
	SHOW(fcntl(p[0], F_GETFL) & O_ACCMODE);
	SHOW(fcntl(p[1], F_GETFL) & O_ACCMODE);
	SHOW(write(p[1], "one", 3));
	SHOW(write(p[1], "two", 3));
	SHOW(read(p[0], buf, 4));
	printf("%.4s\n", buf);
	SHOW(read(p[0], buf, sizeof(buf)));
	SHOW(write(p[0], "x", 1));
	SHOW(read(p[1], buf, 1));
	SHOW(write(p[1], "", 0));
	in_child(writer);
	close(p[1]);
	SHOW(read(p[0], buf, sizeof(buf)));
	printf("%.14s\n", buf);
	SHOW(read(p[0], buf, sizeof(buf)));
	SHOW(read(p[0], buf, sizeof(buf)));
	SHOW(lseek(p[0], 0, SEEK_CUR));
	SHOW(pipe2(p, O_CLOEXEC | O_NONBLOCK));
	SHOW(fcntl(p[0], F_GETFD));
	CHECK(fcntl(p[1], F_GETFL) & O_NONBLOCK);
	SHOW(pipe2(p, O_CREAT));
	SHOW(pipe(bad));
	return 0;
}
