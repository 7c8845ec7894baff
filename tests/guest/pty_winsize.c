/* The window: shared by both ends; a change is told to the foreground group, and only a change. */
#include "pty.h"

static volatile sig_atomic_t count;
static void handler(int sig)
{
	(void)sig;
	count++;
}

int main(void)
{
	struct winsize ws = { 24, 80, 1, 2 }, got = { 9, 9, 9, 9 };
	int fds[2];
	char c;
	pair_open();
	SHOW(ioctl(s, TIOCGWINSZ, &got));
	printf("%d %d %d %d\n", got.ws_row, got.ws_col, got.ws_xpixel, got.ws_ypixel);
	if (pipe(fds))
		return 1;
	pid_t p = xfork();
	if (p == 0) {
		session_begin();
		signal(SIGWINCH, handler);
		for (int want = 1; want <= 2; want++) {
			if (write(fds[1], "r", 1) != 1)
				_exit(1);
			UNTIL(count >= want);
			ioctl(s, TIOCGWINSZ, &got);
			printf("child: %d changes, %d x %d\n", (int)count, got.ws_row, got.ws_col);
			fflush(stdout);
		}
		usleep(100000);
		printf("child: %d changes\n", (int)count);
		fflush(stdout);
		_exit(0);
	}
	if (read(fds[0], &c, 1) != 1)
		return 1;
	int set = ioctl(m, TIOCSWINSZ, &ws);
	if (read(fds[0], &c, 1) != 1) /* the child has said what it saw */
		return 1;
	SHOW(set);
	ws.ws_col = 132;
	if (ioctl(s, TIOCSWINSZ, &ws) || ioctl(s, TIOCSWINSZ, &ws) || ioctl(m, TIOCSWINSZ, &ws))
		return 1;
	show_status("child", xwait(p));
	SHOW(ioctl(m, TIOCGWINSZ, &got));
	printf("%d x %d\n", got.ws_row, got.ws_col);
	SHOW(ioctl(s, TIOCSWINSZ, (void *)8));
	return 0;
}
