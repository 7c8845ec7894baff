/*
 * getcwd follows renames of the directory and its parents; ERANGE, EINVAL and the length it
 * returns.
 */
#include "guest.h"
#include <sys/syscall.h>

static char base[4096];

static void show_cwd(void)
{
	char buf[4096];
	if (!getcwd(buf, sizeof(buf)))
		printf("cwd: %s\n", ename(errno));
	else
		printf("cwd: %s\n",
		       strncmp(buf, base, strlen(base)) ? "elsewhere" : buf + strlen(base));
}

int main(void)
{
	char buf[4096], up[8192];
	CHECK(getcwd(base, sizeof(base)));
	mkdir("a", 0755);
	mkdir("a/b", 0755);
	mkdir("z", 0755);
	SHOW(chdir("a/b"));
	show_cwd();
	snprintf(up, sizeof(up), "%s/a", base);
	CHECK(rename(up, "../../c") == 0);
	show_cwd();
	SHOW(rename("../../c/b", "../../z/moved"));
	show_cwd();
	SHOW(symlink("z/moved", "../../link"));
	SHOW(chdir("../../link"));
	show_cwd();
	SHOW(chdir(".."));
	show_cwd();
	SHOW(chdir(".."));
	show_cwd();
	CHECK(syscall(SYS_getcwd, buf, sizeof(buf)) == (long)strlen(base) + 1);
	SHOW(syscall(SYS_getcwd, buf, 2));
	CHECK(syscall(SYS_getcwd, buf, strlen(base)) == -1 && errno == ERANGE);
	CHECK(syscall(SYS_getcwd, buf, strlen(base) + 1) == (long)strlen(base) + 1);
	SHOW(syscall(SYS_getcwd, (void *)8, sizeof(buf)));
	SHOW(chdir("/"));
	CHECK(getcwd(buf, sizeof(buf)) && strcmp(buf, "/") == 0);
	CHECK(chdir(base) == 0);
	unlink("link");
	rmdir("z/moved");
	rmdir("z");
	rmdir("c");
	return 0;
}
