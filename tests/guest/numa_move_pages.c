/*
 * move_pages and migrate_pages on the one node that every machine has: asking, staying, and what is
 * refused.
 */
#include "guest.h"
#include <linux/mempolicy.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#define N 600

int main(void)
{
	char *mem = mmap(NULL, N * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	static void *pages[N];
	static int nodes[N], status[N];
	unsigned long one = 1, none = 0;
	int zeros = 0;

	CHECK(mem != MAP_FAILED);
	memset(mem, 1, N * 4096);
	for (int i = 0; i < N; i++) {
		pages[i] = mem + i * 4096;
		status[i] = 77;
	}
	SHOW(syscall(SYS_move_pages, 0, N, pages, NULL, status, 0));
	for (int i = 0; i < N; i++)
		zeros += status[i] == 0;
	printf("%d of %d on node 0\n", zeros, N);
	status[5] = 77;
	SHOW(syscall(SYS_move_pages, getpid(), N, pages, nodes, status, MPOL_MF_MOVE));
	printf("status %d\n", status[5]);
	nodes[1] = 1000;
	SHOW(syscall(SYS_move_pages, 0, 4, pages, nodes, status, MPOL_MF_MOVE));
	nodes[1] = -1;
	SHOW(syscall(SYS_move_pages, 0, 4, pages, nodes, status, MPOL_MF_MOVE));
	pages[1] = (void *)0x1000;
	SHOW(syscall(SYS_move_pages, 0, 3, pages, NULL, status, 0));
	printf("not mapped: %d\n", status[1]);
	SHOW(syscall(SYS_move_pages, 0, 0, NULL, NULL, NULL, 0));
	SHOW(syscall(SYS_move_pages, 0, 3, NULL, NULL, status, 0));
	SHOW(syscall(SYS_move_pages, 0, 3, pages, NULL, NULL, 0));
	SHOW(syscall(SYS_move_pages, 0, 3, pages, NULL, status, 64));
	SHOW(syscall(SYS_move_pages, 4000000, 3, pages, NULL, status, 0));
	SHOW(syscall(SYS_migrate_pages, 0, 8, &one, &one));
	SHOW(syscall(SYS_migrate_pages, 0, 8, &one, &none));
	SHOW(syscall(SYS_migrate_pages, 0, 8, (void *)8, &one));
	SHOW(syscall(SYS_migrate_pages, 4000000, 8, &one, &one));
	return 0;
}
