/*
 * chdir and fchdir: errors, symlinks, and that children inherit the directory but do not share it.
 */
#include "guest.h"

static void child(void)
{
	printf("child: %s\n", get_file("here"));
	SHOW(chdir(".."));
	printf("child: %s\n", get_file("here"));
}

int main(void)
{
	mkdir("d", 0755);
	put_file("d/here", "in d");
	put_file("here", "in top");
	symlink("d", "l");
	int top = open(".", O_RDONLY), d = open("d", O_RDONLY), f = open("here", O_RDONLY);
	SHOW(chdir("missing"));
	SHOW(chdir("here"));
	SHOW(chdir(""));
	SHOW(chdir((char *)8));
	SHOW(chdir("l"));
	printf("%s\n", get_file("here"));
	in_child(child);
	printf("%s\n", get_file("here"));
	SHOW(fchdir(top));
	printf("%s\n", get_file("here"));
	SHOW(fchdir(d));
	printf("%s\n", get_file("here"));
	SHOW(fchdir(f));
	SHOW(fchdir(-1));
	SHOW(fchdir(9999));
	SHOW(chdir("../d/../l/."));
	printf("%s\n", get_file("here"));
	SHOW(fchdir(top));
	unlink("l");
	unlink("d/here");
	unlink("here");
	rmdir("d");
	return 0;
}
