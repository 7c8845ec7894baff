/* /proc/PID/stat: the controlling terminal and its foreground group. */
#include "pty.h"
#include <sys/sysmacros.h>

static void look(const char *what)
{
	int tty = -7, tpgid = -7;
	struct stat st;
	const char *text = get_file("/proc/self/stat"), *p = strrchr(text, ')');
	if (!p || sscanf(p + 2, "%*c %*d %*d %*d %d %d", &tty, &tpgid) != 2)
		printf("%s: cannot be read\n", what);
	fstat(s, &st);
	int want = (int)((minor(st.st_rdev) & 0xff) | major(st.st_rdev) << 8);
	printf("%s: tty %s, group %s\n", what, tty == want ? "the slave" : tty == 0 ? "none" : "?",
	       tpgid == getpgrp() ? "own" : tpgid == -1 ? "none" : "another");
}

static void session(void)
{
	setsid();
	look("new session");
	ioctl(s, TIOCSCTTY, 0);
	look("with terminal");
	pid_t p = xfork();
	if (p == 0) {
		setpgid(0, 0);
		look("background");
		fflush(stdout);
		_exit(0);
	}
	xwait(p);
}

int main(void)
{
	pair_open();
	look("outside");
	show_status("session", in_child(session));
	return 0;
}
