/* A signal during a waiting recv: EINTR, a restart with SA_RESTART, EINTR always with a timeout;
 * SIGPIPE. */
#include "net.h"

static volatile int got;

static void on(int sig)
{
	got = sig;
}

static void arm(int flags)
{
	struct sigaction sa = { .sa_handler = on, .sa_flags = flags };
	sigaction(SIGUSR1, &sa, NULL);
}

static pid_t poke(int fd)
{
	pid_t pid = xfork();
	if (pid == 0) {
		usleep(100000);
		kill_parent(SIGUSR1);
		usleep(100000);
		if (write(fd, "x", 1) != 1)
			_exit(1);
		_exit(0);
	}
	return pid;
}

int main(void)
{
	struct sigaction sa = { .sa_handler = on };
	struct timeval tv = { 5, 0 };
	char c;
	int s[2];

	tcp_pair(s);
	arm(0);
	pid_t pid = poke(s[1]);
	SHOW(recv(s[0], &c, 1, 0));
	SHOW(got == SIGUSR1);
	xwait(pid);
	SHOW(recv(s[0], &c, 1, 0));
	arm(SA_RESTART);
	pid = poke(s[1]);
	SHOW(recv(s[0], &c, 1, 0));
	xwait(pid);
	SHOW(setsockopt(s[0], SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)));
	pid = poke(s[1]);
	SHOW(recv(s[0], &c, 1, 0));
	xwait(pid);
	sigaction(SIGPIPE, &sa, NULL);
	got = 0;
	shutdown(s[0], SHUT_WR);
	SHOW(send(s[0], "x", 1, MSG_NOSIGNAL));
	SHOW(got);
	SHOW(write(s[0], "x", 1));
	SHOW(got == SIGPIPE);
	got = 0;
	int u = socket(AF_INET, SOCK_STREAM, 0);
	SHOW(send(u, "x", 1, 0));
	SHOW(got == SIGPIPE);
	return 0;
}
