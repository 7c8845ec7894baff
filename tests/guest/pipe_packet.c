/* O_DIRECT makes a packet pipe: each write is one read, the rest of a packet is dropped. */
#include "guest.h"

int main(void)
{
	static char buf[10000];
	int p[2];
	SHOW(pipe2(p, O_DIRECT | O_NONBLOCK));
	CHECK(fcntl(p[1], F_GETFL) & O_DIRECT);
	SHOW(write(p[1], "first", 5));
	SHOW(write(p[1], "second packet", 13));
	SHOW(write(p[1], "third", 5));
	SHOW(read(p[0], buf, sizeof(buf)));
	printf("%.5s\n", buf);
	SHOW(read(p[0], buf, 6));
	printf("%.6s\n", buf);
	SHOW(read(p[0], buf, sizeof(buf)));
	printf("%.5s\n", buf);
	SHOW(read(p[0], buf, sizeof(buf)));
	/* More than PIPE_BUF becomes several packets. */
	SHOW(write(p[1], buf, 10000));
	SHOW(read(p[0], buf, sizeof(buf)));
	SHOW(read(p[0], buf, sizeof(buf)));
	SHOW(read(p[0], buf, sizeof(buf)));
	SHOW(read(p[0], buf, sizeof(buf)));
	close(p[1]);
	SHOW(read(p[0], buf, sizeof(buf)));
	return 0;
}
