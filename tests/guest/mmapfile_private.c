/*
 * MAP_PRIVATE: writes stay in the process and never reach the file; untouched pages still show the
 * file.
 */
#include "guest.h"
#include <sys/mman.h>

static char *m;

static void child(void)
{
	m[0] = 'C';
	printf("child sees %.4s\n", m);
}

int main(void)
{
	long page = sysconf(_SC_PAGESIZE);
	put_file("f", "0123456789");
	int fd = open("f", O_RDWR);
	SHOW(ftruncate(fd, 2 * page));
	SHOW(pwrite(fd, "second page", 11, page));
	/* A read-only descriptor is enough. */
	int rd = open("f", O_RDONLY);
	m = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE, rd, 0);
	CHECK(m != MAP_FAILED);
	close(rd);
	printf("%.10s, %.11s\n", m, m + page);
	m[0] = 'X';
	printf("memory %.4s, file %.4s\n", m, get_file("f"));
	SHOW(pwrite(fd, "SECOND", 6, page));
	printf("%.11s\n", m + page);
	in_child(child);
	printf("parent sees %.4s\n", m);
	CHECK(mmap(m, page, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, page) == m);
	printf("moved %.11s\n", m);
	SHOW(munmap(m, 2 * page));
	printf("%.4s\n", get_file("f"));
	unlink("f");
	return 0;
}
