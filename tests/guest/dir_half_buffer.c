/* getdents64 into a buffer whose second page is not mapped gives what fits before it. */
#include "guest.h"

#include <dirent.h>
#include <sys/mman.h>
#include <sys/syscall.h>

struct entry {
	uint64_t ino;
	int64_t off;
	uint16_t len;
	uint8_t type;
	char name[];
};

int main(void)
{
	char *m = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char name[64];
	int fd, seen = 0;
	long n;

	munmap(m + 4096, 4096);
	mkdir("d", 0755);
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "d/a-rather-long-name-of-a-file-%03d", i);
		put_file(name, "");
	}
	fd = open("d", O_RDONLY | O_DIRECTORY);
	n = syscall(SYS_getdents64, fd, m + 4096 - 300, 4096);
	printf("first: %s\n", n > 0 && n <= 300 ? "a part" : n < 0 ? ename(errno) : "too much");
	for (int i = 0; i < 1000; i++) {
		if (n <= 0)
			break;
		for (long at = 0; at < n; at += ((struct entry *)(m + 4096 - 300 + at))->len)
			seen++;
		n = syscall(SYS_getdents64, fd, m + 4096 - 300, 4096);
	}
	printf("seen %d, then %ld\n", seen, n);
	lseek(fd, 0, SEEK_SET);
	SHOW(syscall(SYS_getdents64, fd, m + 4096 - 8, 4096));
	SHOW(syscall(SYS_getdents64, fd, m + 4096, 4096));
	SHOW(syscall(SYS_getdents64, fd, m, 8));
	close(fd);
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "d/a-rather-long-name-of-a-file-%03d", i);
		unlink(name);
	}
	rmdir("d");
	return 0;
}
