/* Output processing: newlines, carriage returns, tabs, upper case. */
#include "pty.h"

static void out(const char *what, const char *text, int n)
{
	put(s, text);
	show_read(what, m, n);
	if (ready(m, 50))
		show_one(" more", m, 200);
}

int main(void)
{
	pair_open();
	out("ONLCR", "a\nb\r", 5);
	set_oflag(0, ONLCR);
	out("plain", "a\nb\r", 4);
	set_oflag(OCRNL, 0);
	out("OCRNL", "a\rb\n", 4);
	set_oflag(ONOCR, OCRNL);
	out("ONOCR", "\rab\r\rc\r", 5);
	set_oflag(ONLRET | ONOCR, 0);
	out("ONLRET", "ab\n\rc\r", 5);
	set_oflag(XTABS, ONOCR | ONLRET);
	out("XTABS", "a\tb\b\b\tc\r\t\n", 23);
	set_oflag(OLCUC, XTABS);
	out("OLCUC", "Abc\344z", 5);
	set_oflag(ONLCR | XTABS, OPOST);
	out("no OPOST", "a\tb\n", 4);
	return 0;
}
