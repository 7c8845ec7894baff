/*
 * /proc/self/maps: the program's own text, its stack, a file's mapping with offset and flags;
 * sorted, without overlap.
 */
#include "guest.h"
#include <sys/mman.h>

/* Describes the line that holds addr; returns false if there is none. */
static bool describe(const char *what, const void *addr)
{
	char line[4400], perms[8], path[4200];
	unsigned long from, to, off, ino;
	FILE *f = fopen("/proc/self/maps", "r");
	while (f && fgets(line, sizeof(line), f)) {
		path[0] = '\0';
		if (sscanf(line, "%lx-%lx %7s %lx %*x:%*x %lu %4199[^\n]", &from, &to, perms, &off,
			   &ino, path) < 5) {
			printf("strange line\n");
			continue;
		}
		if ((unsigned long)addr < from || (unsigned long)addr >= to)
			continue;
		const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
		printf("%s: %s %s%s\n", what, perms, ino ? "file " : "", base);
		if (strstr(what, "file"))
			printf("  offset %#lx length %#lx\n", off, to - from);
		fclose(f);
		return true;
	}
	if (f)
		fclose(f);
	printf("%s: not mapped\n", what);
	return false;
}

int main(void)
{
	long page = sysconf(_SC_PAGESIZE);
	int local = 0;
	static int data = 1;
	describe("text", (void *)(uintptr_t)main);
	describe("data", &data);
	describe("stack", &local);
	put_file("mapped", "x");
	int fd = open("mapped", O_RDWR);
	ftruncate(fd, 4 * page);
	char *a = mmap(NULL, 2 * page, PROT_READ, MAP_SHARED, fd, page);
	char *b = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	describe("shared file", a);
	describe("private file", b);
	describe("data", b + 10);
	mprotect(a, page, PROT_NONE);
	describe("first page of the file", a);
	describe("second page of the file", a + page);
	unlink("mapped");
	describe("unlinked file", a);
	munmap(a, 2 * page);
	CHECK(!describe("unmapped", a));
	char *anon = mmap(NULL, page, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	describe("anonymous", anon);

	char line[4400];
	unsigned long from, to, last = 0;
	int unsorted = 0, libc = 0, lines = 0;
	FILE *f = fopen("/proc/self/maps", "r");
	while (fgets(line, sizeof(line), f)) {
		lines++;
		sscanf(line, "%lx-%lx", &from, &to);
		unsorted += from < last || to <= from;
		last = to;
		libc += strstr(line, "/libc") != NULL;
	}
	SHOW(unsorted);
	CHECK(libc > 0 && lines > 10);
	return 0;
}
