/*
 * Removing each entry as it is read, as rm -r does, reaches every entry although the directory
 * shrinks.
 */
#include "guest.h"
#include <dirent.h>
#include <sys/syscall.h>

enum { FILES = 500 };

static void fill(void)
{
	char name[64];
	for (int i = 0; i < FILES; i++) {
		snprintf(name, sizeof(name), "d/a-rather-long-name-for-a-file-%d", i);
		put_file(name, "");
	}
}

int main(void)
{
	char buf[512];
	mkdir("d", 0755);
	fill();
	int removed = 0, failed = 0;
	DIR *dir = opendir("d");
	for (struct dirent *e; (e = readdir(dir));)
		if (e->d_name[0] != '.') {
			if (unlinkat(dirfd(dir), e->d_name, 0))
				failed++;
			else
				removed++;
		}
	closedir(dir);
	SHOW(removed);
	SHOW(failed);

	/* Again with a small buffer, so that the kernel is asked between removals. */
	fill();
	removed = failed = 0;
	int fd = open("d", O_RDONLY | O_DIRECTORY);
	for (long n; (n = syscall(SYS_getdents64, fd, buf, sizeof(buf))) > 0;)
		for (long at = 0; at < n;) {
			struct dirent64 *e = (struct dirent64 *)(buf + at);
			if (e->d_name[0] != '.') {
				if (unlinkat(fd, e->d_name, 0))
					failed++;
				else
					removed++;
			}
			at += e->d_reclen;
		}
	SHOW(removed);
	SHOW(failed);
	SHOW(rmdir("d"));
	return 0;
}
