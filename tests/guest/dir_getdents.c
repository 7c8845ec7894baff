/*
 * getdents64 raw: record lengths, "." and "..", a buffer too small, the end, and what is no
 * directory.
 */
#include "guest.h"
#include <dirent.h>
#include <sys/syscall.h>

int main(void)
{
	char buf[4096], name[32];
	int p[2], entries = 0, dots = 0, aligned = 1, terminated = 1;
	mkdir("d", 0755);
	for (int i = 0; i < 10; i++) {
		snprintf(name, sizeof(name), "d/file%d", i);
		put_file(name, "");
	}
	int fd = open("d", O_RDONLY | O_DIRECTORY);
	SHOW(syscall(SYS_getdents64, fd, buf, 10));
	long n;
	/* 100 bytes hold three or four of these: the listing takes several calls. */
	while ((n = syscall(SYS_getdents64, fd, buf, 100)) > 0)
		for (long at = 0; at < n;) {
			struct dirent64 *d = (struct dirent64 *)(buf + at);
			entries++;
			dots += strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0;
			aligned &= d->d_reclen % 8 == 0 && d->d_reclen >= 24 && d->d_ino != 0;
			terminated &= memchr(d->d_name, 0, d->d_reclen - 19) != NULL;
			at += d->d_reclen;
		}
	SHOW(n);
	SHOW(entries);
	SHOW(dots);
	SHOW(aligned);
	SHOW(terminated);
	SHOW(syscall(SYS_getdents64, fd, buf, sizeof(buf)));
	SHOW(lseek(fd, 0, SEEK_SET));
	SHOWOK(syscall(SYS_getdents64, fd, buf, sizeof(buf)));
	SHOW(syscall(SYS_getdents64, open("d/file1", O_RDONLY), buf, sizeof(buf)));
	SHOW(pipe(p));
	SHOW(syscall(SYS_getdents64, p[0], buf, sizeof(buf)));
	SHOW(syscall(SYS_getdents64, -1, buf, sizeof(buf)));
	SHOW(lseek(fd, 0, SEEK_SET));
	SHOW(syscall(SYS_getdents64, fd, (void *)8, sizeof(buf)));
	for (int i = 0; i < 10; i++) {
		snprintf(name, sizeof(name), "d/file%d", i);
		unlink(name);
	}
	rmdir("d");
	return 0;
}
