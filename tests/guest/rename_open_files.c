/*
 * Descriptors follow a rename: I/O goes on, /proc shows the new name, a moved directory knows its
 * new parent.
 */
#include "guest.h"

static char base[4096];

static void name_of(const char *what, int fd)
{
	char link[64], buf[4200];
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	ssize_t n = readlink(link, buf, sizeof(buf) - 1);
	buf[n > 0 ? n : 0] = '\0';
	printf("%s: %s\n", what,
	       strncmp(buf, base, strlen(base)) ? "elsewhere" : buf + strlen(base));
}

int main(void)
{
	CHECK(getcwd(base, sizeof(base)));
	mkdir("d", 0755);
	mkdir("d/sub", 0755);
	mkdir("e", 0755);
	put_file("d/sub/f", "content");
	int f = open("d/sub/f", O_RDWR), sub = open("d/sub", O_RDONLY);
	name_of("f", f);
	SHOW(rename("d/sub/f", "d/sub/g"));
	name_of("f", f);
	SHOW(rename("d/sub", "e/moved"));
	name_of("f", f);
	name_of("sub", sub);
	SHOW(pwrite(f, "C", 1, 0));
	printf("%s\n", get_file("e/moved/g"));
	SHOW(access("d/sub", F_OK));
	struct stat a, b;
	fstatat(sub, "..", &a, 0);
	stat("e", &b);
	CHECK(a.st_ino == b.st_ino);
	SHOW(renameat(sub, "g", sub, "h"));
	SHOW(renameat(sub, "h", AT_FDCWD, "out"));
	name_of("f", f);
	SHOW(rename("e", "d/e"));
	name_of("sub", sub);
	SHOW(unlink("out"));
	name_of("f", f);
	SHOW(rmdir("d/e/moved"));
	name_of("sub", sub);
	rmdir("d/e");
	rmdir("d");
	return 0;
}
