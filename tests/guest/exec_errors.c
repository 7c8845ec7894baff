/* The errors of execve, one by one; the caller goes on after each. */
#include "guest.h"

static int try(const char *path)
{
	return execve(path, (char *[]){ "x", NULL }, (char *[]){ NULL });
}

int main(void)
{
	static char name[300];
	char *volatile bad = (char *)8;

	mkdir("dir", 0755);
	put_file("plain", "#!/bin/true\n");
	put_file("empty", "");
	put_file("garbage", "\x01\x02garbage that is no program\n");
	put_file("halfelf", "\177ELF");
	chmod("empty", 0755);
	chmod("garbage", 0755);
	chmod("halfelf", 0755);
	(void)!symlink("loop2", "loop1");
	(void)!symlink("loop1", "loop2");
	(void)!symlink("nowhere", "dangling");
	memset(name, 'n', 299);
	SHOW(try("missing"));
	SHOW(try(""));
	SHOW(try("dir"));
	SHOW(try("plain"));
	SHOW(try("plain/x"));
	SHOW(try("empty"));
	SHOW(try("garbage"));
	SHOW(try("halfelf"));
	SHOW(try("loop1"));
	SHOW(try("dangling"));
	SHOW(try(name));
	SHOW(try(bad));
	SHOW(execve("/bin/true", (char **)bad, NULL));
	SHOW(execve("/bin/true", (char *[]){ "x", bad, NULL }, NULL));
	SHOW(try("/dev/null"));
	unlink("plain");
	unlink("empty");
	unlink("garbage");
	unlink("halfelf");
	unlink("loop1");
	unlink("loop2");
	unlink("dangling");
	rmdir("dir");
	return 0;
}
