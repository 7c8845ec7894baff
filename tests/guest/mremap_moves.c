/*
 * mremap: shrinks and grows in place, moves when allowed (ENOMEM when not), to a fixed place,
 * keeping contents.
 */
#include "guest.h"
#include <sys/mman.h>

#define RW (PROT_READ | PROT_WRITE)
#define ANON (MAP_PRIVATE | MAP_ANONYMOUS)

static int fails(void *p)
{
	if (p == MAP_FAILED)
		return -1;
	return 0;
}

int main(void)
{
	char *p = mmap(NULL, 8 * 4096, RW, ANON, -1, 0);

	strcpy(p, "first");
	strcpy(p + 4096, "second");
	/* Page 4 is taken, so the first four cannot grow in place. */
	CHECK(mremap(p, 8 * 4096, 4 * 4096, 0) == p);
	CHECK(mmap(p + 4 * 4096, 4096, PROT_READ, ANON | MAP_FIXED, -1, 0) == p + 4 * 4096);
	SHOW(fails(mremap(p, 4 * 4096, 16 * 4096, 0)));
	char *q = mremap(p, 4 * 4096, 16 * 4096, MREMAP_MAYMOVE);
	CHECK(q != MAP_FAILED && q != p);
	printf("%s %s %d\n", q, q + 4096, q[15 * 4096]);
	SHOW(fails(mremap(p, 4096, 8192, MREMAP_MAYMOVE)));
	char *to = mmap(NULL, 32 * 4096, PROT_NONE, ANON, -1, 0);
	CHECK(mremap(q, 16 * 4096, 16 * 4096, MREMAP_MAYMOVE | MREMAP_FIXED, to + 4096) ==
	      to + 4096);
	printf("%s\n", to + 4096);
	/* The old place stays with MREMAP_DONTUNMAP, emptied. */
	char *r = mremap(to + 4096, 16 * 4096, 16 * 4096, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, NULL);
	CHECK(r != MAP_FAILED && r != to + 4096);
	printf("%s, old place %d\n", r, to[4096]);
	SHOW(fails(mremap(r + 1, 4096, 8192, MREMAP_MAYMOVE)));
	SHOW(fails(mremap(r, 4096, 0, MREMAP_MAYMOVE)));
	SHOW(fails(mremap(r, 4096, 4096, 0x100)));
	SHOW(fails(mremap(r, 8192, 8192, MREMAP_FIXED, to)));
	SHOW(fails(mremap(r, 8192, 8192, MREMAP_FIXED | MREMAP_MAYMOVE, r + 4096)));
	/* A shared mapping can be had twice by an old size of 0. */
	char *s = mmap(NULL, 4096, RW, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	char *twin = mremap(s, 0, 4096, MREMAP_MAYMOVE);
	strcpy(s, "both");
	printf("twin %s\n", twin == MAP_FAILED ? ename(errno) : twin);
	/* Big: 64 MB grown from 1 MB, contents right. */
	char *b = mmap(NULL, 1 << 20, RW, ANON, -1, 0);
	memset(b, 7, 1 << 20);
	b = mremap(b, 1 << 20, 64 << 20, MREMAP_MAYMOVE);
	printf("%d %d\n", b[(1 << 20) - 1], b[(64 << 20) - 1]);
	return 0;
}
