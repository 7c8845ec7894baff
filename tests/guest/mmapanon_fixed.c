/*
 * MAP_FIXED replaces what is there, MAP_FIXED_NOREPLACE refuses (EEXIST), a plain hint is followed
 * when free.
 */
#include "guest.h"
#include <sys/mman.h>

#define ANON (MAP_PRIVATE | MAP_ANONYMOUS)

int main(void)
{
	char *p = mmap(NULL, 5 * 4096, PROT_READ | PROT_WRITE, ANON, -1, 0);

	memset(p, 'a', 5 * 4096);
	CHECK(mmap(p + 4096, 4096, PROT_READ, ANON | MAP_FIXED, -1, 0) == p + 4096);
	printf("%d %d %d\n", p[4095], p[4096], p[8192]);
	errno = 0;
	CHECK(mmap(p + 4096, 4096, PROT_READ, ANON | MAP_FIXED_NOREPLACE, -1, 0) == MAP_FAILED &&
	      errno == EEXIST);
	munmap(p + 4096, 4096);
	CHECK(mmap(p + 4096, 4096, PROT_READ, ANON | MAP_FIXED_NOREPLACE, -1, 0) == p + 4096);
	munmap(p + 4096, 4096);
	CHECK(mmap(p + 4096, 4096, PROT_READ, ANON, -1, 0) == p + 4096);
	/* A hint on used memory gives another place. */
	char *q = mmap(p, 4096, PROT_READ, ANON, -1, 0);
	CHECK(q != MAP_FAILED && q != p && p[0] == 'a');
	/* An unaligned hint is rounded, unaligned MAP_FIXED is an error. */
	q = mmap(p + 5, 4096, PROT_READ, ANON, -1, 0);
	CHECK(q != MAP_FAILED && ((uintptr_t)q & 4095) == 0);
	errno = 0;
	CHECK(mmap(p + 5, 4096, PROT_READ, ANON | MAP_FIXED, -1, 0) == MAP_FAILED &&
	      errno == EINVAL);
	char *high = (char *)0x500000000000, *low = (char *)0x200000000;
	CHECK(mmap(high, 4096, PROT_READ | PROT_WRITE, ANON | MAP_FIXED_NOREPLACE, -1, 0) == high);
	CHECK(mmap(low, 4096, PROT_READ | PROT_WRITE, ANON | MAP_FIXED_NOREPLACE, -1, 0) == low);
	high[0] = low[0] = 1;
	/* A hint that no address space has is no error. */
	CHECK(mmap((void *)(1ul << 60), 4096, PROT_READ, ANON, -1, 0) != MAP_FAILED);
	q = mmap(NULL, 4096, PROT_READ, ANON | MAP_32BIT, -1, 0);
	CHECK(q != MAP_FAILED && (uintptr_t)q < 0x80000000);
	return 0;
}
