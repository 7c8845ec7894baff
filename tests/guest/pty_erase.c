/* Line editing: erase, kill and word erase, in the line and in the echo. */
#include "pty.h"

static void edit(const char *what, const char *keys, int line, int echo)
{
	put(m, keys);
	show_read(what, s, line);
	show_read(" echo", m, echo);
}

int main(void)
{
	pair_open();
	edit("erase", "abcd\177\177x\n", 4, 13);
	edit("nothing to erase", "\177\177a\n", 2, 3);
	edit("kill", "wrong\025right\n", 6, 27);
	edit("word erase", "one two, three  \027\027x\n", 6, 44);
	edit("word erase with underscore", "a_b c\027\027d\n", 2, 23);
	edit("control characters", "a\001b\177\177c\n", 3, 16);
	edit("tab", "ab\tc\177\177d\n", 4, 16);
	edit("two tabs", "\t\t\177x\n", 3, 13);
	edit("tab after control", "\001\t\177x\n", 3, 12);
	set_cc(VERASE, '#');
	edit("another erase", "ab#c\n", 3, 8);
	set_cc(VERASE, 0);
	edit("no erase", "ab\177\n", 4, 6);
	return 0;
}
