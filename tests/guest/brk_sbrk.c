/*
 * brk moves the end of the heap: new memory is zero, given back it faults, a wrong value leaves it
 * unchanged.
 */
#include "guest.h"
#include <setjmp.h>
#include <sys/syscall.h>

static sigjmp_buf env;

static void handler(int sig)
{
	siglongjmp(env, sig);
}

int main(void)
{
	sigprocmask(SIG_SETMASK, &(sigset_t){ 0 }, NULL);
	signal(SIGCHLD, SIG_DFL);
	signal(SIGSEGV, handler);
	/*
	 * The first line makes stdio take its buffer from the heap: after it libc leaves the end
	 * alone.
	 */
	printf("start\n");
	char *start = (char *)syscall(SYS_brk, 0);
	char *base = (char *)(((uintptr_t)start + 4095) & ~4095ul);
	int bad = 0;

	CHECK((char *)syscall(SYS_brk, base + 100 * 4096) == base + 100 * 4096);
	for (int i = 0; i < 100 * 4096; i++)
		bad += base[i] != 0;
	printf("not zero %d\n", bad);
	memset(base, 'x', 100 * 4096);
	CHECK((char *)syscall(SYS_brk, 0) == base + 100 * 4096);
	/* Not a page boundary: taken as it is. */
	CHECK((char *)syscall(SYS_brk, base + 5000) == base + 5000);
	CHECK(base[8191] == 'x');
	if (sigsetjmp(env, 1) == 0) {
		base[8192] = 1;
		printf("no fault\n");
	} else {
		printf("fault beyond the end\n");
	}
	CHECK((char *)syscall(SYS_brk, base + 3 * 4096) == base + 3 * 4096);
	printf("given again: %d\n", base[8192]);
	/* Refused: below the start, absurdly high. The result is the end as it was. */
	CHECK((char *)syscall(SYS_brk, 4096) == base + 3 * 4096);
	CHECK((char *)syscall(SYS_brk, 1ul << 62) == base + 3 * 4096);
	pid_t pid = xfork();
	if (pid == 0) {
		syscall(SYS_brk, base + 50 * 4096);
		_exit(base[49 * 4096] == 0 && base[0] == 'x' ? 1 : 2);
	}
	show_status("child", xwait(pid));
	CHECK((char *)syscall(SYS_brk, 0) == base + 3 * 4096);
	return 0;
}
