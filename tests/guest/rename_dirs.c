/*
 * rename of directories: over empty ones only, not over files, never into itself, and not by the
 * name ".".
 */
#include "guest.h"

int main(void)
{
	mkdir("a", 0755);
	put_file("a/f", "x");
	mkdir("empty", 0755);
	mkdir("full", 0755);
	put_file("full/g", "y");
	put_file("file", "z");
	SHOW(rename("a", "full"));
	SHOW(rename("a", "file"));
	SHOW(rename("file", "a"));
	SHOW(rename("file", "empty"));
	SHOW(rename("a", "a/b"));
	SHOW(rename("a", "a/b/c"));
	SHOW(rename("a/f", "a"));
	SHOW(rename("a", "empty"));
	printf("%s\n", get_file("empty/f"));
	SHOW(access("a", F_OK));
	SHOW(rename("empty", "empty"));
	SHOW(rename("empty", "empty/."));
	SHOW(rename(".", "x"));
	SHOW(rename("empty/..", "x"));
	SHOW(rename("empty", ".."));
	SHOW(rename("/", "x"));
	SHOW(rename("empty", "/"));
	mkdir("full/sub", 0755);
	SHOW(rename("full/sub", "full"));
	SHOW(rename("empty/f", "full/f"));
	SHOW(rename("empty", "full/sub"));
	SHOW(rename("full/sub", "top"));
	SHOW(rmdir("top"));
	unlink("full/f");
	unlink("full/g");
	rmdir("full");
	unlink("file");
	return 0;
}
