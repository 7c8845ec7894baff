/* O_NOFOLLOW: ELOOP when the last component is a symlink; links before it are still followed. */
#include "guest.h"

int main(void)
{
	SHOW(mkdir("d", 0755));
	put_file("d/f", "content");
	SHOW(symlink("d", "ld"));
	SHOW(symlink("f", "d/lf"));
	SHOW(symlink("missing", "dangling"));
	SHOWOK(open("d/f", O_RDONLY | O_NOFOLLOW));
	SHOW(open("d/lf", O_RDONLY | O_NOFOLLOW));
	SHOWOK(open("ld/f", O_RDONLY | O_NOFOLLOW));
	SHOW(open("dangling", O_RDONLY | O_NOFOLLOW));
	SHOW(open("dangling", O_WRONLY | O_CREAT | O_NOFOLLOW, 0600));
	SHOW(open("ld", O_RDONLY | O_NOFOLLOW | O_DIRECTORY));
	SHOW(open("ld", O_RDONLY | O_NOFOLLOW));
	/* A trailing slash makes the link an inner component. */
	SHOWOK(open("ld/", O_RDONLY | O_NOFOLLOW | O_DIRECTORY));
	SHOWOK(open("ld/.", O_RDONLY | O_NOFOLLOW));
	SHOWOK(open("new", O_WRONLY | O_CREAT | O_NOFOLLOW, 0600));
	unlink("new");
	unlink("dangling");
	unlink("ld");
	unlink("d/lf");
	unlink("d/f");
	rmdir("d");
	return 0;
}
