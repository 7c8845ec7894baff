/* A bad buffer in a call is EFAULT, not a signal; a partly good one gives what could be done. */
#include "guest.h"
#include <poll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>

static volatile int hits;

static void handler(int sig)
{
	(void)sig;
	hits++;
}

int main(void)
{
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *volatile bad = (char *)8;
	int p[2];

	signal(SIGSEGV, handler);
	mprotect(page + 4096, 4096, PROT_NONE);
	(void)!pipe(p);
	SHOW(write(p[1], bad, 1));
	SHOW(write(p[1], page + 4096, 1));
	SHOW(write(p[1], "abcdef", 6));
	SHOW(read(p[0], bad, 6));
	SHOW(read(p[0], page, 6));
	SHOW(stat(bad, (struct stat *)page));
	SHOW(syscall(SYS_stat, "/", bad));
	SHOW(uname((struct utsname *)bad));
	SHOW(pipe((int *)bad));
	SHOW(poll((struct pollfd *)bad, 1, 0));
	SHOW(syscall(SYS_getcwd, bad, 100));
	SHOW(syscall(SYS_clock_gettime, 0, bad));
	SHOW(open(page + 4096, O_RDONLY));
	/* A string may end just before the bad page, but not run into it. */
	strcpy(page + 4096 - 2, "/");
	SHOWOK(open(page + 4096 - 2, O_RDONLY));
	page[4095] = 'x';
	SHOW(open(page + 4096 - 2, O_RDONLY));
	printf("signals %d\n", hits);
	return 0;
}
