/*
 * O_PATH gives a place in the tree, not an open file: no I/O, but fstat, dup, openat and reopening
 * through /proc.
 */
#include "guest.h"
#include <sys/mman.h>

int main(void)
{
	char buf[64], name[64];
	struct stat st;
	SHOW(mkdir("d", 0755));
	put_file("d/f", "content");
	SHOW(symlink("f", "d/l"));
	int fd = open("d/f", O_PATH);
	SHOW(read(fd, buf, 4));
	SHOW(write(fd, "x", 1));
	SHOW(lseek(fd, 0, SEEK_SET));
	SHOW(fchmod(fd, 0600));
	SHOW(ftruncate(fd, 0));
	SHOW(fsync(fd));
	CHECK(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED && errno == EBADF);
	SHOW(fstat(fd, &st));
	SHOW(st.st_size);
	CHECK(fcntl(fd, F_GETFL) & O_PATH);
	SHOWOK(dup(fd));
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	int re = open(name, O_RDWR);
	SHOW(read(re, buf, sizeof(buf)));
	printf("%.7s\n", buf);

	int dir = open("d", O_PATH);
	SHOWOK(openat(dir, "f", O_RDONLY));
	SHOW(fchdir(dir));
	SHOW(access("f", F_OK));
	SHOW(chdir(".."));

	/* With O_NOFOLLOW it is the symlink itself. */
	int link = open("d/l", O_PATH | O_NOFOLLOW);
	SHOW(fstat(link, &st));
	CHECK(S_ISLNK(st.st_mode));
	SHOW(readlinkat(link, "", buf, sizeof(buf)));
	SHOW(open("d/f", O_PATH | O_DIRECTORY));
	/*
	 * O_PATH needs no permission on the file itself, and ignores the access mode and O_CREAT.
	 */
	SHOW(open("d/missing", O_PATH | O_CREAT, 0600));
	unlink("d/l");
	unlink("d/f");
	rmdir("d");
	return 0;
}
