/* What mmap and munmap refuse. */
#include "guest.h"
#include <sys/mman.h>
#include <sys/syscall.h>

static int map(void *at, size_t n, int prot, int flags, int fd, off_t off)
{
	void *p = mmap(at, n, prot, flags, fd, off);

	return p == MAP_FAILED ? -1 : 0;
}

int main(void)
{
	int anon = MAP_PRIVATE | MAP_ANONYMOUS, p[2];
	char *page = mmap(NULL, 8192, PROT_READ, anon, -1, 0);
	int wo = open("f", O_WRONLY | O_CREAT, 0600), ro = open("f", O_RDONLY);

	(void)!pipe(p);
	SHOW(map(NULL, 0, PROT_READ, anon, -1, 0));
	SHOW(map(NULL, 4096, PROT_READ, MAP_ANONYMOUS, -1, 0));
	SHOW(map(NULL, 4096, PROT_READ, anon | MAP_SHARED, -1, 0));
	SHOW(map(NULL, 1ul << 60, PROT_READ, anon, -1, 0));
	SHOW(map(NULL, -4096ul, PROT_READ, anon, -1, 0));
	SHOW(map(NULL, -1ul, PROT_READ, anon, -1, 0));
	SHOW(map((void *)(1ul << 63), 4096, PROT_READ, anon | MAP_FIXED, -1, 0));
	SHOW(map((void *)0x7ffffffff000, 8192, PROT_READ, anon | MAP_FIXED, -1, 0));
	SHOW(map(NULL, 4096, PROT_READ, MAP_PRIVATE, -1, 0));
	SHOW(map(NULL, 4096, PROT_READ, MAP_PRIVATE, 999, 0));
	SHOW(map(NULL, 4096, PROT_READ, MAP_PRIVATE, ro, 1));
	SHOW(map(NULL, 4096, PROT_READ, MAP_PRIVATE, wo, 0));
	SHOW(map(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, ro, 0));
	SHOW(map(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, ro, 0));
	SHOW(map(NULL, 4096, PROT_READ, MAP_PRIVATE, p[0], 0));
	SHOW(map(NULL, 4096, PROT_READ, MAP_PRIVATE, open(".", O_RDONLY), 0));
	SHOW(munmap(page + 1, 4096));
	SHOW(munmap(page, 0));
	SHOW(munmap((void *)(1ul << 63), 4096));
	SHOW(munmap(page, 1));
	CHECK(page[4096] == 0);
	unlink("f");
	return 0;
}
