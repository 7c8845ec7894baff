/* IUTF8: erase takes a whole character; without it a byte. */
#include "pty.h"

int main(void)
{
	pair_open();
	put(m, "\303\244\177x\n");
	show_read("bytes", s, 3);
	show_read(" echo", m, 8);
	set_iflag(IUTF8, 0);
	put(m, "\303\244\177x\n");
	show_read("a character", s, 2);
	show_read(" echo", m, 8);
	put(m, "a\342\202\254\360\237\230\200\177\177b\n");
	show_read("two characters", s, 3);
	show_read(" echo", m, 17);
	put(m, "\303\244\t\177x\n");
	show_read("a tab after one", s, 4);
	show_read(" echo", m, 13);
	put(m, "\342\202\254 \303\244\303\266\027x\n");
	show_read("a word", s, 6);
	show_read(" echo", m, 17);
	return 0;
}
