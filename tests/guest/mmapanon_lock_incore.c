/* mlock within the limit, mincore tells resident pages, errors for holes. */
#include "guest.h"
#include <sys/mman.h>
#include <sys/resource.h>

static void as_user(void)
{
	struct rlimit none = { 0 };
	char *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	drop_to_user();
	setrlimit(RLIMIT_MEMLOCK, &none);
	SHOW(mlock(p, 4096));
	SHOW(mlockall(MCL_CURRENT));
}

int main(void)
{
	unsigned char vec[4] = { 9, 9, 9, 9 };
	char *p = mmap(NULL, 4 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	signal(SIGCHLD, SIG_DFL);
	p[0] = p[2 * 4096] = 1;
	SHOW(mincore(p, 4 * 4096, vec));
	printf("resident %d %d %d %d\n", vec[0] & 1, vec[1] & 1, vec[2] & 1, vec[3] & 1);
	SHOW(mlock(p, 2 * 4096));
	mincore(p, 4 * 4096, vec);
	printf("resident %d %d %d %d\n", vec[0] & 1, vec[1] & 1, vec[2] & 1, vec[3] & 1);
	SHOW(munlock(p, 2 * 4096));
	munmap(p + 3 * 4096, 4096);
	SHOW(mincore(p, 4 * 4096, vec));
	SHOW(mincore(p + 1, 4096, vec));
	SHOW(mlock(p, 4 * 4096));
	SHOW(munlock(p, 4 * 4096));
	SHOW(mlockall(0x1000));
	SHOW(munlockall());
	show_status("without a limit to use", in_child(as_user));
	return 0;
}
