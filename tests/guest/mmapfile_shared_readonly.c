/* A shared mapping through a descriptor that was opened for reading cannot be made writable,
 * whoever owns the file; one that was opened for both can. */
#include "guest.h"
#include <sys/mman.h>

static void try(const char *what, int fd)
{
	char *p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED) {
		printf("%s: mmap %s\n", what, ename(errno));
		return;
	}
	printf("%s: reads %c, ", what, p[0]);
	if (mprotect(p, 4096, PROT_READ | PROT_WRITE) < 0)
		printf("mprotect %s\n", ename(errno));
	else
		printf("mprotect ok\n");
	munmap(p, 4096);
}

int main(void)
{
	char path[64];
	int fd = open("f", O_RDWR | O_CREAT, 0644), ro, mem;

	CHECK(write(fd, "x", 1) == 1);
	try("both", fd);
	ro = open("f", O_RDONLY);
	try("reading", ro);
	mem = memfd_create("m", 0);
	CHECK(write(mem, "y", 1) == 1);
	try("memfd", mem);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", mem);
	try("memfd for reading", open(path, O_RDONLY));
	try("private", open("f", O_RDONLY));
	unlink("f");
	return 0;
}
