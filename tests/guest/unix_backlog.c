/* The backlog of a unix listener: EAGAIN for those who do not wait, waiting for those who do. */
#include "net.h"

int main(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX, .sun_path = "\0guest backlog" };
	socklen_t len = sizeof(sa_family_t) + 14;
	int l = socket(AF_UNIX, SOCK_STREAM, 0);

	SHOW(bind(l, SA(&a), len));
	SHOW(listen(l, 1));
	for (int i = 0; i < 4; i++)
		SHOW(connect(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0), SA(&a), len));
	pid_t pid = xfork();
	if (pid == 0) {
		usleep(100000);
		close(accept(l, NULL, NULL));
		_exit(0);
	}
	SHOW(connect(socket(AF_UNIX, SOCK_STREAM, 0), SA(&a), len));
	show_status("acceptor", xwait(pid));
	pid = xfork();
	if (pid == 0) {
		close(l);
		int c = socket(AF_UNIX, SOCK_STREAM, 0);
		SHOW(connect(c, SA(&a), len));
		_exit(0);
	}
	usleep(100000);
	close(l);
	show_status("refused", xwait(pid));
	return 0;
}
