/* accept: waiting, not waiting, with a timeout; FIONBIO; what the new descriptor inherits. */
#include "net.h"

int main(void)
{
	int l = bound4(SOCK_STREAM | SOCK_NONBLOCK);
	struct sockaddr_in a = loop4(port_of(l)), peer;
	struct timeval tv = { 0, 100000 };
	socklen_t len = sizeof(peer);
	struct timespec t0;

	SHOW(accept(l, NULL, NULL));
	ready("empty", l);
	int off = 0;
	SHOW(ioctl(l, FIONBIO, &off));
	SHOW(setsockopt(l, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)));
	clock_gettime(CLOCK_MONOTONIC, &t0);
	SHOW(accept(l, NULL, NULL));
	SHOW(ms_since(&t0) >= 95);
	pid_t pid = xfork();
	if (pid == 0) {
		usleep(50000);
		int c = socket(AF_INET, SOCK_STREAM, 0);
		connect(c, SA(&a), sizeof(a));
		char b;
		_exit(read(c, &b, 1) == 1 ? b : 99);
	}
	tv = (struct timeval){ 0, 0 };
	SHOW(setsockopt(l, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)));
	int c = accept4(l, SA(&peer), &len, SOCK_CLOEXEC | SOCK_NONBLOCK);
	SHOW(c >= 0);
	SHOW(len);
	SHOW(peer.sin_family == AF_INET && ntohl(peer.sin_addr.s_addr) == INADDR_LOOPBACK);
	SHOW(fcntl(c, F_GETFD));
	SHOW(!!(fcntl(c, F_GETFL) & O_NONBLOCK));
	SHOW(opt_get(l, SOL_SOCKET, SO_ACCEPTCONN));
	SHOW(opt_get(c, SOL_SOCKET, SO_ACCEPTCONN));
	SHOW(write(c, "\x2a", 1));
	show_status("client", xwait(pid));
	return 0;
}
