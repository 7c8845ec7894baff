/*
 * A mapping keeps the file alive after close and unlink; a rename over it does not change what is
 * mapped.
 */
#include "guest.h"
#include <sys/mman.h>

int main(void)
{
	long page = sysconf(_SC_PAGESIZE);
	put_file("f", "mapped content");
	int fd = open("f", O_RDWR);
	char *m = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(m != MAP_FAILED);
	close(fd);
	SHOW(unlink("f"));
	printf("%s\n", m);
	memcpy(m, "MAPPED", 6);
	printf("%s\n", m);
	put_file("f", "another file");
	printf("%s, %s\n", m, get_file("f"));
	char *n = mmap(NULL, page, PROT_READ, MAP_SHARED, fd = open("f", O_RDONLY), 0);
	put_file("g", "replacement");
	SHOW(rename("g", "f"));
	printf("%s, %s\n", n, get_file("f"));
	/* mremap keeps the file: grown within it, the new pages are the file's. */
	int big = open("big", O_RDWR | O_CREAT, 0644);
	SHOW(ftruncate(big, 3 * page));
	SHOW(pwrite(big, "third", 5, 2 * page));
	char *r = mmap(NULL, page, PROT_READ, MAP_SHARED, big, 0);
	r = mremap(r, page, 3 * page, MREMAP_MAYMOVE);
	CHECK(r != MAP_FAILED);
	printf("%.5s\n", r + 2 * page);
	SHOW(unlink("big"));
	SHOW(unlink("f"));
	return 0;
}
