/*
 * chroot: absolute paths and ".." end at the new root; open descriptors and the current directory
 * stay where they are.
 */
/* needs: root */
#include "guest.h"

static void body(void)
{
	struct stat a, b;
	char buf[4200] = "";
	int out = open(".", O_RDONLY);
	SHOW(chroot("missing"));
	SHOW(chroot("file"));
	SHOW(chroot("jail"));
	/* Still outside. */
	printf("%s\n", get_file("file"));
	printf("%s\n", get_file("/inside"));
	SHOW(chdir("/"));
	printf("%s\n", get_file("inside"));
	printf("%s\n", get_file("../../inside"));
	printf("%s\n", get_file("/sub/../../inside"));
	printf("%s\n", get_file("/link"));
	CHECK(stat("/", &a) == 0 && stat("/..", &b) == 0 && a.st_ino == b.st_ino);
	CHECK(getcwd(buf, sizeof(buf)) && strcmp(buf, "/") == 0);
	SHOW(chdir("sub"));
	CHECK(getcwd(buf, sizeof(buf)) && strcmp(buf, "/sub") == 0);
	SHOW(access("/usr", F_OK));
	SHOW(access("/proc", F_OK));
	/* A descriptor from outside leads out. */
	SHOW(faccessat(out, "file", F_OK, 0));
	SHOW(fchdir(out));
	printf("%s\n", get_file("file"));
	SHOW(chdir("/"));
	SHOW(setuid(1000));
	SHOW(chroot("/sub"));
}

int main(void)
{
	put_file("file", "outside");
	mkdir("jail", 0755);
	mkdir("jail/sub", 0755);
	put_file("jail/inside", "in the jail");
	symlink("/inside", "jail/link");
	show_status("child", in_child(body));
	printf("%s\n", get_file("file"));
	SHOW(access("/usr", F_OK));
	unlink("jail/link");
	unlink("jail/inside");
	rmdir("jail/sub");
	rmdir("jail");
	unlink("file");
	return 0;
}
