/*
 * RLIMIT_AS makes mmap, mremap and brk fail with ENOMEM; RLIMIT_DATA stops private writable memory.
 */
#include "guest.h"
#include <sys/mman.h>
#include <sys/resource.h>

static void *map(size_t n, int prot, int flags)
{
	return mmap(NULL, n, prot, flags | MAP_ANONYMOUS, -1, 0);
}

static void address_space(void)
{
	struct rlimit lim = { .rlim_cur = 256 << 20, .rlim_max = 256 << 20 };

	SHOW(setrlimit(RLIMIT_AS, &lim));
	CHECK(map(64 << 20, PROT_READ, MAP_PRIVATE) != MAP_FAILED);
	void *p = map(512 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE);
	printf("512 MB: %s\n", p == MAP_FAILED ? ename(errno) : "mapped");
	p = map(512 << 20, PROT_NONE, MAP_PRIVATE | MAP_NORESERVE);
	printf("512 MB of nothing: %s\n", p == MAP_FAILED ? ename(errno) : "mapped");
	p = map(1 << 20, PROT_READ, MAP_PRIVATE);
	void *q = mremap(p, 1 << 20, 512 << 20, MREMAP_MAYMOVE);
	printf("mremap: %s\n", q == MAP_FAILED ? ename(errno) : "mapped");
	q = sbrk(512 << 20);
	printf("sbrk: %s\n", q == (void *)-1 ? ename(errno) : "grown");
	CHECK(malloc(512 << 20) == NULL);
}

static void data(void)
{
	struct rlimit lim = { .rlim_cur = 64 << 20, .rlim_max = 64 << 20 };

	SHOW(setrlimit(RLIMIT_DATA, &lim));
	void *p = map(128 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE);
	printf("private writable: %s\n", p == MAP_FAILED ? ename(errno) : "mapped");
	p = map(128 << 20, PROT_READ, MAP_PRIVATE);
	printf("private read-only: %s\n", p == MAP_FAILED ? ename(errno) : "mapped");
	p = map(128 << 20, PROT_READ | PROT_WRITE, MAP_SHARED);
	printf("shared: %s\n", p == MAP_FAILED ? ename(errno) : "mapped");
	p = sbrk(128 << 20);
	printf("sbrk: %s\n", p == (void *)-1 ? ename(errno) : "grown");
}

int main(void)
{
	signal(SIGCHLD, SIG_DFL);
	show_status("address space", in_child(address_space));
	show_status("data", in_child(data));
	return 0;
}
