/*
 * A fifo is one pipe under all its names: hard link, rename, and after unlink for who has it open.
 */
#include "guest.h"

int main(void)
{
	char buf[16] = "";
	SHOW(mkfifo("p", 0600));
	SHOW(link("p", "q"));
	int r = open("p", O_RDONLY | O_NONBLOCK);
	int w = open("q", O_WRONLY);
	SHOW(write(w, "linked", 6));
	SHOW(read(r, buf, 16));
	SHOW(rename("q", "s"));
	int w2 = open("s", O_WRONLY);
	SHOW(write(w2, "renamed", 7));
	SHOW(read(r, buf, 16));
	SHOW(unlink("p"));
	SHOW(unlink("s"));
	SHOW(write(w, "unlinked", 8));
	SHOW(read(r, buf, 16));
	printf("%.8s\n", buf);
	/* A new fifo of the name is another pipe. */
	SHOW(mkfifo("p", 0600));
	SHOW(open("p", O_WRONLY | O_NONBLOCK));
	SHOW(ftruncate(w, 0));
	SHOW(truncate("p", 0));
	SHOW(open("p", O_RDONLY | O_DIRECTORY));
	SHOW(mkfifoat(-1, "x", 0600));
	SHOW(mkfifo("missing/x", 0600));
	unlink("p");
	return 0;
}
