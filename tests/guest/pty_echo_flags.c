/* What is echoed, flag by flag. */
#include "pty.h"

static void echo(const char *what, const char *keys, int n)
{
	char buf[256];
	put(m, keys);
	ready(s, 3000);
	if (read(s, buf, sizeof(buf)) < 0)
		printf("read: %s\n", ename(errno));
	show_read(what, m, n);
	if (ready(m, 50))
		show_one(" more", m, 200);
}

int main(void)
{
	pair_open();
	echo("all", "a\001\tb\n", 7);
	set_lflag(0, ECHOCTL);
	echo("no ECHOCTL", "a\001b\177\n", 8);
	set_lflag(ECHOCTL, ECHOE);
	echo("no ECHOE", "ab\177c\n", 7);
	echo("kill without ECHOE", "ab\025c\n", 9);
	set_lflag(ECHOE, ECHOKE);
	echo("kill without ECHOKE", "ab\025c\n", 9);
	set_lflag(0, ECHOK);
	echo("kill without ECHOK", "ab\025c\n", 7);
	set_lflag(ECHOK | ECHOKE | ECHOPRT, 0);
	echo("ECHOPRT", "abc\177\177x\n", 10);
	set_lflag(ECHONL, ECHO | ECHOPRT);
	echo("ECHONL", "abc\n", 2);
	set_lflag(0, ECHONL);
	put(m, "silent\n");
	show_read("no ECHO", s, 7);
	CHECK(!ready(m, 50));
	return 0;
}
