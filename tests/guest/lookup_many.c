/* More different paths than anything remembers, in turns, while the files behind them change. */
#include "guest.h"

#define FILES 40
#define SPELLINGS 700

static void spell(char *out, int file, int how)
{
	char *p = out;

	/* "." and "/" in an order that the bits of how say */
	p += sprintf(p, "d/");
	for (int bit = 0; bit < 10; bit++)
		p += sprintf(p, how & 1 << bit ? "./" : "/");
	sprintf(p, "file-with-a-long-name-to-fill-memory-sooner-%d", file);
}

int main(void)
{
	long wrong = 0, looks = 0;
	char path[200];
	struct stat st;

	mkdir("d", 0755);
	for (int f = 0; f < FILES; f++) {
		spell(path, f, 0);
		put_file(path, "");
		truncate(path, f);
	}
	for (int round = 0; round < 2; round++) {
		for (int s = 0; s < SPELLINGS; s++)
			for (int f = 0; f < FILES; f++) {
				spell(path, f, s);
				wrong += stat(path, &st) != 0 || st.st_size != f + round;
				looks++;
			}
		for (int f = 0; f < FILES; f++) {
			spell(path, f, 0);
			truncate(path, f + round + 1);
		}
	}
	printf("%ld looks, %ld wrong\n", looks, wrong);
	for (int f = 0; f < FILES; f++) {
		spell(path, f, 0);
		unlink(path);
	}
	rmdir("d");
	return 0;
}
