/*
 * A tree deeper than PATH_MAX can be walked step by step; only the kernel's getcwd gives up there.
 */
#include "guest.h"
#include <sys/syscall.h>

enum { DEPTH = 150 };

int main(void)
{
	char name[101], buf[4096];
	struct stat st;
	memset(name, 'd', 100);
	name[100] = '\0';
	int top = open(".", O_RDONLY), made = 0;
	for (int i = 0; i < DEPTH; i++)
		made += mkdir(name, 0755) == 0 && chdir(name) == 0;
	SHOW(made);
	SHOW(syscall(SYS_getcwd, buf, sizeof(buf)));
	SHOW(put_file("bottom", "deep"));
	printf("%s\n", get_file("bottom"));
	SHOW(readlink("/proc/self/cwd", buf, sizeof(buf)));
	SHOW(unlink("bottom"));
	int up = 0;
	while (up < DEPTH && chdir("..") == 0 && rmdir(name) == 0)
		up++;
	SHOW(up);
	struct stat here;
	fstat(top, &st);
	stat(".", &here);
	CHECK(st.st_ino == here.st_ino);
	return 0;
}
