/*
 * link names the symlink itself, linkat with AT_SYMLINK_FOLLOW its target; which calls follow a
 * last symlink.
 */
#include "guest.h"

static const char *kind(const char *path)
{
	struct stat st;
	return lstat(path, &st)	     ? ename(errno)
	       : S_ISLNK(st.st_mode) ? "symlink"
	       : S_ISREG(st.st_mode) ? "regular"
				     : "other";
}

int main(void)
{
	struct stat st;
	put_file("f", "content");
	symlink("f", "l");
	symlink("missing", "dangling");
	SHOW(link("l", "l2"));
	printf("l2 %s\n", kind("l2"));
	SHOW(linkat(AT_FDCWD, "l", AT_FDCWD, "f2", AT_SYMLINK_FOLLOW));
	printf("f2 %s\n", kind("f2"));
	SHOW(link("dangling", "d2"));
	printf("d2 %s\n", kind("d2"));
	SHOW(linkat(AT_FDCWD, "dangling", AT_FDCWD, "d3", AT_SYMLINK_FOLLOW));
	lstat("l", &st);
	SHOW(st.st_nlink);
	SHOW(chmod("l", 0600));
	stat("f", &st);
	printf("f mode %o nlink %d\n", st.st_mode & 0777, (int)st.st_nlink);
	SHOW(truncate("l", 3));
	printf("%s\n", get_file("f"));
	SHOW(rename("l", "moved"));
	printf("moved %s, f %s\n", kind("moved"), kind("f"));
	SHOW(unlink("moved"));
	printf("moved %s, f %s\n", kind("moved"), kind("f"));
	SHOW(unlink("l2"));
	SHOW(unlink("d2"));
	SHOW(unlink("dangling"));
	unlink("f2");
	unlink("f");
	return 0;
}
