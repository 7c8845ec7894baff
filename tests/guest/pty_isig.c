/* Control characters: signals to the foreground group, what is flushed, and the echo. */
#include "pty.h"

static void handler(int sig)
{
	char c = sig == SIGINT ? 'I' : sig == SIGQUIT ? 'Q' : 'T';
	if (write(s, &c, 1) != 1)
		_exit(95);
}

static void child(void)
{
	session_begin();
	struct sigaction sa = { .sa_handler = handler, .sa_flags = SA_RESTART };
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGQUIT, &sa, NULL);
	sigaction(SIGTSTP, &sa, NULL);
	put(s, "ready");
	char line[3][100];
	ssize_t n[3];
	for (int i = 0; i < 3; i++)
		n[i] = read(s, line[i], sizeof(line[i]));
	usleep(200000);
	for (int i = 0; i < 3; i++)
		printf("line: %zd, %.*s", n[i], (int)(n[i] > 0 ? n[i] : 0), line[i]);
}

int main(void)
{
	int n = -1;
	pair_open();
	pid_t p = xfork();
	if (p == 0) {
		child();
		fflush(stdout);
		_exit(0);
	}
	show_read("begin", m, 5);
	put(m, "lost\003");
	show_read("interrupt", m, 3);
	put(m, "kept\n");
	show_read("echo", m, 6);
	UNTIL(ioctl(s, FIONREAD, &n) == 0 && n == 0); /* taken: the next key flushes what is not */
	put(m, "\034\032");
	show_read("quit and stop", m, 4);
	set_lflag(NOFLSH, 0);
	put(m, "not \003");
	show_read("no flush", m, 7);
	put(m, "lost\n");
	show_read("echo", m, 6);
	set_lflag(0, ISIG);
	put(m, "\003\n");
	show_read("no ISIG", m, 4);
	show_status("child", xwait(p));
	return 0;
}
