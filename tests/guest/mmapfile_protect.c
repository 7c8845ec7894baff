/*
 * mprotect of file mappings: a shared one cannot become writable beyond its descriptor; msync and
 * munmap ranges.
 */
#include "guest.h"
#include <setjmp.h>
#include <sys/mman.h>

static sigjmp_buf env;

static void on_segv(int sig)
{
	siglongjmp(env, sig);
}

static const char *store(volatile char *at)
{
	int sig = sigsetjmp(env, 1);
	if (sig)
		return signame(sig);
	*at = 'S';
	return "ok";
}

int main(void)
{
	long page = sysconf(_SC_PAGESIZE);
	struct sigaction sa = { .sa_handler = on_segv };
	sigaction(SIGSEGV, &sa, NULL);
	put_file("f", "0123456789");
	int rd = open("f", O_RDONLY), rw = open("f", O_RDWR);
	ftruncate(rw, 4 * page);
	char *a = mmap(NULL, 4 * page, PROT_READ, MAP_SHARED, rd, 0);
	char *b = mmap(NULL, 4 * page, PROT_READ, MAP_SHARED, rw, 0);
	char *c = mmap(NULL, 4 * page, PROT_READ, MAP_PRIVATE, rd, 0);
	SHOW(mprotect(a, page, PROT_READ | PROT_WRITE));
	printf("store %s\n", store(a));
	SHOW(mprotect(b, page, PROT_READ | PROT_WRITE));
	printf("store %s\n", store(b));
	printf("store in the second page %s\n", store(b + page));
	SHOW(mprotect(c, 4 * page, PROT_READ | PROT_WRITE));
	printf("private store %s\n", store(c + 1));
	printf("%.4s\n", get_file("f"));
	SHOW(msync(b, page, MS_SYNC));
	SHOW(msync(b, page, MS_ASYNC));
	SHOW(msync(b, page, MS_INVALIDATE));
	SHOW(msync(b + 1, page, MS_SYNC));
	SHOW(msync(b, page, MS_SYNC | MS_ASYNC));
	SHOW(msync(b, page, 64));
	/* A hole in the middle: the parts around it stay, a range over it is ENOMEM. */
	SHOW(munmap(b + page, page));
	printf("%c\n", b[0]);
	SHOW(b[2 * page]);
	SHOW(msync(b, 3 * page, MS_SYNC));
	SHOW(mprotect(b, 3 * page, PROT_READ));
	SHOW(munmap(b, 4 * page));
	SHOW(munmap(b, 4 * page));
	unlink("f");
	return 0;
}
