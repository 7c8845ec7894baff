/* fstatat: AT_SYMLINK_NOFOLLOW, AT_EMPTY_PATH, directory descriptors and errors. */
#include "guest.h"

int main(void)
{
	struct stat st;
	int p[2];
	mkdir("d", 0755);
	put_file("d/f", "12345");
	symlink("f", "d/l");
	symlink("missing", "d/dangling");
	int d = open("d", O_RDONLY), f = open("d/f", O_RDONLY);
	SHOW(fstatat(d, "l", &st, 0));
	CHECK(S_ISREG(st.st_mode));
	SHOW(fstatat(d, "l", &st, AT_SYMLINK_NOFOLLOW));
	CHECK(S_ISLNK(st.st_mode));
	SHOW(fstatat(d, "dangling", &st, 0));
	SHOW(fstatat(d, "dangling", &st, AT_SYMLINK_NOFOLLOW));
	SHOW(fstatat(f, "", &st, AT_EMPTY_PATH));
	SHOW(st.st_size);
	SHOW(fstatat(f, "", &st, 0));
	SHOW(fstatat(AT_FDCWD, "", &st, AT_EMPTY_PATH));
	CHECK(S_ISDIR(st.st_mode));
	SHOW(fstatat(f, "x", &st, AT_EMPTY_PATH));
	SHOW(fstatat(-1, "d", &st, 0));
	SHOW(fstatat(-1, "", &st, AT_EMPTY_PATH));
	SHOW(fstatat(-1, "/dev", &st, 0));
	SHOW(fstatat(d, "f", &st, 0x40000000));
	SHOW(fstatat(d, "f", &st, AT_NO_AUTOMOUNT));
	SHOW(fstat(-1, &st));
	SHOW(stat("d/f", (struct stat *)8));
	SHOW(stat((char *)8, &st));
	SHOW(pipe(p));
	SHOW(fstat(p[0], &st));
	CHECK(S_ISFIFO(st.st_mode) && st.st_size == 0 && st.st_nlink == 1);
	unlink("d/dangling");
	unlink("d/l");
	unlink("d/f");
	rmdir("d");
	return 0;
}
