/*
 * Anonymous memory is zero, page aligned, private or shared across fork; any descriptor given with
 * it is ignored.
 */
#include "guest.h"
#include <sys/mman.h>

int main(void)
{
	size_t n = 64 * 4096;
	unsigned char *p =
		mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int bad = 0, fd = open("/dev/null", O_RDONLY);

	signal(SIGCHLD, SIG_DFL);
	CHECK(p != MAP_FAILED && ((uintptr_t)p & 4095) == 0);
	for (size_t i = 0; i < n; i++)
		bad += p[i] != 0;
	printf("not zero %d\n", bad);
	char *q = mmap(NULL, 100, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, fd, 0);
	CHECK(q != MAP_FAILED);
	/* The whole page is there. */
	q[4095] = 9;
	char *r = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, 999, 0);
	CHECK(r != MAP_FAILED);
	char *s =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE | MAP_NORESERVE | MAP_STACK, -1, 0);
	CHECK(s != MAP_FAILED && s[77] == 0);
	p[0] = 1;
	pid_t pid = xfork();
	if (pid == 0) {
		p[0] = 2;
		q[0] = 3;
		_exit(q[4095]);
	}
	show_status("child", xwait(pid));
	printf("private %d, shared %d\n", p[0], q[0]);
	SHOW(munmap(p, n));
	SHOW(munmap(p, n));
	char *z =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, open("/dev/zero", O_RDWR), 0);
	CHECK(z != MAP_FAILED && z[5] == 0);
	z[5] = 1;
	return 0;
}
