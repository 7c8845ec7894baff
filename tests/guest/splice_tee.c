/*
 * tee copies without consuming; vmsplice puts memory into a pipe and takes bytes out into memory.
 */
#include "guest.h"
#include <sys/uio.h>

int main(void)
{
	char buf[64] = "", one[] = "vm", two[] = "splice";
	int a[2], b[2];
	SHOW(pipe(a));
	SHOW(pipe(b));
	SHOW(write(a[1], "copied", 6));
	SHOW(tee(a[0], b[1], 100, 0));
	SHOW(tee(a[0], b[1], 3, 0));
	SHOW(read(b[0], buf, sizeof(buf)));
	printf("%.9s\n", buf);
	SHOW(read(a[0], buf, sizeof(buf)));
	printf("%.6s\n", buf);
	struct iovec iov[2] = { { one, 2 }, { two, 6 } };
	SHOW(vmsplice(a[1], iov, 2, 0));
	SHOW(read(a[0], buf, sizeof(buf)));
	printf("%.8s\n", buf);
	SHOW(write(a[1], "back", 4));
	struct iovec in = { buf, 3 };
	SHOW(vmsplice(a[0], &in, 1, 0));
	printf("%.3s\n", buf);
	SHOW(read(a[0], buf, sizeof(buf)));
	SHOW(vmsplice(a[1], iov, 0, 0));
	close(a[1]);
	SHOW(tee(a[0], b[1], 10, 0));
	close(b[0]);
	signal(SIGPIPE, SIG_IGN);
	SHOW(vmsplice(b[1], iov, 1, 0));
	return 0;
}
