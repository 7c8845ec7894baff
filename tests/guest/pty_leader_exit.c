/* The session's leader ends: its foreground group gets SIGHUP, the others nothing, and the terminal
 * is free. */
#include "pty.h"

static volatile sig_atomic_t hup;
static void handler(int sig)
{
	(void)sig;
	hup++;
}

static void member(const char *what)
{
	UNTIL(hup);
	usleep(200000);
	printf("%s: %s\n", what, hup ? "told" : "not told");
	CHECK(open("/dev/tty", O_RDWR) == -1 && errno == ENXIO);
	SHOW(tcgetpgrp(s));
	SHOW(write(s, "alive", 5));
	fflush(stdout);
	_exit(0);
}

int main(void)
{
	int fds[2];
	char c;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	signal(SIGHUP, handler);
	pair_open();
	if (pipe(fds))
		return 1;
	pid_t leader = xfork();
	if (leader == 0) {
		session_begin();
		signal(SIGTTOU, SIG_IGN);
		pid_t front = xfork();
		if (front == 0) {
			close(fds[1]);
			member("front");
		}
		setpgid(front, front);
		tcsetpgrp(s, front);
		close(fds[1]);
		_exit(7);
	}
	show_status("leader", xwait(leader));
	wait(NULL);
	SHOW(tcgetsid(m));
	show_read("master", m, 5);
	/* Free for another. */
	leader = xfork();
	if (leader == 0) {
		session_begin();
		CHECK(tcgetsid(s) == getpid());
		fflush(stdout);
		_exit(0);
	}
	show_status("next", xwait(leader));
	close(fds[1]);
	SHOW(read(fds[0], &c, 1));
	return 0;
}
