/* A background reader is stopped by SIGTTIN and reads when it is in front; ignored, blocked or
 * orphaned it gets EIO. */
#include "pty.h"

static volatile sig_atomic_t caught;
static void handler(int sig)
{
	(void)sig;
	caught++;
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

static void plain(void)
{
	char buf[100];
	ssize_t n = read(s, buf, sizeof(buf));
	usleep(200000);
	printf("reader: %zd\n", n);
}

static void ignoring(void)
{
	signal(SIGTTIN, SIG_IGN);
	show_one("ignored", s, 100);
}

static void blocking(void)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGTTIN);
	sigprocmask(SIG_BLOCK, &set, NULL);
	show_one("blocked", s, 100);
}

static void catching(void)
{
	struct sigaction sa = { .sa_handler = handler };
	sigaction(SIGTTIN, &sa, NULL);
	show_one("caught", s, 100);
	SHOW(caught);
}

static void orphan(void)
{
	pid_t p = xfork();
	if (p)
		_exit(0); /* the group is left without a parent in the session */
	UNTIL(getppid() != tcgetsid(s) && getppid() != getpgrp());
	usleep(100000);
	show_one("orphaned", s, 100);
	fflush(stdout);
	_exit(0);
}

static void session(void)
{
	session_begin();
	signal(SIGTTOU, SIG_IGN);
	pid_t p = background(plain);
	show_change("reader", p);
	put(m, "for nobody\n");
	/* In front, and only then continued. */
	tcsetpgrp(s, p);
	kill(-p, SIGCONT);
	show_change("reader", p);
	show_change("reader", p);
	tcsetpgrp(s, getpgrp());
	show_change("ignoring", background(ignoring));
	show_change("blocking", background(blocking));
	show_change("catching", background(catching));
	p = background(plain);
	show_change("reader", p);
	/* Continued behind, it stops again. */
	kill(-p, SIGCONT);
	int status;
	CHECK(waitpid(p, &status, WUNTRACED) == p && WIFSTOPPED(status) && WSTOPSIG(status) == SIGTTIN);
	kill(-p, SIGKILL);
	show_change("reader", p);
	show_change("orphan's parent", background(orphan));
	usleep(300000);
}

int main(void)
{
	pair_open();
	set_lflag(0, ECHO);
	show_status("session", in_child(session));
	usleep(200000);
	return 0;
}
