/*
 * O_APPEND: every write goes to the end and moves the offset there; on Linux pwrite appends as
 * well.
 */
#include "guest.h"

int main(void)
{
	char buf[64] = "";
	put_file("f", "start.");
	int fd = open("f", O_RDWR | O_APPEND);
	SHOW(lseek(fd, 0, SEEK_CUR));
	SHOW(write(fd, "one.", 4));
	SHOW(lseek(fd, 0, SEEK_CUR));
	SHOW(lseek(fd, 2, SEEK_SET));
	SHOW(read(fd, buf, 3));
	printf("read %.3s\n", buf);
	SHOW(write(fd, "two.", 4));
	SHOW(lseek(fd, 0, SEEK_CUR));
	SHOW(pwrite(fd, "three.", 6, 0));
	SHOW(lseek(fd, 0, SEEK_CUR));
	printf("%s\n", get_file("f"));

	int other = open("f", O_WRONLY);
	SHOW(pwrite(other, "START", 5, 0));
	SHOW(ftruncate(other, 6));
	SHOW(write(fd, "four.", 5));
	printf("%s\n", get_file("f"));

	/* The flag can be taken away and given back. */
	SHOW(fcntl(fd, F_SETFL, 0));
	SHOW(lseek(fd, 0, SEEK_SET));
	SHOW(write(fd, "s", 1));
	SHOW(fcntl(fd, F_SETFL, O_APPEND));
	SHOW(write(fd, "!", 1));
	printf("%s\n", get_file("f"));
	unlink("f");
	return 0;
}
