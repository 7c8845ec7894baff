/* stat's fields for each kind of file, and that stat, lstat and fstat agree. */
#include "guest.h"

static void show(const char *path)
{
	struct stat st, here;
	lstat(".", &here);
	if (lstat(path, &st)) {
		printf("%s: %s\n", path, ename(errno));
		return;
	}
	printf("%s: type %o mode %04o nlink %d", path, st.st_mode & S_IFMT, st.st_mode & 07777,
	       (int)st.st_nlink);
	if (!S_ISDIR(st.st_mode))
		printf(" size %lld", (long long)st.st_size);
	if (path[0] != '/')
		printf(" owner %s",
		       st.st_uid == geteuid() && st.st_gid == getegid() ? "me" : "other");
	printf(" device %s", st.st_dev == here.st_dev ? "here" : "other");
	printf(" blksize %s rdev %s\n", st.st_blksize >= 512 ? "sane" : "odd",
	       st.st_rdev ? "set" : "0");
}

int main(void)
{
	struct stat a, b, c;
	put_file("file", "hello");
	put_file("empty", "");
	mkdir("dir", 0750);
	symlink("file", "link");
	mkfifo("fifo", 0600);
	show("file");
	show("empty");
	show("dir");
	show("link");
	show("fifo");
	show("/dev/null");
	int fd = open("file", O_RDONLY);
	CHECK(stat("link", &a) == 0 && lstat("file", &b) == 0 && fstat(fd, &c) == 0);
	CHECK(memcmp(&a, &b, sizeof(a)) == 0 && memcmp(&b, &c, sizeof(b)) == 0);
	CHECK(stat("file", &a) == 0 && stat("empty", &b) == 0 && a.st_ino != b.st_ino);
	CHECK(b.st_blocks == 0);
	CHECK(a.st_ino != 0 && a.st_mtime > 1500000000 && a.st_ctime > 1500000000);
	char *block = calloc(1, 1 << 20);
	int big = open("big", O_WRONLY | O_CREAT, 0644);
	memset(block, 'x', 1 << 20);
	SHOW(write(big, block, 1 << 20));
	SHOW(fsync(big));
	SHOW(fstat(big, &a));
	CHECK(a.st_blocks * 512 >= 1 << 20 && a.st_blocks * 512 < 2 << 20);
	unlink("big");
	unlink("file");
	unlink("empty");
	unlink("link");
	unlink("fifo");
	rmdir("dir");
	return 0;
}
