/*
 * /proc/self/maps shows each mapping with its range and permissions, in order, without overlap;
 * changes show at once.
 */
#include "guest.h"
#include <sys/mman.h>

static const char *perms_of(const void *p)
{
	static char perms[5];
	unsigned long lo, hi, want = (unsigned long)p, last = 0;
	FILE *f = fopen("/proc/self/maps", "r");
	char line[512];
	const char *found = "none";

	while (f && fgets(line, sizeof(line), f)) {
		char pr[5];
		if (sscanf(line, "%lx-%lx %4s", &lo, &hi, pr) != 3 || lo < last || hi <= lo)
			printf("bad line\n");
		last = hi;
		if (want >= lo && want < hi)
			found = strcpy(perms, pr);
	}
	if (f)
		fclose(f);
	return found;
}

int main(void)
{
	static int data = 1;
	int local = 0;
	char *p = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *s = mmap(NULL, 4096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	printf("private %s\n", perms_of(p));
	printf("shared %s\n", perms_of(s));
	mprotect(p + 4096, 4096, PROT_NONE);
	printf("three pages %s", perms_of(p));
	printf(" %s", perms_of(p + 4096));
	printf(" %s\n", perms_of(p + 8192));
	munmap(p + 4096, 4096);
	printf("hole %s\n", perms_of(p + 4096));
	printf("code %s\n", perms_of((void *)main));
	printf("data %s\n", perms_of(&data));
	printf("stack %s\n", perms_of(&local));
	printf("libc code %s\n", perms_of((void *)printf));
	printf("null %s\n", perms_of(NULL));
	return 0;
}
