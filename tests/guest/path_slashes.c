/* Slashes: many are one; a trailing one asks for a directory and follows a symlink that is one. */
#include "guest.h"

int main(void)
{
	struct stat st;
	char buf[16];
	mkdir("d", 0755);
	put_file("f", "x");
	put_file("d/g", "y");
	symlink("d", "ld");
	symlink("f", "lf");
	symlink("missing", "lm");
	symlink("d/", "lslash");
	SHOW(stat(".//d////g", &st));
	SHOW(stat("d///", &st));
	SHOW(stat("f/", &st));
	SHOW(stat("missing/", &st));
	SHOW(lstat("ld", &st));
	CHECK(S_ISLNK(st.st_mode));
	SHOW(lstat("ld/", &st));
	CHECK(S_ISDIR(st.st_mode));
	SHOW(lstat("lf/", &st));
	SHOW(lstat("lm/", &st));
	SHOW(lstat("lslash", &st));
	SHOW(stat("lslash/g", &st));
	SHOW(readlink("ld", buf, sizeof(buf)));
	SHOW(readlink("ld/", buf, sizeof(buf)));
	SHOW(unlink("f/"));
	SHOW(unlink("ld/"));
	SHOW(unlink("d/"));
	SHOW(unlink("missing/"));
	SHOW(link("f/", "h"));
	SHOW(link("f", "h/"));
	SHOW(symlink("x", "h/"));
	SHOW(symlink("x", "d/"));
	SHOW(access("f/", F_OK));
	SHOW(truncate("f/", 0));
	SHOW(open("lf/", O_RDONLY));
	SHOW(mkfifo("p/", 0644));
	unlink("lslash");
	unlink("lm");
	unlink("lf");
	unlink("ld");
	unlink("d/g");
	unlink("f");
	rmdir("d");
	return 0;
}
