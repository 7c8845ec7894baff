/* mkdir and rmdir: their errors, trailing slashes, dots. */
#include "guest.h"

int main(void)
{
	put_file("f", "x");
	SHOW(mkdir("d", 0755));
	SHOW(mkdir("d", 0755));
	SHOW(mkdir("f", 0755));
	SHOW(mkdir("f/d", 0755));
	SHOW(mkdir("missing/d", 0755));
	SHOW(mkdir("", 0755));
	SHOW(mkdir(".", 0755));
	SHOW(mkdir("..", 0755));
	SHOW(mkdir("/", 0755));
	SHOW(mkdir("d/.", 0755));
	SHOW(mkdir("slash/", 0755));
	SHOW(mkdir("slashes///", 0755));
	SHOW(symlink("nowhere", "dangling"));
	SHOW(mkdir("dangling", 0755));
	SHOW(mkdir("dangling/", 0755));
	SHOW(mkdir("d/sub", 0755));
	SHOW(rmdir("d"));
	SHOW(rmdir("f"));
	SHOW(rmdir("missing"));
	SHOW(rmdir(""));
	SHOW(rmdir("."));
	SHOW(rmdir("d/."));
	SHOW(rmdir("d/sub/.."));
	SHOW(rmdir(".."));
	SHOW(rmdir("/"));
	SHOW(rmdir("dangling"));
	SHOW(symlink("d", "ld"));
	SHOW(rmdir("ld"));
	SHOW(rmdir("ld/"));
	SHOW(unlink("d"));
	SHOW(rmdir("d/sub/"));
	SHOW(rmdir("d"));
	SHOW(rmdir("slash"));
	SHOW(rmdir("slashes"));
	unlink("ld");
	unlink("dangling");
	unlink("f");
	return 0;
}
