/*
 * splice, tee and vmsplice refuse what is no pipe, the same pipe twice, offsets for pipes, and
 * unknown flags.
 */
#include "guest.h"
#include <sys/uio.h>

int main(void)
{
	int p[2], q[2];
	off_t off = 0;
	put_file("f", "0123456789");
	int fd = open("f", O_RDWR), app = open("f", O_WRONLY | O_APPEND), rd = open("f", O_RDONLY);
	SHOW(pipe(p));
	SHOW(pipe(q));
	SHOW(write(p[1], "data", 4));
	SHOW(splice(fd, NULL, app, NULL, 4, 0));
	SHOW(splice(p[0], &off, fd, NULL, 4, 0));
	SHOW(splice(p[0], NULL, p[1], NULL, 4, 0));
	SHOW(splice(p[0], NULL, app, NULL, 4, 0));
	SHOW(splice(p[0], NULL, rd, NULL, 4, 0));
	SHOW(splice(p[1], NULL, fd, NULL, 4, 0));
	SHOW(splice(-1, NULL, p[1], NULL, 4, 0));
	SHOW(splice(p[0], NULL, fd, NULL, 4, 0x100));
	SHOW(splice(p[0], NULL, fd, NULL, 0, 0));
	off = -1;
	SHOW(splice(fd, &off, q[1], NULL, 4, 0));
	SHOW(splice(fd, (off_t *)8, q[1], NULL, 4, 0));
	SHOW(tee(fd, q[1], 4, 0));
	SHOW(tee(p[0], p[1], 4, 0));
	SHOW(tee(p[0], -1, 4, 0));
	SHOW(tee(q[0], p[1], 4, SPLICE_F_NONBLOCK));
	struct iovec iov = { &off, sizeof(off) };
	SHOW(vmsplice(fd, &iov, 1, 0));
	SHOW(vmsplice(-1, &iov, 1, 0));
	SHOW(splice(p[0], NULL, open("/dev/null", O_WRONLY), NULL, 4, 0));
	unlink("f");
	return 0;
}
