/*
 * Trailing slashes in rename are for directories; a symlink to a directory is renamed itself, with
 * a slash refused.
 */
#include "guest.h"

int main(void)
{
	struct stat st;
	mkdir("d", 0755);
	put_file("f", "x");
	symlink("d", "ld");
	symlink("missing", "lm");
	SHOW(rename("d/", "e"));
	SHOW(rename("e", "g/"));
	SHOW(rename("g//", "d//"));
	SHOW(rename("f/", "h"));
	SHOW(rename("f", "h/"));
	SHOW(rename("ld/", "le"));
	SHOW(rename("ld", "le"));
	SHOW(lstat("le", &st));
	CHECK(S_ISLNK(st.st_mode));
	SHOW(rename("lm", "ln"));
	SHOW(rename("f", "ln"));
	SHOW(lstat("ln", &st));
	CHECK(S_ISREG(st.st_mode));
	SHOW(rename("d", "le"));
	SHOW(rename("d", "le/"));
	SHOW(rename("d/.", "x"));
	SHOW(rename("./d/", "./x/"));
	SHOW(rmdir("x"));
	unlink("le");
	unlink("ln");
	return 0;
}
