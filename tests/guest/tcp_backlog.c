/* More connects than the backlog holds: those that wait get through when the server accepts. */
#include "net.h"

int main(void)
{
	struct sockaddr_in a = loop4(0);
	int l = socket(AF_INET, SOCK_STREAM, 0);
	pid_t pid[6];

	SHOW(bind(l, SA(&a), sizeof(a)));
	SHOW(listen(l, 2));
	a = loop4(port_of(l));
	for (int i = 0; i < 6; i++) {
		pid[i] = xfork();
		if (pid[i] == 0) {
			int c = socket(AF_INET, SOCK_STREAM, 0);
			char b;
			if (connect(c, SA(&a), sizeof(a)) || read(c, &b, 1) != 1)
				_exit(1);
			_exit(b);
		}
	}
	usleep(50000);
	for (int i = 0; i < 6; i++) {
		int s = accept(l, NULL, NULL);
		if (write(s, "\x05", 1) != 1)
			printf("write: %s\n", ename(errno));
		close(s);
	}
	for (int i = 0; i < 6; i++)
		show_status("client", xwait(pid[i]));
	return 0;
}
