/* SO_RCVTIMEO and SO_SNDTIMEO with recv, read, send and MSG_WAITALL. */
#include "net.h"

int main(void)
{
	int s[2], types[2] = { 0, 1 };
	struct timeval tv = { 0, 80000 };
	char buf[70000] = "";
	struct timespec t0;

	for (int i = 0; i < 2; i++) {
		if (types[i])
			tcp_pair(s);
		else
			socketpair(AF_UNIX, SOCK_STREAM, 0, s);
		SHOW(setsockopt(s[0], SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)));
		SHOW(setsockopt(s[0], SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv)));
		clock_gettime(CLOCK_MONOTONIC, &t0);
		SHOW(recv(s[0], buf, 10, 0));
		SHOW(read(s[0], buf, 10));
		long ms = ms_since(&t0);
		CHECK(ms >= 150 && ms < 20000);
		SHOW(write(s[1], "abc", 3));
		SHOW(recv(s[0], buf, 10, MSG_WAITALL));
		clock_gettime(CLOCK_MONOTONIC, &t0);
		while (send(s[0], buf, sizeof(buf), 0) == sizeof(buf))
			;
		CHECK(ms_since(&t0) >= 75);
		close(s[0]);
		close(s[1]);
	}
	return 0;
}
