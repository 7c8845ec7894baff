/* Directories open for reading only; O_DIRECTORY refuses everything else. */
#include "guest.h"

int main(void)
{
	char buf[16];
	put_file("f", "x");
	SHOW(mkdir("d", 0755));
	SHOW(symlink("d", "ld"));
	SHOW(symlink("f", "lf"));
	SHOW(open("f", O_RDONLY | O_DIRECTORY));
	SHOW(open("lf", O_RDONLY | O_DIRECTORY));
	SHOW(open("none", O_RDONLY | O_DIRECTORY));
	SHOWOK(open("ld", O_RDONLY | O_DIRECTORY));
	SHOW(open("d", O_WRONLY));
	SHOW(open("d", O_RDWR));
	SHOW(open("d", O_RDONLY | O_CREAT, 0600));
	SHOW(open("d", O_RDONLY | O_TRUNC));
	SHOW(open("d", O_WRONLY | O_DIRECTORY));
	int fd = open("d", O_RDONLY);
	CHECK(fd >= 0);
	SHOW(read(fd, buf, sizeof(buf)));
	SHOW(pread(fd, buf, sizeof(buf), 0));
	SHOW(write(fd, "x", 1));
	SHOW(ftruncate(fd, 0));
	SHOW(fsync(fd));
	unlink("f");
	unlink("lf");
	unlink("ld");
	rmdir("d");
	return 0;
}
