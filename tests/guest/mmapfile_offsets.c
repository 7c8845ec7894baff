/*
 * Mappings at offsets in a file of many pages, out of order, next to each other and far into a
 * sparse file.
 */
#include "guest.h"
#include <sys/mman.h>

enum { PAGES = 16 };

int main(void)
{
	long page = sysconf(_SC_PAGESIZE);
	char buf[4096];
	int fd = open("f", O_RDWR | O_CREAT, 0644);
	for (int i = 0; i < PAGES; i++) {
		memset(buf, 'a' + i, sizeof(buf));
		pwrite(fd, buf, sizeof(buf), i * page);
	}
	char *all = mmap(NULL, PAGES * page, PROT_READ, MAP_SHARED, fd, 0);
	for (int i = 0; i < PAGES; i++)
		putchar(all[i * page + 123]);
	putchar('\n');
	/* The pages in reverse, each with its own mmap over a reserved range. */
	char *rev = mmap(NULL, PAGES * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < PAGES; i++)
		mmap(rev + i * page, page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
		     (PAGES - 1 - i) * page);
	for (int i = 0; i < PAGES; i++)
		putchar(rev[i * page + 4000]);
	putchar('\n');
	rev[0] = 'X';
	printf("%c %c\n", all[(PAGES - 1) * page], all[0]);
	CHECK(mmap(all, page, PROT_READ, MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 0) == MAP_FAILED &&
	      errno == EEXIST);
	off_t far = 5ll << 30;
	SHOW(pwrite(fd, "far away", 8, far));
	char *m = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, far);
	printf("%s\n", m);
	m[0] = 'F';
	SHOW(pread(fd, buf, 8, far));
	printf("%.8s\n", buf);
	CHECK(mmap(NULL, page, PROT_READ, MAP_SHARED, fd, 1ll << 30) != MAP_FAILED);
	unlink("f");
	return 0;
}
