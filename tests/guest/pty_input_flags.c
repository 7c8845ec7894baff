/* What becomes of CR, NL, the eighth bit and upper case on the way in. */
#include "pty.h"

static void in(const char *what, const char *keys, int n)
{
	put(m, keys);
	show_read(what, s, n);
	if (ready(s, 50))
		show_one(" more", s, 200);
}

int main(void)
{
	pair_open();
	set_lflag(0, ECHO);
	in("ICRNL", "a\r", 2);
	set_lflag(0, ICANON);
	in("raw ICRNL", "a\rb\n", 4);
	set_iflag(IGNCR, 0);
	in("IGNCR", "a\rb\n", 3);
	set_iflag(INLCR, IGNCR | ICRNL);
	in("INLCR", "a\rb\n", 4);
	set_iflag(INLCR | ICRNL, 0);
	in("both", "a\rb\n", 4);
	set_iflag(ISTRIP, INLCR | ICRNL);
	in("ISTRIP", "\341\200b", 3);
	set_iflag(IUCLC, ISTRIP);
	in("IUCLC", "AbC", 3);
	set_iflag(0, IUCLC);
	in("none", "A\r\n\341\377", 5);
	return 0;
}
