/* MADV_DONTNEED zeroes private memory; DONTFORK and WIPEONFORK change what a child gets; errors. */
#include "guest.h"
#include <setjmp.h>
#include <sys/mman.h>

static sigjmp_buf env;

static void handler(int sig)
{
	siglongjmp(env, sig);
}

int main(void)
{
	char *p = mmap(NULL, 4 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *s = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	sigprocmask(SIG_SETMASK, &(sigset_t){ 0 }, NULL);
	signal(SIGCHLD, SIG_DFL);
	memset(p, 'x', 4 * 4096);
	s[0] = 'y';
	SHOW(madvise(p + 4096, 4096, MADV_DONTNEED));
	SHOW(madvise(s, 4096, MADV_DONTNEED));
	printf("%d %d %d, shared %d\n", p[0], p[4096], p[8192], s[0]);
	SHOW(madvise(p, 4096, MADV_WILLNEED));
	SHOW(madvise(p, 4096, MADV_SEQUENTIAL));
	SHOW(madvise(p, 4096, MADV_NORMAL));
	SHOW(madvise(p, 4096, MADV_FREE));
	p[0] = 'z';
	printf("written after MADV_FREE %c\n", p[0]);
	SHOW(madvise(p + 8192, 4096, MADV_DONTFORK));
	SHOW(madvise(p + 3 * 4096, 4096, MADV_WIPEONFORK));
	pid_t pid = xfork();
	if (pid == 0) {
		signal(SIGSEGV, handler);
		printf("child: first %c, wiped %d\n", p[0], p[3 * 4096]);
		if (sigsetjmp(env, 1) == 0)
			printf("child: there %d\n", *(volatile char *)(p + 8192));
		else
			printf("child: not there\n");
		fflush(stdout);
		_exit(0);
	}
	show_status("child", xwait(pid));
	printf("parent: %c %c\n", p[8192], p[3 * 4096]);
	SHOW(madvise(p + 1, 4096, MADV_DONTNEED));
	SHOW(madvise(p, 4096, 9999));
	SHOW(madvise(p, 0, MADV_DONTNEED));
	munmap(p + 4096, 4096);
	SHOW(madvise(p, 3 * 4096, MADV_DONTNEED));
	printf("around the hole %d %d\n", p[0], p[8192]);
	return 0;
}
