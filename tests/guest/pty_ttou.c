/* A background writer is stopped only with TOSTOP, who changes the terminal always; ignored or
 * blocked it may. */
#include "pty.h"

/* Shown a moment later: what the parent says of the child comes first. */
#define LATER(expr) later(#expr, (expr))
static void later(const char *text, long value)
{
	int e = errno;
	usleep(150000);
	errno = e;
	show_(text, value);
}

static pid_t background(void (*fn)(void))
{
	pid_t p = xfork();
	if (p == 0) {
		setpgid(0, 0);
		fn();
		fflush(stdout);
		_exit(0);
	}
	setpgid(p, p);
	return p;
}

static void writer(void)
{
	LATER(write(s, "w", 1));
}

static void changer(void)
{
	struct termios t;
	SHOW(tcgetattr(s, &t));
	LATER(tcsetattr(s, TCSANOW, &t));
}

static void flusher(void)
{
	LATER(tcflush(s, TCIFLUSH));
}

static void taker(void)
{
	LATER(tcsetpgrp(s, getpgrp()));
	CHECK(tcgetpgrp(s) == getpgrp());
}

static void resizer(void)
{
	struct winsize ws = { 1, 2, 3, 4 };
	SHOW(ioctl(s, TIOCSWINSZ, &ws));
}

static void blocking(void)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGTTOU);
	sigprocmask(SIG_BLOCK, &set, NULL);
	writer();
	changer();
}

static void front(pid_t p)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGTTOU);
	sigprocmask(SIG_BLOCK, &set, NULL);
	tcsetpgrp(s, p);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static void stopped_then(const char *what, void (*fn)(void))
{
	pid_t p = background(fn);
	show_change(what, p);
	front(p);
	kill(-p, SIGCONT);
	show_change(what, p);
	show_change(what, p);
	front(getpgrp());
}

static void session(void)
{
	session_begin();
	show_change("writer", background(writer));
	show_change("resizer", background(resizer));
	stopped_then("changer", changer);
	stopped_then("flusher", flusher);
	stopped_then("taker", taker);
	set_lflag(TOSTOP, 0);
	stopped_then("writer with TOSTOP", writer);
	show_change("blocking", background(blocking));
	signal(SIGTTOU, SIG_IGN);
	show_change("writer, ignored", background(writer));
	show_change("taker, ignored", background(taker));
}

int main(void)
{
	pair_open();
	show_status("session", in_child(session));
	show_read("master", m, 4);
	return 0;
}
