/* VLNEXT makes the next byte plain; VREPRINT shows the line again; both only with IEXTEN. */
#include "pty.h"

int main(void)
{
	pair_open();
	put(m, "a\026\003b\026\177\026\004\n");
	show_read("quoted", s, 6);
	show_read(" echo", m, 16);
	put(m, "abc\001\022d\n");
	show_read("reprinted", s, 6);
	show_read(" echo", m, 16);
	set_lflag(0, IEXTEN);
	put(m, "a\026\022\027b\n");
	show_read("without IEXTEN", s, 6);
	show_read(" echo", m, 10);
	set_lflag(IEXTEN, ICANON);
	put(m, "\026\022\177");
	show_read("raw", s, 3);
	show_read(" echo", m, 6);
	return 0;
}
