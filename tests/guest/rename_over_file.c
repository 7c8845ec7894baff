/* rename replaces a file in one step: the old inode goes, or lives on for who has it open. */
#include "guest.h"

int main(void)
{
	char buf[16] = "";
	struct stat a, b;
	put_file("a", "aaa");
	put_file("b", "bbb");
	int old = open("b", O_RDONLY);
	stat("a", &a);
	SHOW(rename("a", "b"));
	SHOW(access("a", F_OK));
	stat("b", &b);
	CHECK(a.st_ino == b.st_ino);
	printf("%s\n", get_file("b"));
	SHOW(read(old, buf, 8));
	printf("%s\n", buf);
	fstat(old, &b);
	SHOW(b.st_nlink);

	/* Two names of one inode: nothing happens, and it is no error. */
	SHOW(link("b", "c"));
	SHOW(rename("b", "c"));
	SHOW(access("b", F_OK));
	SHOW(access("c", F_OK));
	SHOW(rename("b", "b"));
	SHOW(rename("missing", "b"));
	SHOW(rename("missing", "missing"));
	SHOW(rename("b", "missing/b"));
	SHOW(rename("b", ""));
	SHOW(rename("b", "c/x"));
	SHOW(chmod("c", 0));
	SHOW(rename("c", "d"));
	SHOW(unlink("b"));
	SHOW(unlink("d"));
	return 0;
}
