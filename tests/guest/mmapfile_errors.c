/*
 * What mmap of a file refuses: access the descriptor has not, odd offsets, no length, directories,
 * pipes.
 */
#include "guest.h"
#include <sys/mman.h>

static long map(size_t len, int prot, int flags, int fd, off_t off)
{
	void *m = mmap(NULL, len, prot, flags, fd, off);
	if (m == MAP_FAILED)
		return -1;
	munmap(m, len);
	return 0;
}

int main(void)
{
	int p[2];
	put_file("f", "0123456789");
	int rd = open("f", O_RDONLY), wr = open("f", O_WRONLY), rw = open("f", O_RDWR);
	SHOW(map(4096, PROT_READ, MAP_SHARED, rd, 0));
	SHOW(map(4096, PROT_READ | PROT_WRITE, MAP_SHARED, rd, 0));
	SHOW(map(4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, rd, 0));
	SHOW(map(4096, PROT_READ, MAP_SHARED, wr, 0));
	SHOW(map(4096, PROT_WRITE, MAP_SHARED, wr, 0));
	SHOW(map(4096, PROT_READ, MAP_PRIVATE, wr, 0));
	SHOW(map(4096, PROT_READ, MAP_SHARED, rw, 100));
	SHOW(map(0, PROT_READ, MAP_SHARED, rw, 0));
	SHOW(map(100, PROT_READ, MAP_SHARED, rw, 0));
	SHOW(map(4096, PROT_READ, MAP_SHARED, rw, 1 << 20));
	SHOW(map(4096, PROT_READ, MAP_SHARED, rw, -4096));
	SHOW(map(4096, PROT_READ, 0, rw, 0));
	SHOW(map(4096, PROT_READ, MAP_SHARED, -1, 0));
	SHOW(map(4096, PROT_READ, MAP_SHARED, 9999, 0));
	SHOW(map(4096, PROT_READ, MAP_PRIVATE, open(".", O_RDONLY), 0));
	SHOW(pipe(p));
	SHOW(map(4096, PROT_READ, MAP_PRIVATE, p[0], 0));
	SHOW(map((size_t)1 << 60, PROT_READ, MAP_PRIVATE, rd, 0));
	SHOW(map(4096, PROT_READ, MAP_SHARED, open("f", O_PATH), 0));
	SHOW(map(4096, PROT_READ, MAP_SHARED_VALIDATE | 0x200000, rw, 0));
	SHOW(map(4096, PROT_READ, MAP_SHARED_VALIDATE, rw, 0));
	SHOW(map(4096, PROT_NONE, MAP_SHARED, rd, 0));
	SHOW(map(4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, rd, 0));
	unlink("f");
	return 0;
}
