/*
 * The owner's bits decide for the owner, even when group and others may more; directories need x to
 * pass, r to list.
 */
#include "guest.h"
#include <dirent.h>

static void body(void)
{
	drop_to_user();
	put_file("f", "x");
	static const mode_t modes[] = { 0, 0400, 0200, 0600, 0077, 0100 };
	for (int i = 0; i < 6; i++) {
		chmod("f", modes[i]);
		printf("%04o: read %s", modes[i], open("f", O_RDONLY) < 0 ? ename(errno) : "ok");
		printf(", write %s", open("f", O_WRONLY) < 0 ? ename(errno) : "ok");
		printf(", both %s", open("f", O_RDWR) < 0 ? ename(errno) : "ok");
		printf(", truncate %s", truncate("f", 0) ? ename(errno) : "ok");
		printf(", path %s\n", open("f", O_PATH) < 0 ? ename(errno) : "ok");
	}
	mkdir("d", 0700);
	put_file("d/g", "y");
	static const mode_t dmodes[] = { 0700, 0600, 0500, 0400, 0300, 0100, 0077 };
	for (int i = 0; i < 7; i++) {
		struct stat st;
		chmod("d", dmodes[i]);
		DIR *dir = opendir("d");
		printf("%04o: list %s", dmodes[i], dir ? "ok" : ename(errno));
		printf(", stat inside %s", stat("d/g", &st) ? ename(errno) : "ok");
		printf(", missing %s", stat("d/none", &st) ? ename(errno) : "ok");
		printf(", create %s",
		       open("d/new", O_WRONLY | O_CREAT, 0600) < 0 ? ename(errno) : "ok");
		printf(", unlink %s", unlink("d/new") ? ename(errno) : "ok");
		printf(", chdir %s\n", chdir("d") ? ename(errno) : chdir("..") ? "lost" : "ok");
		if (dir)
			closedir(dir);
	}
	chmod("d", 0700);
	unlink("d/g");
	rmdir("d");
	unlink("f");
}

int main(void)
{
	show_status("child", in_child(body));
	return 0;
}
