/* sendfile, splice and copy_file_range: one call moves more than 16 MiB, positions that overflow
 * are refused, and an epoll descriptor is no place to splice to. */
#include "guest.h"

#include <sys/epoll.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>

#define SIZE (40UL << 20)

int main(void)
{
	int a = open("a", O_RDWR | O_CREAT, 0644), b = open("b", O_RDWR | O_CREAT, 0644), p[2];
	int ep = epoll_create1(0);
	struct stat st;
	off_t off;
	loff_t in, out;

	CHECK(ftruncate(a, SIZE) == 0 && pwrite(a, "x", 1, SIZE - 1) == 1);
	SHOW(sendfile(b, a, NULL, SIZE));
	CHECK(fstat(b, &st) == 0 && st.st_size == (off_t)SIZE);
	SHOW(lseek(a, 0, SEEK_CUR));
	in = 0, out = 0;
	CHECK(ftruncate(b, 0) == 0);
	SHOW(copy_file_range(a, &in, b, &out, SIZE, 0));
	CHECK(fstat(b, &st) == 0 && st.st_size == (off_t)SIZE);
	in = INT64_MAX - 10, out = 0;
	SHOW(copy_file_range(a, &in, b, &out, 100, 0));
	in = 0, out = INT64_MAX - 10;
	SHOW(copy_file_range(a, &in, b, &out, 100, 0));
	in = -1, out = 0;
	SHOW(copy_file_range(a, &in, b, &out, 1, 0));
	in = 0, out = 10;
	SHOW(copy_file_range(a, &in, a, &out, 100, 0));
	off = INT64_MAX - 10;
	SHOW(sendfile(b, a, &off, 100));
	off = -1;
	SHOW(sendfile(b, a, &off, 100));
	off = 0;
	SHOW(sendfile(b, a, &off, 0));
	CHECK(pipe(p) == 0);
	in = INT64_MAX - 10;
	SHOW(splice(a, &in, p[1], NULL, 100, SPLICE_F_NONBLOCK));
	in = -1;
	SHOW(splice(a, &in, p[1], NULL, 100, SPLICE_F_NONBLOCK));
	CHECK(write(p[1], "hello", 5) == 5);
	out = INT64_MAX - 2;
	SHOW(splice(p[0], NULL, b, &out, 5, 0));
	out = -1;
	SHOW(splice(p[0], NULL, b, &out, 5, 0));
	SHOW(splice(p[0], NULL, ep, NULL, 5, 0));
	SHOW(splice(ep, NULL, p[1], NULL, 5, 0));
	SHOW(splice(p[0], NULL, b, NULL, 100, 0));
	/* Nothing in the pipe. */
	SHOW(splice(p[0], NULL, ep, NULL, 5, 0));
	SHOW(splice(p[0], NULL, ep, NULL, 5, SPLICE_F_NONBLOCK));
	off = 0;
	SHOW(sendfile(ep, a, &off, 5));
	SHOW(sendfile(b, ep, NULL, 5));
	close(p[0]);
	unlink("a");
	unlink("b");
	return 0;
}
