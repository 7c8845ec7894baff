/*
 * A removed current directory: still open and "..", but no getcwd, no listing and nothing new
 * inside.
 */
#include "guest.h"
#include <sys/syscall.h>

int main(void)
{
	char buf[4096], link[4200];
	struct stat st;
	int home = open(".", O_RDONLY);
	mkdir("d", 0755);
	SHOW(chdir("d"));
	int fd = open(".", O_RDONLY);
	SHOW(rmdir("../d"));
	CHECK(getcwd(buf, sizeof(buf)) == NULL && errno == ENOENT);
	SHOW(stat(".", &st));
	SHOW(st.st_nlink);
	SHOW(open("new", O_WRONLY | O_CREAT, 0600));
	SHOW(mkdir("sub", 0755));
	SHOW(symlink("x", "y"));
	SHOW(open("missing", O_RDONLY));
	SHOWOK(open(".", O_RDONLY));
	SHOW(syscall(SYS_getdents64, fd, buf, sizeof(buf)));
	ssize_t n = readlink("/proc/self/cwd", link, sizeof(link) - 1);
	link[n > 0 ? n : 0] = '\0';
	CHECK(n > 12 && strcmp(link + n - 12, "/d (deleted)") == 0);
	SHOW(rmdir("../d"));
	/* A new directory of the old name is another one. */
	SHOW(mkdir("../d", 0755));
	CHECK(getcwd(buf, sizeof(buf)) == NULL && errno == ENOENT);
	SHOW(chdir(".."));
	struct stat a, b;
	fstat(home, &a);
	SHOW(stat(".", &b));
	CHECK(a.st_ino == b.st_ino);
	SHOW(rmdir("d"));
	SHOW(fchdir(fd));
	SHOW(fchdir(home));
	return 0;
}
