/* dup and fork share one offset; a second open has its own. */
#include "guest.h"

static int fd;

static void child(void)
{
	SHOW(write(fd, "child.", 6));
	close(fd);
}

int main(void)
{
	fd = open("f", O_RDWR | O_CREAT, 0644);
	int d = dup(fd), own = open("f", O_WRONLY);
	SHOW(write(fd, "one.", 4));
	SHOW(write(d, "two.", 4));
	SHOW(lseek(fd, 0, SEEK_CUR));
	in_child(child);
	SHOW(lseek(fd, 0, SEEK_CUR));
	SHOW(write(fd, "three.", 6));
	SHOW(write(own, "ONE", 3));
	SHOW(lseek(d, 0, SEEK_CUR));
	SHOW(lseek(d, 4, SEEK_SET));
	SHOW(write(fd, "TWO", 3));
	printf("%s\n", get_file("f"));
	unlink("f");
	return 0;
}
