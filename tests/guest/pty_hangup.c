/* The master closes: the session's leader gets SIGHUP and SIGCONT, and every file of the slave is
 * dead. */
#include "pty.h"

static volatile sig_atomic_t hup, cont;
static void handler(int sig)
{
	if (sig == SIGHUP)
		hup++;
	else
		cont++;
}

static void session(int out)
{
	struct pollfd f = { s, POLLIN | POLLOUT, 0 };
	struct termios t;
	char c;
	session_begin();
	close(m);
	signal(SIGHUP, handler);
	signal(SIGCONT, handler);
	if (write(out, "r", 1) != 1)
		_exit(1);
	pid_t p = xfork();
	if (p == 0) {
		/* In the foreground group, but not told. */
		hup = 0;
		UNTIL(read(s, &c, 1) == 0);
		usleep(200000);
		SHOW(hup);
		fflush(stdout);
		_exit(0);
	}
	UNTIL(hup && cont);
	SHOW(hup);
	SHOW(cont);
	show_status("child", xwait(p));
	SHOW(read(s, &c, 1));
	SHOW(write(s, "x", 1));
	SHOW(tcgetattr(s, &t));
	SHOW(tcsetpgrp(s, getpgrp()));
	SHOW(tcgetpgrp(s));
	SHOW(poll(&f, 1, 0));
	printf("poll %x\n", f.revents);
	SHOW(open("/dev/tty", O_RDWR));
	SHOW(isatty(s));
}

int main(void)
{
	int fds[2];
	char c;
	pair_open();
	if (pipe(fds))
		return 1;
	pid_t p = xfork();
	if (p == 0) {
		session(fds[1]);
		fflush(stdout);
		_exit(0);
	}
	if (read(fds[0], &c, 1) != 1)
		return 1;
	usleep(100000);
	close(m);
	show_status("session", xwait(p));
	SHOW(write(s, "x", 1));
	return 0;
}
