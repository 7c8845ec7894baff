/* Four processes append lines through their own descriptors: no line is lost or torn. */
#include "guest.h"

enum { WRITERS = 4, LINES = 250 };

static void writer(int id)
{
	char line[64];
	int fd = open("log", O_WRONLY | O_APPEND);
	for (int i = 0; i < LINES; i++) {
		int n = snprintf(line, sizeof(line), "%d %03d abcdefghijklmnopqrstuvwxyz\n", id, i);
		if (write(fd, line, n) != n)
			_exit(1);
	}
	_exit(0);
}

int main(void)
{
	pid_t pid[WRITERS];
	int next[WRITERS] = { 0 }, lines = 0, bad = 0, id, i;
	char line[128], rest[64];
	put_file("log", "");
	for (int w = 0; w < WRITERS; w++)
		if ((pid[w] = xfork()) == 0)
			writer(w);
	for (int w = 0; w < WRITERS; w++)
		show_status("writer", xwait(pid[w]));
	FILE *f = fopen("log", "r");
	while (fgets(line, sizeof(line), f)) {
		lines++;
		if (sscanf(line, "%d %d %63s", &id, &i, rest) != 3 || id < 0 || id >= WRITERS ||
		    i != next[id]++ || strlen(line) != 33 ||
		    strcmp(rest, "abcdefghijklmnopqrstuvwxyz"))
			bad++;
	}
	SHOW(lines);
	SHOW(bad);
	SHOW(next[0] + next[1] + next[2] + next[3]);
	unlink("log");
	return 0;
}
